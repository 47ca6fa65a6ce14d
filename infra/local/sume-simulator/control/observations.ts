import type { RouteKind } from '../api/route.ts';
import type { KeyLog } from './key-log.ts';

/** What was seen of one job's status reads. Times are on the monotonic clock, in milliseconds with fractions. */
export type ReadLog = {
  readonly jobId: string;
  reads: number;
  early: number;
  duplicate: number;
  worstEarlinessMs: number;
  inFlight: number;
  /** When the wait suggested by the last answer ends; undefined when that answer suggested none. */
  dueAtMs: number | undefined;
  /** When a final answer was first sent, Unix milliseconds: from then on there is nothing more to ask. */
  endToldAtMs: number | undefined;
};

export type Percentiles = { p50: number; p99: number; max: number; count: number };

/** Counts since this process started, or since they were last reset. */
export type Observations = {
  readonly requests: Partial<Record<RouteKind, number>>;
  readonly logs: Map<string, ReadLog>;
  readonly lateness: Samples;
  createsReceived: number;
  idempotentReplays: number;
  providerReads: number;
  earlyReads: number;
  worstEarlinessMs: number;
  duplicateReads: number;
  readonly refused429: { create: number; status: number; other: number };
  /** What came with each key, by the name of its workspace. */
  readonly keys: Map<string, KeyLog>;
};

export function newObservations(): Observations {
  return {
    requests: {},
    logs: new Map(),
    lateness: new Samples(),
    createsReceived: 0,
    idempotentReplays: 0,
    providerReads: 0,
    earlyReads: 0,
    worstEarlinessMs: 0,
    duplicateReads: 0,
    refused429: { create: 0, status: 0, other: 0 },
    keys: new Map(),
  };
}

/**
 * A status read has come in. It is early when the wait suggested by the answer before it has not run out (no tolerance);
 * a duplicate when another read of the job is under way or its end was already told.
 */
export function readArrived(seen: Observations, jobId: string, nowMs: number): ReadLog {
  const log = logOf(seen, jobId);
  log.reads += 1;
  if (log.inFlight > 0 || log.endToldAtMs !== undefined) {
    log.duplicate += 1;
    seen.duplicateReads += 1;
  }
  log.inFlight += 1;
  if (log.dueAtMs === undefined) return log;
  const latenessMs = nowMs - log.dueAtMs;
  seen.lateness.add(latenessMs);
  if (latenessMs < 0) {
    log.early += 1;
    log.worstEarlinessMs = Math.max(log.worstEarlinessMs, -latenessMs);
    seen.earlyReads += 1;
    seen.worstEarlinessMs = Math.max(seen.worstEarlinessMs, -latenessMs);
  }
  return log;
}

/** A whole, true answer has been handed to the network: never later than its reader has it. The times are of both clocks. */
export function readAnswered(
  log: ReadLog,
  told: { hintSeconds: number | null; terminal: boolean },
  { monotonicMs, nowMs }: { monotonicMs: number; nowMs: number },
): void {
  log.dueAtMs = told.hintSeconds === null ? undefined : monotonicMs + told.hintSeconds * 1000;
  if (told.terminal) log.endToldAtMs ??= nowMs;
}

/** A read ended with something that is no true answer: an error, or a fault. It suggests nothing, so the next one cannot be early. */
export function readSpoiled(log: ReadLog): void {
  log.dueAtMs = undefined;
}

/** The job's reader is told of its end by a webhook: whatever wait was suggested before counts no more. */
export function endAnnounced(seen: Observations, jobId: string): void {
  const log = seen.logs.get(jobId);
  if (log) log.dueAtMs = undefined;
}

/** The read is over, answered or not; undefined for requests that are not written down. */
export function readEnded(log: ReadLog | undefined): void {
  if (log) log.inFlight -= 1;
}

/** Sets every count to zero. What is known of each job (its due time, its end, reads under way) stays. */
export function resetObservations(seen: Observations): void {
  for (const kind of Object.keys(seen.requests) as RouteKind[]) delete seen.requests[kind];
  seen.lateness.clear();
  seen.keys.clear();
  Object.assign(seen.refused429, { create: 0, status: 0, other: 0 });
  for (const log of seen.logs.values()) Object.assign(log, { reads: 0, early: 0, duplicate: 0, worstEarlinessMs: 0 });
  seen.createsReceived = 0;
  seen.idempotentReplays = 0;
  seen.providerReads = 0;
  seen.earlyReads = 0;
  seen.worstEarlinessMs = 0;
  seen.duplicateReads = 0;
}

function logOf(seen: Observations, jobId: string): ReadLog {
  const known = seen.logs.get(jobId);
  if (known !== undefined) return known;
  const log: ReadLog = {
    jobId,
    reads: 0,
    early: 0,
    duplicate: 0,
    worstEarlinessMs: 0,
    inFlight: 0,
    dueAtMs: undefined,
    endToldAtMs: undefined,
  };
  seen.logs.set(jobId, log);
  return log;
}

/** Every number that was added, eight bytes each: the percentiles are exact. */
class Samples {
  private values = new Float64Array(1024);
  private count = 0;

  add(value: number): void {
    if (this.count === this.values.length) {
      const wider = new Float64Array(this.values.length * 2);
      wider.set(this.values);
      this.values = wider;
    }
    this.values[this.count] = value;
    this.count += 1;
  }

  clear(): void {
    this.count = 0;
  }

  percentiles(): Percentiles {
    const sorted = this.values.slice(0, this.count).sort();
    const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
    return { p50: at(0.5), p99: at(0.99), max: at(1), count: sorted.length };
  }
}
