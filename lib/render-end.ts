import type { Job } from './job.ts';
import { binOf, noBins, type RenderSamples } from './render-times.ts';

/*
 * What the end of one render tells of how long renders take, and when the next one's first read is due. Pure.
 *
 * Only jobs whose first read was not delayed tell how early renders end. Of the delayed ones those that end before their
 * first read are never seen running, so that without them every delay would make the next one longer. That is why one
 * job in eight, the control group, is never delayed; all others are, once there are delays, watched for having been late.
 */

/** A hint for longer than this is not delayed further: the provider knows something. */
export const firstHintMaxMs = 31_000;
/** A first read and its answer come so much after their time at most, or are not known for one. */
const readTakesMs = 3_000;

/** A job whose end the provider has told. Ages in ms since its create was sent. */
export interface RenderEnd {
  isControl: boolean;
  isCompleted: boolean;
  foundMs: number;
  /** When it was last seen running by this run of the drain; null when it was not. */
  seenMs: number | null;
  /** What its record says of earlier runs: that a read met it running, that none met it in work, or neither. */
  record: 'seen' | 'unseen' | 'unclear';
}

/** One job in eight, by the last of its id's 32 possible characters. */
export function isControl(jobId: string): boolean {
  return 'aiqy'.includes(jobId.at(-1) ?? '');
}

/** When the provider may have had the job first, ms since 1970: its confirmation can be that of a repeat, long after. */
export function sentAtMs(job: Job): number {
  const confirmedMs = job.submittedAtMs ?? job.createdAtMs;
  const sent = job.history.findLast(({ state, atMs }) => state === 'submitting' && atMs <= confirmedMs);
  return sent?.atMs ?? confirmedMs;
}

/**
 * When a job is to be read first that was just accepted and is due at `dueAtMs`: then, or later, at the age `firstMs`. Never
 * past its deadline. Times in ms since 1970.
 */
export function firstReadAtMs(job: Job, dueAtMs: number, nowMs: number, firstMs: number): number {
  const delayedMs = Math.min(sentAtMs(job) + firstMs, job.deadlineAtMs);
  return mayBeDelayed(job, dueAtMs, nowMs) ? Math.max(dueAtMs, delayedMs) : dueAtMs;
}

/** Whether the first read of the job can be later than `dueAtMs` at all. */
export function mayBeDelayed(job: Job, dueAtMs: number, nowMs: number): boolean {
  const isRunning = job.state === 'queued' || job.state === 'processing';
  return isRunning && dueAtMs < job.deadlineAtMs && dueAtMs - nowMs <= firstHintMaxMs && !isControl(job.id);
}

/**
 * The end of a job that the provider has told at `nowMs`, or null when it says nothing of render times: reads had failed
 * before or were seldom, and who knows since when it had ended. `seenAtMs`: when it was last seen running, if it was.
 */
export function renderEnd(job: Job, nowMs: number, seenAtMs: number | undefined): RenderEnd | null {
  const { submittedAtMs, lastFault } = job;
  if (submittedAtMs === undefined || job.history.some(({ state }) => state === 'overdue')) return null;
  // A failed render's own fault is as old as its end.
  const since = lastFault?.atMs ?? 0;
  if (since > submittedAtMs && since < (job.finishedAtMs ?? nowMs)) return null;
  const sentMs = sentAtMs(job);
  return {
    isControl: isControl(job.id),
    isCompleted: job.state === 'completed',
    foundMs: nowMs - sentMs,
    seenMs: seenAtMs === undefined ? null : seenAtMs - sentMs,
    record: recordOf(job, submittedAtMs),
  };
}

/** A read that meets a job in another state than before leaves an entry; one that meets it unchanged does not. */
function recordOf({ history }: Job, submittedAtMs: number): RenderEnd['record'] {
  const running = history.filter(
    ({ state, atMs }) => atMs >= submittedAtMs && (state === 'queued' || state === 'processing'),
  );
  if (running.length > 1) return 'seen';
  return running[0]?.state === 'queued' ? 'unseen' : 'unclear';
}

/** What the ends of one kind add to what is known of it, when first reads are delayed to the age `firstMs`; null: they are not. */
export function samplesOf(ends: readonly { end: RenderEnd; atMs: number }[], firstMs: number | null): RenderSamples {
  const seen = [...noBins];
  const found = [...noBins];
  const sum = { delayed: 0, late: 0 };
  const times: number[] = [];
  for (const { end, atMs } of ends) {
    // Of failures nobody wants a prediction, but their news must not be late either.
    if (end.isCompleted) count(found, end.foundMs);
    if (firstMs !== null && !end.isControl) {
      sum.delayed++;
      if (isLate(end, firstMs)) sum.late++;
      continue;
    }
    const seenMs = lastSeenMs(end);
    if (seenMs === null) continue;
    count(seen, seenMs);
    times.push(atMs);
  }
  const atMs = times.length === 0 ? null : { first: Math.min(...times), last: Math.max(...times) };
  return { seen, found, ...sum, atMs };
}

/** True when the first read, delayed to the age `firstMs`, already found the end. */
function isLate({ seenMs, record, foundMs }: RenderEnd, firstMs: number): boolean {
  return seenMs === null && record !== 'seen' && foundMs >= firstMs && foundMs < firstMs + readTakesMs;
}

/**
 * When a job whose first read was not delayed was last seen running: 0 when it never was, null when an earlier run may have
 * seen it. Which ones these are is up to when runs begin, not to how long they took: the others can speak for them.
 */
function lastSeenMs({ seenMs, record, foundMs }: RenderEnd): number | null {
  if (seenMs !== null) return seenMs;
  if (record === 'unseen') return 0;
  return record === 'unclear' && foundMs < firstHintMaxMs + readTakesMs ? 0 : null;
}

function count(bins: number[], ageMs: number): void {
  const bin = binOf(ageMs);
  bins[bin] = (bins[bin] ?? 0) + 1;
}
