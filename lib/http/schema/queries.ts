import * as z from 'zod';
import { jobStates } from '../../job.ts';
import { batchName } from './job-fields.ts';

/* Query parameters: texts on the wire. What is not a decimal number of few digits stays a text, and is refused as that. */

const limitMax = 100;
const waitMaxSeconds = 25;

function fromDecimal(text: unknown): unknown {
  return typeof text === 'string' && /^\d{1,4}$/.test(text) ? Number(text) : text;
}

const limitDefault = 50;
const limitRule = `must be a whole number from 1 to ${limitMax}`;
const limit = z
  .preprocess(fromDecimal, z.int(limitRule).min(1, limitRule).max(limitMax, limitRule))
  .default(limitDefault)
  .meta({ default: limitDefault });

/** `next_cursor` of the page before; what it holds is checked where it is read. */
const cursor = z.string().optional();

export const jobsQuery = z.object({
  state: z.enum(jobStates, `must be one of ${jobStates.join(', ')}`).optional(),
  batch: batchName.optional(),
  limit,
  cursor,
});

const waitRule = `must be a whole number of seconds from 0 to ${waitMaxSeconds}`;
export const jobQuery = z.object({
  wait: z
    .preprocess(fromDecimal, z.int(waitRule).min(0, waitRule).max(waitMaxSeconds, waitRule))
    .default(0)
    .meta({ default: 0 }),
});

const endpointIdRule = 'must be the id of an endpoint';
export const deliveriesQuery = z.object({
  state: z.literal('dead', 'must be dead, or left out').optional(),
  endpoint_id: z
    .string()
    .regex(/^whe_[a-z2-7]{32}$/, endpointIdRule)
    .optional(),
  limit,
  cursor,
});
