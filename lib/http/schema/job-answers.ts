import * as z from 'zod';
import { count, eventId, jobId, jobState, links, microsOrNull, nextCursor, time, timeOrNull } from './answer-fields.ts';
import { chosenEvents, eventType, metadata } from './job-fields.ts';
import { problem } from './problem.ts';

/* Jobs as the API shows them: what job-view.ts and job-outlook.ts make. */

const range = z.strictObject({ earliest: timeOrNull, latest: timeOrNull }).meta({ id: 'TimeRange' });

const jobFault = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    provider_request_id: z.string().nullable(),
    at: timeOrNull,
    failures_in_row: count,
  })
  .meta({ id: 'JobError' });

const usage = z
  .strictObject({
    status: z.string().nullable(),
    reserved_usd_micros: microsOrNull,
    captured_usd_micros: microsOrNull,
    refunded_usd_micros: microsOrNull,
    billable_usd_micros: microsOrNull,
  })
  .meta({ id: 'Usage' });

/** The form in lists. */
const jobSummaryAnswer = z
  .strictObject({
    id: jobId,
    state: jobState,
    account: z.string(),
    priority: z.int().min(0).max(9),
    metadata,
    batch: z.string().nullable(),
    created_at: timeOrNull,
    updated_at: timeOrNull,
    submitted_at: timeOrNull,
    finished_at: timeOrNull,
    deadline_at: timeOrNull,
    cancel_requested_at: timeOrNull,
    provider: z.strictObject({ name: z.string(), job_id: z.string().nullable(), status: z.string().nullable() }),
    error: jobFault.nullable(),
    usage: usage.nullable(),
    cost: z.strictObject({ estimated_usd_micros: microsOrNull, billed_usd_micros: microsOrNull }),
    links: links('self', 'list'),
  })
  .meta({ id: 'JobSummary' });

const jobWebhook = z
  .strictObject({ url: z.string(), endpoint_id: z.string(), events: chosenEvents.nullable() })
  .meta({ id: 'JobWebhook' });

const historyEntry = z.strictObject({ at: timeOrNull, state: jobState, reason: z.string().nullable() });

const jobEvent = z.strictObject({ id: eventId, type: eventType, at: timeOrNull });

/** With all that may be large. */
export const jobAnswer = jobSummaryAnswer
  .extend({
    input: z.looseObject({}),
    result: z.looseObject({}).nullable(),
    result_truncated: z.boolean(),
    webhook: jobWebhook.nullable(),
    events: z.array(jobEvent),
    history: z.array(historyEntry),
  })
  .meta({ id: 'Job' });

/** Why a job is not further than it is. */
const waitingFor = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('slot'), place: count, predicted_at: range.nullable() }),
    z.strictObject({ kind: z.literal('hold'), reason: z.string(), until: timeOrNull }),
    z.strictObject({ kind: z.literal('paused'), since: timeOrNull }),
    z.strictObject({
      kind: z.enum(['create_budget', 'read_budget', 'provider_hint', 'retry', 'overdue', 'lease']),
      until: timeOrNull,
    }),
    z.strictObject({ kind: z.literal('unknown') }),
  ])
  .meta({ id: 'WaitingFor' });

export const jobWithOutlookAnswer = jobAnswer
  .extend({ waiting_for: waitingFor.nullable(), predicted_completion: range.nullable() })
  .meta({ id: 'JobWithOutlook' });

export const jobListAnswer = z
  .strictObject({ jobs: z.array(jobSummaryAnswer), next_cursor: nextCursor })
  .meta({ id: 'JobList' });

const takenItem = z.strictObject({
  index: count,
  status: z.literal(202),
  replayed: z.boolean(),
  job: jobSummaryAnswer,
});
const refusedItem = z.strictObject({ index: count, status: z.int().min(400).max(599), problem });

/** What became of each item of a batch or an adoption. */
export const itemsAnswer = z
  .strictObject({
    items: z.array(z.union([takenItem, refusedItem])),
    accepted: count,
    replayed: count,
    refused: count,
  })
  .meta({ id: 'Items' });

export const batchAnswer = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    state: z.enum(['open', 'completed']),
    jobs: count,
    counts: z.partialRecord(jobState, count),
    created_at: time,
    completed_at: timeOrNull,
    links: links('self', 'jobs'),
  })
  .meta({ id: 'Batch' });
