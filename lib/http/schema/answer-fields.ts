import * as z from 'zod';
import { jobStates } from '../../job.ts';

/* What answers share. The schemas of answers are for the document and the tests: handlers do not load them. */

export const time = z.string().meta({ format: 'date-time' });
export const timeOrNull = time.nullable();
export const count = z.int().min(0);
export const microsOrNull = z.int().nullable();

export const jobId = z.string().regex(/^job_[a-z2-7]{32}$/);
export const batchId = z.string().regex(/^bat_[a-z2-7]{32}$/);
export const endpointId = z.string().regex(/^whe_[a-z2-7]{32}$/);
export const deliveryId = z.string().regex(/^dlv_[a-z2-7]{32}$/);
export const eventId = z.string().regex(/^evt_[a-z2-7]{32}$/);

export const jobState = z.enum(jobStates).meta({ id: 'JobState' });
export const nextCursor = z.string().nullable();

export function links<const Name extends string>(...names: Name[]) {
  return z.strictObject(Object.fromEntries(names.map((name) => [name, z.string()])) as Record<Name, z.ZodString>);
}
