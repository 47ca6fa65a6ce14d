import { ok } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Decision, decide, expireUnsent, missingForMinMs, missingReadsMin } from '../../lib/decide.ts';
import { pollDelayMs, retryAfterMaxMs } from '../../lib/due.ts';
import { enter, historyMax, isActive, type Job, type JobState, jobStates, needsCreate } from '../../lib/job.ts';
import type { Outcome } from '../../lib/outcome.ts';
import {
  confirmedJob,
  createOutcomes,
  hourMs,
  jobWith,
  minuteMs,
  openReadOutcomes,
  readOutcomes,
  startMs,
} from '../support/jobs.ts';

/* Whole lives of jobs, as a drain would lead them: any outcomes at growing times. The rules below hold after each step. */

/** One step of a life. `lateMs` after the job's due time; `random` as in decide. */
interface Turn {
  create: Outcome;
  read: Outcome;
  lateMs: number;
  random: number;
}

const randoms = fc.integer({ min: 0, max: 999 }).map((thousandths) => thousandths / 1000);
/** Mostly on time, sometimes after an outage; eighths of a ms as a monotonic clock gives them. */
const latenesses = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 8_000 }).map((eighths) => eighths / 8) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 100 * hourMs }) },
);
const turnsWith = (read: fc.Arbitrary<Outcome>) =>
  fc.record({ create: createOutcomes, read, lateMs: latenesses, random: randoms });
const mixedLives = fc.array(turnsWith(readOutcomes), { minLength: 1, maxLength: 40, size: 'max' });
/** The same answer over and over between others: what it takes to be lost, or given up. */
const stubbornLives = fc
  .array(fc.tuple(turnsWith(readOutcomes), fc.integer({ min: 1, max: 12 })), { maxLength: 5 })
  .map((runs) => runs.flatMap(([turn, times]) => Array.from({ length: times }, () => turn)));
const lives = fc.oneof(mixedLives, stubbornLives);

/** The arrows between states that a decision, or the step before a create, may take. */
const arrows: Partial<Record<JobState, readonly JobState[]>> = {
  waiting: ['submitting', 'expired'],
  submitting: ['waiting', 'queued', 'processing', 'rejected', 'given_up'],
  queued: ['processing', 'overdue', 'completed', 'failed', 'canceled', 'expired', 'lost'],
  processing: ['queued', 'overdue', 'completed', 'failed', 'canceled', 'expired', 'lost'],
  overdue: ['completed', 'failed', 'canceled', 'expired', 'lost', 'given_up'],
};

type Rule = (before: Job, outcome: Outcome, decision: Decision, nowMs: number) => void;

/** Leads a job through the turns until it ends or they are used up; `rule` looks at every decision. */
function live(job: Job, turns: Iterable<Turn>, rule: Rule): { job: Job; ended: boolean; nowMs: number } {
  let current = job;
  let nowMs = startMs;
  let dueAtMs = startMs;
  for (const turn of turns) {
    nowMs = Math.max(nowMs, dueAtMs) + turn.lateMs;
    const unsent = expireUnsent(current, nowMs);
    if (unsent?.kind === 'end') return { job: unsent.job, ended: true, nowMs };
    if (current.state === 'waiting') current = enter(current, 'submitting', nowMs);
    const outcome = needsCreate(current) ? turn.create : turn.read;
    const decision = decide(current, outcome, nowMs, turn.random);
    rule(current, outcome, decision, nowMs);
    if (decision.kind === 'end') return { job: decision.job, ended: true, nowMs };
    if (decision.kind === 'change') current = decision.job;
    dueAtMs = decision.dueAtMs;
  }
  return { job: current, ended: false, nowMs };
}

/** Runs the rule over 2,000 lives of up to 40 turns, from acceptance and with deadlines from a minute to a week. */
function holds(rule: Rule): void {
  const deadlines = fc.constantFrom(minuteMs, 10 * minuteMs, hourMs, 24 * hourMs, 168 * hourMs);
  fc.assert(
    fc.property(deadlines, lives, (deadlineMs, turns) => {
      live(jobWith({ deadlineAtMs: startMs + deadlineMs }), turns, rule);
    }),
    { numRuns: 2_000 },
  );
}

function jobOf(decision: Decision, before: Job): Job {
  return decision.kind === 'keep' ? before : decision.job;
}

describe('whatever the provider says, and whenever', () => {
  it('moves the state along the arrows only, and every state passed through is in the history', () => {
    holds((before, _outcome, decision) => {
      const after = jobOf(decision, before);
      const passed = after.history.slice(Math.max(0, after.history.lastIndexOf(before.history.at(-1) as never)));
      for (let i = 1; i < passed.length; i++) {
        const [from, to] = [passed[i - 1]?.state, passed[i]?.state];
        if (from === undefined || to === undefined) throw new Error('an empty place in the history');
        ok(arrows[from]?.includes(to), `${from} → ${to}`);
      }
      ok(after.history.at(-1)?.state === after.state, `${after.state} is not the last entry of the history`);
    });
  });

  it('calls a decision an end exactly when the job is no longer active', () => {
    holds((_before, _outcome, decision) => {
      if (decision.kind !== 'keep') ok(isActive(decision.job.state) === (decision.kind === 'change'));
      if (decision.kind === 'end') ok(decision.job.finishedAtMs !== undefined);
    });
  });

  it('T26 sets a due time that is finite, exact in whole ms and not in the past', () => {
    holds((_before, outcome, decision, nowMs) => {
      if (decision.kind === 'end') return;
      ok(decision.dueAtMs >= nowMs, `due ${nowMs - decision.dueAtMs} ms ago after ${outcome.kind}`);
      ok(Number.isSafeInteger(Math.ceil(decision.dueAtMs)), `due at ${decision.dueAtMs} after ${outcome.kind}`);
    });
  });

  it('never reads a running job before the time that the provider told, save at the deadline', () => {
    holds((before, outcome, decision, nowMs) => {
      if (outcome.kind !== 'running' || decision.kind === 'end' || decision.dueAtMs === before.deadlineAtMs) return;
      if (jobOf(decision, before).state === 'overdue') return;
      ok(decision.dueAtMs >= nowMs + pollDelayMs(outcome.hintMs, 0));
    });
  });

  it('looks at a job again within 66 minutes, or at the next of the seldom reads', () => {
    holds((before, _outcome, decision, nowMs) => {
      if (decision.kind === 'end') return;
      const seldom = decision.dueAtMs <= before.deadlineAtMs + 72 * hourMs && before.deadlineAtMs <= nowMs;
      ok(seldom || decision.dueAtMs - nowMs <= 1.1 * retryAfterMaxMs + 1, `due in ${decision.dueAtMs - nowMs} ms`);
    });
  });

  it('keeps the history bounded and in time order', () => {
    holds((before, _outcome, decision) => {
      const { history } = jobOf(decision, before);
      ok(history.length <= historyMax);
      for (let i = 1; i < history.length; i++) ok((history[i]?.atMs ?? 0) >= (history[i - 1]?.atMs ?? 0));
    });
  });

  it('never moves the deadline nor anything else that was fixed at acceptance', () => {
    const fixed = ({ id, owner, account, provider, input, fingerprint, metadata, createdAtMs, deadlineAtMs }: Job) =>
      JSON.stringify([id, owner, account, provider, input, fingerprint, metadata, createdAtMs, deadlineAtMs]);
    holds((before, _outcome, decision) => {
      const after = jobOf(decision, before);
      ok(fixed(after) === fixed(before));
      ok(after.revision === before.revision, 'the revision is the store’s to move');
      ok(before.providerJobId === undefined || after.providerJobId === before.providerJobId);
      ok(after.updatedAtMs >= before.updatedAtMs);
    });
  });

  it('lets no failed call change the state, but for our own deadline', () => {
    holds((before, outcome, decision, nowMs) => {
      if (outcome.kind !== 'trouble' && outcome.kind !== 'denied' && outcome.kind !== 'throttled') return;
      const after = jobOf(decision, before);
      // Refused at the door: known not to have been sent.
      if (outcome.kind === 'denied' && before.state === 'submitting' && after.state === 'waiting') return;
      const byDeadline = nowMs >= before.deadlineAtMs && ['overdue', 'given_up', 'expired'].includes(after.state);
      ok(after.state === before.state || byDeadline, `${before.state} → ${after.state} after ${outcome.kind}`);
    });
  });

  it('gives a confirmed job up only from overdue, where it was read once more', () => {
    holds((before, _outcome, decision) => {
      if (jobOf(decision, before).state !== 'given_up') return;
      ok(before.state === 'overdue' || before.state === 'submitting', `given up from ${before.state}`);
    });
  });

  it('counts failures in a row: one more with each, none after a good answer', () => {
    holds((before, outcome, decision) => {
      const { failuresInRow } = jobOf(decision, before);
      if (outcome.kind === 'trouble') ok(failuresInRow === before.failuresInRow + 1);
      if (['accepted', 'running', 'completed', 'ended'].includes(outcome.kind)) ok(failuresInRow === 0);
    });
  });

  it('says completed only with a result in hand, also late', () => {
    holds((before, outcome, decision) => {
      const success = outcome.kind === 'completed' && outcome.result !== null;
      ok((jobOf(decision, before).state === 'completed') === success);
      if (success) ok(decision.kind === 'end' && decision.job.result === outcome.result);
    });
  });

  it('calls a job lost only after five 404s over ten minutes', () => {
    holds((before, outcome, decision, nowMs) => {
      const { state, missingReads, missingSinceMs = Number.NaN } = jobOf(decision, before);
      if (state !== 'lost') return;
      ok(outcome.kind === 'missing' && missingReads >= missingReadsMin && nowMs - missingSinceMs >= missingForMinMs);
    });
  });

  it('is a pure function: it touches neither the job nor the outcome, and says the same again', () => {
    const again = (before: Job, outcome: Outcome, nowMs: number) => JSON.stringify(decide(before, outcome, nowMs, 0.5));
    holds((before, outcome, _decision, nowMs) => {
      for (const value of [before, before.history, outcome]) Object.freeze(value);
      expect(again(before, outcome, nowMs)).toBe(again(before, outcome, nowMs));
    });
  });

  it('leads these lives through every state, so that none of the rules above is tested on nothing', () => {
    const seen = new Set<JobState>();
    const sample = fc.sample(lives, { numRuns: 2_000, seed: 7 });
    for (const turns of sample) {
      const { job } = live(jobWith({ deadlineAtMs: startMs + hourMs }), turns, () => {});
      for (const { state } of job.history) seen.add(state);
    }
    expect([...seen].sort()).toEqual(jobStates.toSorted());
  });
});

describe('every job ends', () => {
  const open = fc.oneof(openReadOutcomes, fc.constant<Outcome>({ kind: 'completed', word: 'completed', result: null }));

  it('at its first step 78 h after the deadline, or the next one if that finds it running, save for a missing result', () => {
    const awaitsResult = (decision: Decision, job: Job) => jobOf(decision, job).resultReads === 1;
    const states = fc.constantFrom<JobState>('submitting', 'queued', 'processing', 'overdue');
    fc.assert(
      fc.property(states, turnsWith(readOutcomes), turnsWith(readOutcomes), (state, first, second) => {
        const job = confirmedJob(state);
        const nowMs = job.deadlineAtMs + 78 * hourMs + first.lateMs;
        const decision = decide(job, needsCreate(job) ? first.create : first.read, nowMs, first.random);
        if (decision.kind === 'end' || awaitsResult(decision, job)) return;
        const overdue = jobOf(decision, job);
        ok(state !== 'overdue' && overdue.state === 'overdue', `${state} → ${overdue.state}`);
        const last = decide(overdue, second.read, decision.dueAtMs + second.lateMs, second.random);
        ok(last.kind === 'end' || awaitsResult(last, overdue), last.kind);
      }),
      { numRuns: 2_000 },
    );
  });

  it('also when no answer ever says so: by the deadline, 78 h, a last back-off and the one before the last read', () => {
    const cycles = fc.array(turnsWith(open), { minLength: 1, maxLength: 12 });
    const ends = (job: Job, cycle: readonly Turn[]) => {
      const turns = function* () {
        // Half a minute at least between two steps, so that 78 hours of throttling are not 280,000 turns.
        for (;;) for (const turn of cycle) yield { ...turn, lateMs: turn.lateMs + minuteMs / 2 };
      };
      const life = live(job, turns(), () => {});
      ok(life.ended);
      const lastBackoffMs = 1.1 * retryAfterMaxMs + 1;
      const latestMs = Math.max(...cycle.map(({ lateMs }) => lateMs)) + minuteMs;
      const resultReadsMs = 5 * (15 * minuteMs + latestMs);
      ok(life.nowMs <= job.deadlineAtMs + 78 * hourMs + 2 * (lastBackoffMs + latestMs) + resultReadsMs);
    };
    const states = fc.constantFrom<JobState>('waiting', 'queued', 'processing');
    fc.assert(
      fc.property(cycles, states, (cycle, state) => {
        const deadlineAtMs = startMs + hourMs;
        ends(state === 'waiting' ? jobWith({ deadlineAtMs }) : confirmedJob(state, { deadlineAtMs }), cycle);
      }),
      { numRuns: 400 },
    );
  });
});
