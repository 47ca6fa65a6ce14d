import { type EventType, type JobEvent, withEvent } from './event.ts';
import type { JsonObject } from './json.ts';

/*
 * The life of a job. An arrow is the only way from one state to the next; what takes it is in decide.ts.
 *
 *   waiting ◀──▶ submitting ──▶ queued ◀──▶ processing ──▶ completed | failed | canceled | expired | lost
 *      │             │  │             └──────────┴──▶ overdue ──▶ any of these, late | given_up
 *      │             │  └──▶ processing | rejected | given_up
 *      └──▶ expired  └──▶ back to waiting when the provider turned the call away
 *
 * waiting     durable with us, not at the provider; expires if it is never sent by its deadline
 * submitting  a create call may have reached the provider; it is only ever repeated with the same idempotency key
 * overdue     our deadline passed; the render may still be running and billed, so it is read again, seldom
 * given_up    overdue for days without a verdict; the one end that can be taken back, by asking for the job again
 */
export const jobStates = [
  'waiting',
  'submitting',
  'queued',
  'processing',
  'overdue',
  'completed',
  'failed',
  'canceled',
  'expired',
  'rejected',
  'lost',
  'given_up',
] as const;
export type JobState = (typeof jobStates)[number];

const activeStates: ReadonlySet<JobState> = new Set(['waiting', 'submitting', 'queued', 'processing', 'overdue']);

/** An active job must be in a due set; every other one has ended and never changes its state again (unless it was given up). */
export function isActive(state: JobState): boolean {
  return activeStates.has(state);
}

/** True while the provider has not confirmed the job: its next call is a create. */
export function needsCreate({ state }: Pick<Job, 'state'>): boolean {
  return state === 'waiting' || state === 'submitting';
}

/** What went wrong, as far as it is safe and useful to show. */
export interface Fault {
  /** The provider's or our own short code, e.g. `insufficient_credits`, `timeout`. */
  code: string;
  /** For people; one line, at most 500 characters, never a secret. */
  message: string;
  /** The provider's own id of the call, for its support. */
  providerRequestId?: string;
  /** The call was a cancel: it is a read's turn, see step.ts. */
  ofCancel?: true;
}

/** Money as the provider reports it, in millionths of a US dollar. */
export interface Usage {
  /** The provider's word: `reserved`, `captured`, `refunded`. */
  status?: string;
  reservedMicros?: number;
  capturedMicros?: number;
  refundedMicros?: number;
  billableMicros?: number;
}

/** The provider's result document, bounded so that a record stays far under DynamoDB's 400 KB. */
export interface JobResult {
  /** Null only when `truncated`: it was too large to keep; read it from the provider. */
  value: JsonObject | null;
  truncated: boolean;
}

/** 0 to this, the highest first. */
export const priorityMax = 9;
export const priorityDefault = 5;

interface HistoryEntry {
  atMs: number;
  state: JobState;
  /** The provider's status word or a fault's code that led here. */
  reason?: string;
}

export const historyMax = 50;

/** One render, from acceptance to its end. All times are milliseconds since 1970. */
export interface Job {
  /** `job_` + 32 base32 characters; see identify.ts. */
  id: string;
  owner: string;
  account: string;
  provider: 'sume';
  state: JobState;
  /** The body sent to the provider as it is. */
  input: JsonObject;
  /** SHA-256 of the canonical request, hex: tells a repeat from a different job under the same key. */
  fingerprint: string;
  metadata: Record<string, string>;
  /** 0–9: among the jobs that wait for a slot, the highest go first. */
  priority: number;
  /** By the price list at acceptance, in millionths of a US dollar; absent where the price is not known. */
  estimatedMicros?: number;
  createdAtMs: number;
  updatedAtMs: number;
  /** When the provider first confirmed the job. */
  submittedAtMs?: number;
  finishedAtMs?: number;
  /** Never moved once set. */
  deadlineAtMs: number;
  providerJobId?: string;
  /** The provider's last status word, as it was. */
  providerStatus?: string;
  /** Calls in a row that failed for a reason which says nothing about the render. */
  failuresInRow: number;
  /** 404s in a row to a status read, and when the first came. */
  missingReads: number;
  missingSinceMs?: number;
  /** Reads in a row that said completed while the result was not there. */
  resultReads: number;
  /** Until when the provider asked not to be read, where that was long: see `unnotedWaitMs`. */
  notBeforeMs?: number;
  /** When it was last asked for again after it had been given up. */
  rearmedAtMs?: number;
  /** While it is worked as a suspect: see suspect.ts. */
  suspectedAtMs?: number;
  lastFault?: Fault & { atMs: number };
  result?: JobResult;
  usage?: Usage;
  /** The name of the owner's batch that it belongs to. */
  batch?: string;
  /** Where its events go, beside the owner's registered endpoints. Https, checked at acceptance. */
  webhookUrl?: string;
  /** Which of its events go there; absent: `usualEventTypes`. */
  webhookEvents?: EventType[];
  /** It was made elsewhere and taken over by its provider's id: it is never sent. */
  adopted?: true;
  /** When its owner asked for it to be canceled, while the provider may have it. */
  cancelAskedAtMs?: number;
  /** When the provider was told so: from then on only its reads say what came of it. */
  cancelSentAtMs?: number;
  /** Where the provider is asked to tell its end. Part of the create, and fixed before it: a create is only ever repeated as it was. */
  hookUrl?: string;
  /** The provider's own webhook of its end: its event id, and when it came. It decides nothing: the status read does. */
  hook?: { eventId: string; atMs: number };
  /** What is told of it, oldest first: at most one event for each state. */
  events: JobEvent[];
  /** Oldest first, at most `historyMax`. */
  history: HistoryEntry[];
  /** Grows by one with every write; every write is conditional on the one before. */
  revision: number;
}

/** A job as it stands right after acceptance. Times in ms; `deadlineAtMs` is absolute. */
export function acceptedJob(
  given: Pick<Job, 'id' | 'owner' | 'account' | 'input' | 'fingerprint' | 'metadata' | 'deadlineAtMs'> &
    Partial<Pick<Job, 'priority' | 'estimatedMicros' | 'batch' | 'webhookUrl' | 'webhookEvents'>>,
  nowMs: number,
): Job {
  return {
    priority: priorityDefault,
    ...given,
    provider: 'sume',
    state: 'waiting',
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    failuresInRow: 0,
    missingReads: 0,
    resultReads: 0,
    events: [],
    history: [{ atMs: nowMs, state: 'waiting' }],
    revision: 1,
  };
}

/** The job in its next state: history, times and the event follow, the revision is left to the store. */
export function enter(job: Job, state: JobState, nowMs: number, reason?: string): Job {
  const entry: HistoryEntry = { atMs: nowMs, state, ...(reason === undefined ? {} : { reason }) };
  return {
    ...job,
    state,
    updatedAtMs: nowMs,
    history: [...job.history, entry].slice(-historyMax),
    events: withEvent(job, state, nowMs),
    ...(isActive(state) ? {} : { finishedAtMs: nowMs }),
  };
}

/** A job that was given up, as it is once it has been asked for again: overdue, its seldom reads counted from now. */
export function rearmed(job: Job, nowMs: number): Job {
  const { finishedAtMs: _, missingSinceMs: __, ...rest } = job;
  const counts = { failuresInRow: 0, missingReads: 0, resultReads: 0 };
  return enter({ ...rest, ...counts, rearmedAtMs: nowMs }, 'overdue', nowMs, 'rearmed');
}
