import * as z from 'zod';
import { eventTypes, type JobEventType } from '../../event.ts';
import { jobId, time } from './answer-fields.ts';
import { batchAnswer, jobAnswer } from './job-answers.ts';

/* The bodies of events: what is signed and sent to endpoints. */

const jobTypes = eventTypes.filter((type): type is JobEventType => type !== 'batch.completed');

/** The job as the API shows it, in the state that the event is about; null for what does not fit. */
const eventJob = jobAnswer.extend({ input: z.looseObject({}).nullable() }).meta({ id: 'EventJob' });

export const jobEventBody = z
  .strictObject({ type: z.enum(jobTypes as [JobEventType, ...JobEventType[]]), timestamp: time, data: eventJob })
  .meta({ id: 'JobEvent' });

/** The batch as the API shows it, and the ids of its jobs, if they all fit. */
const eventBatch = batchAnswer
  .extend({ job_ids: z.array(jobId).nullable(), job_ids_truncated: z.boolean() })
  .meta({ id: 'EventBatch' });

export const batchEventBody = z
  .strictObject({ type: z.literal('batch.completed'), timestamp: time, data: eventBatch })
  .meta({ id: 'BatchEvent' });
