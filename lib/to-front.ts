import type { Held, Settled } from './hand.ts';
import type { Job } from './job.ts';
import { suspectClaims } from './suspect.ts';

/**
 * Back into line before all others of its priority: for a job that was admitted once and whose place is not known any more.
 * How ranks are made: enqueue.lua.
 */
export function toFront({ owner, priority, deadlineAtMs }: Job): Settled {
  return { kind: 'wait', rank: String((9 - priority) * 1e14), newcomer: { owner, priority, deadlineAtMs } };
}

/** Unsent, and not admitted just now: whoever admitted it died. Where creates are counted it is to be admitted again. */
export function belongsInLine(held: Held, { state, deadlineAtMs, notBeforeMs = 0 }: Job, nowMs: number): boolean {
  const isUnsent = state === 'waiting' && held.rank === undefined && held.claims < suspectClaims;
  return isUnsent && nowMs < deadlineAtMs && notBeforeMs <= nowMs;
}
