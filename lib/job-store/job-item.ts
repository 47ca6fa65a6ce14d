import { pendingEvents } from '../event.ts';
import { batchIdFor } from '../identify.ts';
import { isActive, type Job, jobStates, priorityDefault, priorityMax } from '../job.ts';
import { isObject } from '../json.ts';
import { attributesOf, type Fields, fieldsOf, type Item, timeMaxMs } from './item-fields.ts';

/*
 * A job as a DynamoDB item and back. Attributes that this release does not know are left alone by updates, so that a newer
 * release's data survives a rollback.
 */

/** A terminal job is kept this long, then DynamoDB may delete it at any time; reads treat it as gone at once. */
export const retentionMs = 30 * 24 * 3_600_000;

export const shardCount = 8;

/** Active jobs are spread over this many index partitions, so that none of them runs hot. */
export function shardOf(id: string): number {
  return id.charCodeAt(id.length - 1) % shardCount;
}

/** After a deadline, or the moment at which a job was armed again: due.ts tries for 78 h, and the last wait may be an hour and a tenth. */
const lastReadAfterMaxMs = 80 * 3_600_000;

/** `rearmedAtMs` is as old as the write that noted it; what was written since may be by a clock that is this much behind. */
const rearmedAheadMaxMs = 3_600_000;

/** Written once, with the record. */
const fixedFields = {
  id: ['id', 'text'],
  owner: ['owner', 'text'],
  account: ['account', 'text'],
  provider: ['provider', 'text'],
  input: ['input', 'object'],
  fingerprint: ['fingerprint', 'text'],
  metadata: ['metadata', 'object'],
  priority: ['priority', 'number'],
  estimatedMicros: ['estimated_micros', 'number'],
  batch: ['batch', 'text'],
  webhookUrl: ['webhook_url', 'text'],
  webhookEvents: ['webhook_events', 'list'],
  adopted: ['adopted', 'flag'],
  createdAtMs: ['created_at_ms', 'number'],
  deadlineAtMs: ['deadline_at_ms', 'number'],
} as const satisfies Fields & Partial<Record<keyof Job, unknown>>;

/** Written again with every update. */
const movingFields = {
  state: ['state', 'text'],
  updatedAtMs: ['updated_at_ms', 'number'],
  submittedAtMs: ['submitted_at_ms', 'number'],
  finishedAtMs: ['finished_at_ms', 'number'],
  providerJobId: ['provider_job_id', 'text'],
  providerStatus: ['provider_status', 'text'],
  failuresInRow: ['failures_in_row', 'number'],
  missingReads: ['missing_reads', 'number'],
  missingSinceMs: ['missing_since_ms', 'number'],
  resultReads: ['result_reads', 'number'],
  notBeforeMs: ['not_before_ms', 'number'],
  rearmedAtMs: ['rearmed_at_ms', 'number'],
  suspectedAtMs: ['suspected_at_ms', 'number'],
  lastFault: ['last_fault', 'object'],
  result: ['result', 'object'],
  usage: ['usage', 'object'],
  cancelAskedAtMs: ['cancel_asked_at_ms', 'number'],
  cancelSentAtMs: ['cancel_sent_at_ms', 'number'],
  hookUrl: ['hook_url', 'text'],
  hook: ['hook', 'object'],
  events: ['events', 'list'],
  history: ['history', 'list'],
  revision: ['revision', 'number'],
} as const satisfies Fields & Partial<Record<keyof Job, unknown>>;

const fields = { ...fixedFields, ...movingFields } satisfies Fields & Record<keyof Job, unknown>;

/** The attributes that an update writes: `set` those with a value, `remove` those without. */
export function movingAttributes(job: Job): { set: Item; remove: string[] } {
  const { set, remove } = attributesOf(movingFields, job);
  // Also one that has ended, until its last event is on its way.
  if (isActive(job.state) || pendingEvents(job).length > 0) set.active = { S: String(shardOf(job.id)) };
  else remove.push('active');
  // Seconds, unlike every other time here: it is what DynamoDB's TTL reads. Only ended jobs have it.
  if (isActive(job.state)) remove.push('expires_at');
  else set.expires_at = { N: String(Math.floor(((job.finishedAtMs ?? job.updatedAtMs) + retentionMs) / 1000)) };
  return { set, remove };
}

export function toItem(job: Job): Item {
  const item: Item = { ...movingAttributes(job).set, ...attributesOf(fixedFields, job).set };
  // What the index of a batch's jobs is made of.
  if (job.batch !== undefined) item.batch_id = { S: batchIdFor(job.owner, job.batch) };
  return item;
}

/** True when the item's retention is over: it counts as deleted. Never while its job is active. `nowMs` is wall time. */
export function isExpired(item: Item, nowMs: number): boolean {
  if (isActive(item.state?.S as Job['state'])) return false;
  const expiresAtSec = Number(item.expires_at?.N ?? Number.NaN);
  return expiresAtSec * 1000 <= nowMs;
}

/** The job that an item holds, or why it can't be read: a field's name and what is wrong with it. */
export function fromItem(item: Item): { job: Job } | { broken: string } {
  const read = fieldsOf(fields, item);
  if ('broken' in read) return read;
  const job: Record<string, unknown> = { ...defaults, ...read.found };
  const missing = requiredFields.find((field) => job[field] === undefined);
  if (missing !== undefined) return { broken: `attribute ${fields[missing][0]} is missing` };
  if (!jobStates.includes(job.state as Job['state'])) return { broken: `state ${quoted(job.state)} is unknown` };
  const uncounted = counts.find((field) => job[field] !== undefined && !isCount(job[field]));
  if (uncounted !== undefined) return { broken: `attribute ${fields[uncounted][0]} is no count` };
  if (Number(job.priority) > priorityMax) return { broken: `attribute priority is above ${priorityMax}` };
  // Asked about it, Sume would not know the job, and it would be lost.
  if (job.provider !== 'sume') return { broken: `provider ${quoted(job.provider)} is unknown` };
  if (!(job.history as unknown[]).every(isTimed)) return { broken: 'attribute history has an entry without a time' };
  if (!(job.events as unknown[]).every(isEvent)) return { broken: 'attribute events has an entry that is no event' };
  if (job.lastFault !== undefined && !isTimed(job.lastFault)) return { broken: 'attribute last_fault has no time' };
  const sound = job as unknown as Job;
  // In seconds, say: by it the job's days would long be over.
  if (sound.deadlineAtMs < sound.createdAtMs) return { broken: 'attribute deadline_at_ms is before created_at_ms' };
  return { job: withoutEndlessWait(withoutLaterRearming(sound)) };
}

/** For a log line, which must not be as long as an item may be. */
function quoted(word: unknown): string {
  return `"${String(word).slice(0, 100)}"`;
}

/** A number of failures below 0 would make every wait after one of them 0. */
function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** The job, free of a moment of its rearming that had not come when it was last written: its seldom reads would never be over. */
function withoutLaterRearming(job: Job): Job {
  const { rearmedAtMs = 0, ...rest } = job;
  return rearmedAtMs > job.updatedAtMs + rearmedAheadMaxMs ? rest : job;
}

/** The job, free of a noted wait that is later than its last read can be: no provider has told that, and nobody would look at it again. */
function withoutEndlessWait(job: Job): Job {
  const { notBeforeMs = 0, ...rest } = job;
  const lastReadMs = Math.max(job.deadlineAtMs, job.rearmedAtMs ?? 0) + lastReadAfterMaxMs;
  return notBeforeMs > lastReadMs ? rest : job;
}

function isTimed(entry: unknown): boolean {
  return isObject(entry) && typeof entry.atMs === 'number' && Math.abs(entry.atMs) <= timeMaxMs;
}

function isEvent(entry: unknown): boolean {
  return isTimed(entry) && isObject(entry) && typeof entry.id === 'string' && typeof entry.type === 'string';
}

const requiredFields = ['id', 'owner', 'account', 'state', 'input', 'createdAtMs', 'deadlineAtMs', 'revision'] as const;

const counts = [
  'failuresInRow',
  'missingReads',
  'resultReads',
  'revision',
  'priority',
  'estimatedMicros',
] as const satisfies (keyof Job)[];

/** For fields that an item of an older release may lack. */
const defaults: Partial<Job> = {
  provider: 'sume',
  fingerprint: '',
  metadata: {},
  priority: priorityDefault,
  updatedAtMs: 0,
  failuresInRow: 0,
  missingReads: 0,
  resultReads: 0,
  events: [],
  history: [],
};
