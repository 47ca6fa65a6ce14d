import { effectiveSlots } from './account-standing.ts';
import type { Budget } from './account-state.ts';
import type { JobPlace } from './account-view.ts';
import type { AccountLimits } from './accounts.ts';
import { callAtMs } from './budget-meter.ts';
import { isActive, type Job, needsCreate } from './job.ts';
import { sentAtMs } from './render-end.ts';

/* Why a job is not further than it is, and when it will be. Pure; times in ms on the due set's clock, a range is [earliest, latest]. */

export type Range = [earliestMs: number, latestMs: number];

export type WaitingFor =
  /** In line for one; 1 is the next. */
  | { kind: 'slot'; place: number; predictedMs: Range | null }
  | { kind: 'create_budget' | 'read_budget'; untilMs: number }
  /** `provider_hint`: the next read is due then; `retry`: the last call failed; `overdue`: its deadline is past, it is read seldom. */
  | { kind: 'provider_hint' | 'retry' | 'overdue'; untilMs: number }
  /** A drain works on it right now. */
  | { kind: 'lease'; untilMs: number }
  /** Of the whole account; until then, or until a probe comes through. Null: until what waited meanwhile is worked off. */
  | { kind: 'hold'; reason: HoldReason; untilMs: number | null }
  | { kind: 'paused'; sinceMs: number }
  /** The due set can't be reached, or does not hold it: then the sweep puts it back within five minutes. */
  | { kind: 'unknown' };

type HoldReason = 'denied' | 'failing' | 'held' | 'recovering' | 'no_slot' | 'no_credit';

export interface Surroundings {
  limits: AccountLimits;
  /** Where it is; null when the due set can't be reached. */
  place: JobPlace | null;
  /** How long renders of its kind take, from the create to the end; null when not known. */
  renderMs: Range | null;
}

/** Null for a job that has ended. */
export function waitingFor(job: Job, { limits, place, renderMs }: Surroundings): WaitingFor | null {
  if (!isActive(job.state)) return null;
  if (place === null) return { kind: 'unknown' };
  const stopped = pausedOrHeld(job, place);
  if (stopped !== null) return stopped;
  if (place.due !== null) return whileDue(job, limits, place, place.due);
  return place.place === null ? { kind: 'unknown' } : inLine(limits, place, place.place, renderMs);
}

function pausedOrHeld(job: Job, { state, nowMs }: JobPlace): WaitingFor | null {
  const { paused, breaker, createsHold } = state;
  const creates = needsCreate(job);
  if (paused !== null && (paused.what === 'all' || creates)) return { kind: 'paused', sinceMs: paused.sinceMs };
  if (breaker !== null && breaker.kind !== 'recovering') {
    return { kind: 'hold', reason: breaker.kind === 'open' ? 'failing' : breaker.kind, untilMs: breaker.atMs };
  }
  if (!creates) return null;
  if (createsHold !== null && createsHold.untilMs > nowMs) {
    return { kind: 'hold', reason: createsHold.reason, untilMs: createsHold.untilMs };
  }
  return breaker === null ? null : { kind: 'hold', reason: 'recovering', untilMs: null };
}

type Due = NonNullable<JobPlace['due']>;

function whileDue(job: Job, limits: AccountLimits, { state, nowMs }: JobPlace, due: Due): WaitingFor {
  if (due.leased && due.atMs > nowMs) return { kind: 'lease', untilMs: due.atMs };
  if (due.atMs <= nowMs) {
    // Also a create that is sent again is claimed as a read is.
    const untilMs = budgetMs(state.reads, limits.readsPerMinute, limits.readsPerDay, due.ahead + 1, nowMs)[1];
    if (untilMs > nowMs) return { kind: 'read_budget', untilMs };
  }
  if (job.state === 'overdue') return { kind: 'overdue', untilMs: due.atMs };
  return { kind: job.failuresInRow + job.missingReads > 0 ? 'retry' : 'provider_hint', untilMs: due.atMs };
}

function inLine(limits: AccountLimits, around: JobPlace, place: number, renderMs: Range | null): WaitingFor {
  const { nowMs, state, inFlight } = around;
  const free = (effectiveSlots(around, limits.maxInFlight) ?? Number.POSITIVE_INFINITY) - inFlight;
  const budget = budgetMs(state.creates, limits.createsPerMinute, limits.createsPerDay, place, nowMs);
  const slot = slotMs(place - free, inFlight, renderMs, nowMs);
  if (place <= free && budget[1] > nowMs) return { kind: 'create_budget', untilMs: budget[1] };
  const predictedMs: Range | null = slot === null ? null : [Math.max(slot[0], budget[0]), Math.max(slot[1], budget[1])];
  return { kind: 'slot', place, predictedMs };
}

/** When the nth call from now on is within the budget: minute, day and the provider's own word. */
function budgetMs(budget: Budget, perMinute: number | null, perDay: number | null, nth: number, nowMs: number): Range {
  const ranges: Range[] = [[nowMs, nowMs]];
  if (perMinute !== null) ranges.push(callAtMs(budget.minute, perMinute, nth, nowMs));
  if (perDay !== null) ranges.push(callAtMs(budget.day, perDay, nth, nowMs));
  if (budget.told !== null && budget.told.left < nth) ranges.push([budget.told.untilMs, budget.told.untilMs]);
  return [Math.max(...ranges.map(([from]) => from)), Math.max(...ranges.map(([, to]) => to))];
}

/**
 * When so many more slots than are free now will have come free: at the earliest as if the jobs in flight were spread
 * evenly over their renders, at the latest as if all had only begun. Null when nothing tells how long a render takes.
 */
function slotMs(missing: number, inFlight: number, renderMs: Range | null, nowMs: number): Range | null {
  if (missing <= 0) return [nowMs, nowMs];
  if (renderMs === null) return null;
  const turns = missing / Math.max(1, inFlight);
  return [Math.floor(nowMs + turns * renderMs[0]), Math.ceil(nowMs + Math.ceil(turns) * renderMs[1])];
}

/** When the job is likely to have ended; null when nothing tells, or it takes longer than nearly all do. */
export function predictedCompletion(
  job: Job,
  waiting: WaitingFor | null,
  renderMs: Range | null,
  nowMs: number,
): Range | null {
  if (renderMs === null || waiting === null || job.state === 'overdue') return null;
  const sentMs = job.submittedAtMs === undefined ? sendingMs(waiting, nowMs) : [sentAtMs(job), sentAtMs(job)];
  const [fromMs, toMs] = sentMs ?? [];
  if (fromMs === undefined || toMs === undefined || toMs + renderMs[1] < nowMs) return null;
  return [Math.max(nowMs, fromMs + renderMs[0]), toMs + renderMs[1]];
}

/** When a job that is not at the provider yet will be sent. */
function sendingMs(waiting: WaitingFor, nowMs: number): Range | null {
  if (waiting.kind === 'slot') return waiting.predictedMs;
  if (waiting.kind === 'lease') return [nowMs, nowMs];
  return waiting.kind === 'create_budget' || waiting.kind === 'retry' ? [waiting.untilMs, waiting.untilMs] : null;
}
