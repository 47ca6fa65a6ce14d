/*
 * When a job is due next. Pure: delays in, delays out, all in milliseconds; `random` is a number in [0, 1).
 * A hint of the provider is a floor: nothing here makes a read earlier than it was told, up to the maxima below.
 */

export const pollDefaultMs = 15_000;
export const pollMinMs = 1_000;
export const pollMaxMs = 600_000;
export const troubleBaseMs = 30_000;
export const troubleMaxMs = 600_000;
export const retryAfterMaxMs = 3_600_000;
export const deniedDelayMs = 60_000;
/**
 * A provider's wait of up to this much is kept by the due set alone. A longer one is noted in the record, so that a due
 * set which was lost and rebuilt still keeps to it; a rebuilt one waits at least this long before any read.
 */
export const unnotedWaitMs = 30_000;

const hour = 3_600_000;
/** After the deadline a job is read this long after it, then given up. */
export const overdueReadsMs: readonly number[] = [hour, 6 * hour, 24 * hour, 72 * hour];
/** A job whose last overdue read met a fault, not a verdict, is tried for this much longer. */
export const overdueGraceMs = 6 * hour;

/**
 * A provider's `next_poll_after_seconds` in ms: a number or a plain decimal string of seconds, zero or more.
 * Null for anything else, which means "the provider did not say".
 */
export function hintMs(seconds: unknown): number | null {
  const value = typeof seconds === 'string' && /^\d+(\.\d+)?$/.test(seconds) ? Number(seconds) : seconds;
  if (typeof value !== 'number' || Number.isNaN(value) || value < 0) return null;
  return Math.ceil(Math.min(value * 1000, Number.MAX_SAFE_INTEGER));
}

/** The wait before the next read of a running job. Without a hint: the default plus up to a tenth, so that reads spread. */
export function pollDelayMs(hint: number | null, random: number): number {
  if (hint === null) return Math.ceil(pollDefaultMs * (1 + random / 10));
  return clamp(hint, pollMinMs, pollMaxMs);
}

/** The wait after the nth failure in a row (n from 1): 30 s doubling to 10 min, plus up to half of it. */
export function troubleDelayMs(failuresInRow: number, random: number): number {
  const base = Math.min(troubleBaseMs * 2 ** Math.min(failuresInRow - 1, 10), troubleMaxMs);
  return Math.ceil(base * (1 + random / 2));
}

/** The wait that a 429 asks for, at least `pollMinMs`, at most an hour, plus up to a tenth so that not all come back at once. */
export function retryAfterDelayMs(retryAfterMs: number | null, random: number): number {
  const base = clamp(retryAfterMs ?? troubleBaseMs, pollMinMs, retryAfterMaxMs);
  return Math.ceil(base * (1 + random / 10));
}

/** A due time that does not pass over the deadline: the job is looked at once when its deadline comes. */
export function beforeDeadline(dueAtMs: number, deadlineAtMs: number, nowMs: number): number {
  return deadlineAtMs > nowMs ? Math.min(dueAtMs, deadlineAtMs) : dueAtMs;
}

/** The next of the seldom reads after the deadline, or null when the last one lies behind. */
export function nextOverdueReadMs(overdueFromMs: number, nowMs: number): number | null {
  const delay = overdueReadsMs.find((afterMs) => overdueFromMs + afterMs > nowMs);
  return delay === undefined ? null : overdueFromMs + delay;
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
