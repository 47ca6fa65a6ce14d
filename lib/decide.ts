import {
  beforeDeadline,
  deniedDelayMs,
  nextOverdueReadMs,
  overdueGraceMs,
  overdueReadsMs,
  pollDelayMs,
  retryAfterDelayMs,
  retryAfterMaxMs,
  troubleDelayMs,
  unnotedWaitMs,
} from './due.ts';
import { enter, type Fault, type Job, type JobState, needsCreate } from './job.ts';
import type { Outcome } from './outcome.ts';

/*
 * The whole policy of the product in one pure function: (job, outcome, now, random) → decision.
 * Only a provider's verdict or our own deadline changes a state. A failed call moves the due time and nothing else.
 */

/** `keep`: nothing to write. `change`: write, then due again. `end`: write, then out of the due set. */
export type Decision =
  | { kind: 'keep'; dueAtMs: number }
  | { kind: 'change'; job: Job; dueAtMs: number }
  | { kind: 'end'; job: Job };

/** 404s needed, and over how long, before a job counts as lost. One between two good reads is nothing. */
export const missingReadsMin = 5;
export const missingForMinMs = 600_000;
/** Reads that may say completed while the result cannot be had. */
export const resultReadsMax = 5;

/** What follows from an outcome. `nowMs` is on the due set's clock; `random` in [0, 1) spreads what has no exact time. */
export function decide(job: Job, outcome: Outcome, nowMs: number, random: number): Decision {
  const decision = decideFreely(job, outcome, nowMs, random);
  if (decision.kind === 'end') return decision;
  // Not our own prudence: a seldom read, say, may be asked for sooner.
  const waitMs = Math.min(toldWaitMs(outcome, random), decision.dueAtMs - nowMs);
  if (waitMs <= unnotedWaitMs) return decision;
  const noted = decision.kind === 'change' ? decision.job : job;
  return { kind: 'change', job: { ...noted, notBeforeMs: nowMs + waitMs }, dueAtMs: decision.dueAtMs };
}

/** How long the provider asked not to be called about the job, ms; 0 when it did not. */
function toldWaitMs(outcome: Outcome, random: number): number {
  if (outcome.kind === 'running' || outcome.kind === 'accepted') {
    return outcome.hintMs === null ? 0 : pollDelayMs(outcome.hintMs, random);
  }
  const isAnswered = outcome.kind === 'trouble' || outcome.kind === 'no_slot' || outcome.kind === 'throttled';
  if (!isAnswered || outcome.retryAfterMs === null) return 0;
  return retryAfterDelayMs(outcome.retryAfterMs, random);
}

function decideFreely(job: Job, outcome: Outcome, nowMs: number, random: number): Decision {
  if (isLateCreate(job, outcome)) {
    // When to read it next is told by a hint alone: a refusal's wait is for creates.
    const toldMs = outcome.kind === 'accepted' ? toldWaitMs(outcome, random) : 0;
    const waitMs = Math.max(pollDelayMs(null, random), toldMs);
    return readSoon(job, nowMs + waitMs, nowMs);
  }
  switch (outcome.kind) {
    case 'accepted':
      return accept(job, outcome, nowMs, random);
    case 'refused':
      return refuse(job, outcome, nowMs, random);
    case 'no_slot':
      return turnedAway(job, outcome, nowMs + retryAfterDelayMs(outcome.retryAfterMs, random), nowMs);
    case 'running':
      return run(job, outcome, nowMs, random);
    case 'completed':
      return complete(job, outcome, nowMs, random);
    case 'ended': {
      const heard = { ...recovered(job), providerStatus: outcome.word, ...only('usage', outcome.usage) };
      const faulty = outcome.fault === undefined ? heard : withFault(heard, outcome.fault, nowMs);
      return end(faulty, outcome.as, nowMs, outcome.word);
    }
    case 'missing':
      return miss(job, outcome.fault, nowMs, random);
    case 'throttled':
      return postpone(job, job, nowMs + retryAfterDelayMs(outcome.retryAfterMs, random), nowMs);
    case 'denied':
      return turnedAway(job, outcome, nowMs + spread(deniedDelayMs, random), nowMs);
    case 'trouble':
      return trouble(job, outcome, nowMs, random);
  }
}

/** A create's answer that comes after another drain had the job confirmed: only a read can say more by now. */
function isLateCreate(job: Job, { kind }: Outcome): boolean {
  const ofCreate = kind === 'accepted' || kind === 'refused' || kind === 'no_slot';
  return ofCreate && !needsCreate(job);
}

/** An overdue job is not given up for what a create says: the read that it is due may be its only one. */
function readSoon(job: Job, dueAtMs: number, nowMs: number): Decision {
  return job.state === 'overdue' ? { kind: 'keep', dueAtMs } : postpone(job, job, dueAtMs, nowMs);
}

type Of<K extends Outcome['kind']> = Extract<Outcome, { kind: K }>;

function accept(job: Job, outcome: Of<'accepted'>, nowMs: number, random: number): Decision {
  const sent: Job = {
    ...recovered(job),
    providerJobId: outcome.providerJobId,
    submittedAtMs: nowMs,
    ...only('providerStatus', outcome.word),
    ...only('usage', outcome.usage),
  };
  const next = enter(sent, outcome.phase, nowMs, outcome.word);
  const dueAtMs = nowMs + pollDelayMs(outcome.hintMs, random);
  return pastDeadline(next, nowMs, dueAtMs) ?? changed(next, dueAtMs, nowMs);
}

/** A refusal ends a job that was never sent before. After a call whose end nobody knows, a clip may exist and be billed. */
function refuse(job: Job, { fault, repeated }: Of<'refused'>, nowMs: number, random: number): Decision {
  if (repeated === true) return trouble(job, { kind: 'trouble', fault, retryAfterMs: null }, nowMs, random);
  return end(withFault(job, fault, nowMs), 'rejected', nowMs, fault.code);
}

/** The provider would not take the call, for a reason that is not the job's: a create goes back to waiting, a read stays. */
function turnedAway(job: Job, outcome: Of<'no_slot' | 'denied'>, dueAtMs: number, nowMs: number): Decision {
  const seen = job.lastFault?.code === outcome.fault.code ? job : withFault(job, outcome.fault, nowMs);
  if (job.state !== 'submitting' || outcome.repeated === true) return postpone(job, seen, dueAtMs, nowMs);
  // Its owner asked for that while the call was under way: so it never was at the provider.
  if (job.cancelAskedAtMs !== undefined) return end(seen, 'canceled', nowMs, 'canceled_by_owner');
  const back = enter(seen, 'waiting', nowMs, outcome.fault.code);
  return pastDeadline(back, nowMs) ?? changed(back, dueAtMs, nowMs);
}

function run(job: Job, outcome: Of<'running'>, nowMs: number, random: number): Decision {
  const dueAtMs = nowMs + pollDelayMs(outcome.hintMs, random);
  const heard: Job = { ...recovered(job), ...only('providerStatus', outcome.word), ...only('usage', outcome.usage) };
  if (job.state === 'overdue') return stillOverdue(job, heard, nowMs, dueAtMs);
  const late = pastDeadline(heard, nowMs, dueAtMs);
  if (late !== null) return late;
  if (job.state !== outcome.phase) return changed(enter(heard, outcome.phase, nowMs, outcome.word), dueAtMs, nowMs);
  if (tellsNothingNew(job, outcome)) return { kind: 'keep', dueAtMs: beforeDeadline(dueAtMs, job.deadlineAtMs, nowMs) };
  return changed({ ...heard, updatedAtMs: nowMs }, dueAtMs, nowMs);
}

/** A read that found what the record already says is not worth a write. */
function tellsNothingNew(job: Job, outcome: Of<'running'>): boolean {
  const sameWord = outcome.word === undefined || outcome.word === (job.providerStatus ?? job.state);
  return sameWord && isUntroubled(job);
}

function complete(job: Job, outcome: Of<'completed'>, nowMs: number, random: number): Decision {
  const heard: Job = { ...recovered(job), providerStatus: outcome.word, ...only('usage', outcome.usage) };
  if (outcome.result !== null) return end({ ...heard, result: outcome.result }, 'completed', nowMs, outcome.word);
  const fault: Fault = { code: 'result_missing', message: 'The provider says completed but gave no result.' };
  const resultReads = job.resultReads + 1;
  const faulty = withFault({ ...heard, resultReads }, fault, nowMs);
  if (resultReads >= resultReadsMax) return end(faulty, 'failed', nowMs, fault.code);
  return { kind: 'change', job: faulty, dueAtMs: nowMs + troubleDelayMs(resultReads, random) };
}

function miss(job: Job, fault: Fault, nowMs: number, random: number): Decision {
  const missingSinceMs = job.missingSinceMs ?? nowMs;
  const missed: Job = { ...withFault(job, fault, nowMs), missingReads: job.missingReads + 1, missingSinceMs };
  const confirmed = missed.missingReads >= missingReadsMin && nowMs - missingSinceMs >= missingForMinMs;
  if (confirmed) return end(missed, 'lost', nowMs, fault.code);
  return postpone(job, missed, nowMs + troubleDelayMs(missed.missingReads, random), nowMs);
}

function trouble(job: Job, outcome: Of<'trouble'>, nowMs: number, random: number): Decision {
  const faulty = withFault({ ...job, failuresInRow: job.failuresInRow + 1 }, outcome.fault, nowMs);
  const toldMs = Math.min(outcome.retryAfterMs ?? 0, retryAfterMaxMs);
  const delay = Math.max(troubleDelayMs(faulty.failuresInRow, random), toldMs);
  return postpone(job, faulty, nowMs + delay, nowMs);
}

/** Due later for a reason that is not the render's. The deadline still counts: a fault does not stop our own clock. */
function postpone(before: Job, after: Job, dueAtMs: number, nowMs: number): Decision {
  if (after.state === 'overdue' || after.state === 'submitting') {
    const lastReadAtMs = overdueFromMs(after) + (overdueReadsMs.at(-1) ?? 0);
    if (nowMs >= lastReadAtMs + overdueGraceMs) return end(after, 'given_up', nowMs, after.lastFault?.code);
    return after === before ? { kind: 'keep', dueAtMs } : { kind: 'change', job: after, dueAtMs };
  }
  const late = pastDeadline(after, nowMs, dueAtMs);
  if (late !== null) return late;
  if (after !== before) return changed(after, dueAtMs, nowMs);
  return { kind: 'keep', dueAtMs: beforeDeadline(dueAtMs, after.deadlineAtMs, nowMs) };
}

/** The end of a job that was never sent by its deadline; null while it has time, or may have been sent. */
export function expireUnsent(job: Job, nowMs: number): Decision | null {
  if (job.state !== 'waiting' || nowMs < job.deadlineAtMs) return null;
  const fault: Fault = { code: 'deadline_passed', message: 'The deadline passed before the job could be sent.' };
  return end(withFault(job, fault, nowMs), 'expired', nowMs, fault.code);
}

/**
 * What our own deadline does to a job once it has passed, or null while it has not. No read before `notBeforeMs`.
 * A confirmed job is only given up from overdue: however late it comes there, it is read once more.
 */
function pastDeadline(job: Job, nowMs: number, notBeforeMs = nowMs): Decision | null {
  if (nowMs < job.deadlineAtMs) return null;
  if (job.state === 'waiting') return expireUnsent(job, nowMs);
  if (job.state !== 'queued' && job.state !== 'processing') return null;
  const nextMs = nextOverdueReadMs(overdueFromMs(job), nowMs) ?? nowMs;
  const overdue = enter(job, 'overdue', nowMs, 'deadline_passed');
  return { kind: 'change', job: overdue, dueAtMs: Math.max(nextMs, notBeforeMs) };
}

/** From when the seldom reads are counted. A job that was given up and asked for again starts them anew. */
function overdueFromMs({ deadlineAtMs, rearmedAtMs = 0 }: Job): number {
  return Math.max(deadlineAtMs, rearmedAtMs);
}

function stillOverdue(job: Job, heard: Job, nowMs: number, notBeforeMs: number): Decision {
  const nextMs = nextOverdueReadMs(overdueFromMs(job), nowMs);
  if (nextMs === null) return end(heard, 'given_up', nowMs);
  const dueAtMs = Math.max(nextMs, notBeforeMs);
  const unchanged = isUntroubled(job) && heard.providerStatus === job.providerStatus;
  return unchanged ? { kind: 'keep', dueAtMs } : { kind: 'change', job: { ...heard, updatedAtMs: nowMs }, dueAtMs };
}

function changed(job: Job, dueAtMs: number, nowMs: number): Decision {
  return { kind: 'change', job, dueAtMs: beforeDeadline(dueAtMs, job.deadlineAtMs, nowMs) };
}

function end(job: Job, state: JobState, nowMs: number, reason?: string): Decision {
  return { kind: 'end', job: enter(job, state, nowMs, reason) };
}

function isUntroubled(job: Job): boolean {
  const counts = job.failuresInRow + job.missingReads + job.resultReads;
  return counts === 0 && job.suspectedAtMs === undefined;
}

/** The job after a call that worked: nothing failed in a row any more. The last fault stays to be seen. */
function recovered(job: Job): Job {
  const { missingSinceMs: _, suspectedAtMs: __, ...rest } = job;
  return { ...rest, failuresInRow: 0, missingReads: 0, resultReads: 0 };
}

function withFault(job: Job, fault: Fault, nowMs: number): Job {
  return { ...job, lastFault: { ...fault, atMs: nowMs }, updatedAtMs: nowMs };
}

function spread(delayMs: number, random: number): number {
  return Math.ceil(delayMs * (1 + random / 2));
}

/** `{[key]: value}`, or nothing when there is no value: optional fields are absent, never undefined. */
function only<K extends keyof Job>(key: K, value: Job[K] | undefined): Partial<Pick<Job, K>> {
  return value === undefined ? {} : ({ [key]: value } as Pick<Job, K>);
}
