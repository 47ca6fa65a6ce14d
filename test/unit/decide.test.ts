import { describe, expect, it } from 'vitest';
import { type Decision, decide, expireUnsent, missingReadsMin, resultReadsMax } from '../../lib/decide.ts';
import type { Job } from '../../lib/job.ts';
import type { Outcome } from '../../lib/outcome.ts';
import {
  completed,
  confirmedJob,
  denied,
  faultOf,
  hourMs,
  jobWith,
  minuteMs,
  missing,
  running,
  secondMs,
  someResult,
  startMs,
  throttled,
  trouble,
} from '../support/jobs.ts';

const processing = confirmedJob('processing', { providerStatus: 'processing' });
const { deadlineAtMs } = processing;

function written(decision: Decision): Job {
  if (decision.kind === 'keep') throw new Error('expected a write, got keep');
  return decision.job;
}

describe('a create call', () => {
  const submitting = jobWith({ state: 'submitting', failuresInRow: 2 });
  const accepted: Outcome = {
    kind: 'accepted',
    providerJobId: 'job_sume_9',
    phase: 'queued',
    word: 'queued',
    hintMs: 30_000,
    usage: { status: 'reserved', reservedMicros: 1_512_000 },
  };

  it('that is accepted leaves the provider’s id, word and price, and the first read is due as told', () => {
    const decision = decide(submitting, accepted, startMs + 500, 0.9);
    expect(decision).toMatchObject({ kind: 'change', dueAtMs: startMs + 500 + 30_000 });
    expect(written(decision)).toMatchObject({
      state: 'queued',
      providerJobId: 'job_sume_9',
      providerStatus: 'queued',
      submittedAtMs: startMs + 500,
      failuresInRow: 0,
      usage: { status: 'reserved', reservedMicros: 1_512_000 },
    });
  });

  it('that is refused ends the job as rejected, with the reason', () => {
    const decision = decide(submitting, { kind: 'refused', fault: faultOf('invalid_model') }, startMs, 0);
    expect(decision.kind).toBe('end');
    expect(written(decision)).toMatchObject({ state: 'rejected', lastFault: { code: 'invalid_model' } });
    expect(written(decision).history.at(-1)).toEqual({ atMs: startMs, state: 'rejected', reason: 'invalid_model' });
  });

  it('without a free slot puts the job back to waiting, for as long as the provider says', () => {
    const first = jobWith({ state: 'submitting' });
    const full = { kind: 'no_slot', retryAfterMs: 20_000, fault: faultOf('no_capacity') } as const;
    const decision = decide(first, full, startMs, 0);
    expect(decision).toMatchObject({ kind: 'change', dueAtMs: startMs + 20_000, job: { state: 'waiting' } });
    expect(decide(jobWith(), full, startMs, 0)).toMatchObject({ job: { state: 'waiting', history: [{}] } });
  });

  it('whose end nobody knows leaves the job submitting, also past the deadline: it may be rendering', () => {
    const late = deadlineAtMs + hourMs;
    expect(decide(submitting, trouble(), late, 0)).toMatchObject({
      kind: 'change',
      dueAtMs: late + 120_000,
      job: { state: 'submitting', failuresInRow: 3 },
    });
  });

  it('that is accepted after the deadline makes the job overdue at once, with its id kept', () => {
    const decision = decide(submitting, accepted, deadlineAtMs + 1, 0);
    expect(decision).toMatchObject({ kind: 'change', dueAtMs: deadlineAtMs + hourMs });
    expect(written(decision)).toMatchObject({ state: 'overdue', providerJobId: 'job_sume_9' });
    expect(written(decision).history.map(({ state }) => state)).toEqual(['waiting', 'queued', 'overdue']);
  });

  it('that is accepted shortly before a seldom read is not read before the provider said', () => {
    const nowMs = deadlineAtMs + hourMs - 1_000;
    const decision = decide(submitting, { ...accepted, hintMs: 5 * minuteMs }, nowMs, 0);
    expect(decision).toMatchObject({ kind: 'change', dueAtMs: nowMs + 5 * minuteMs, job: { state: 'overdue' } });
  });
});

describe('a job that was never sent', () => {
  it('expires when its deadline comes, not a millisecond before', () => {
    expect(expireUnsent(jobWith(), deadlineAtMs - 1)).toBeNull();
    expect(expireUnsent(jobWith(), deadlineAtMs)).toMatchObject({
      kind: 'end',
      job: { state: 'expired', finishedAtMs: deadlineAtMs, lastFault: { code: 'deadline_passed' } },
    });
    expect(expireUnsent(jobWith({ state: 'submitting' }), deadlineAtMs)).toBeNull();
  });

  it('is looked at once when its deadline comes, however long the provider told it to wait', () => {
    const full: Outcome = { kind: 'no_slot', retryAfterMs: hourMs, fault: faultOf('no_capacity') };
    const nearEndMs = deadlineAtMs - minuteMs;
    expect(decide(jobWith(), full, nearEndMs, 0)).toMatchObject({ dueAtMs: deadlineAtMs });
  });
});

describe('a status read that finds nothing new', () => {
  it('is not worth a write', () => {
    expect(decide(processing, running(), startMs, 0)).toEqual({ kind: 'keep', dueAtMs: startMs + 15_000 });
    const wordless = decide(processing, { kind: 'running', phase: 'processing', hintMs: 1 }, startMs, 0);
    expect(wordless).toEqual({ kind: 'keep', dueAtMs: startMs + 1_000 });
  });

  it('is due at the deadline when that comes before the provider’s time', () => {
    const decision = decide(processing, running({ hintMs: 10 * secondMs }), deadlineAtMs - 2_000, 0);
    expect(decision).toEqual({ kind: 'keep', dueAtMs: deadlineAtMs });
  });

  it('is written when it ends a row of failures, and the last fault stays to be seen', () => {
    const failing = written(decide(processing, trouble('http_502'), startMs, 0));
    const decision = decide(failing, running(), startMs + minuteMs, 0);
    expect(written(decision)).toMatchObject({ failuresInRow: 0, lastFault: { code: 'http_502' } });
  });

  it('is written when the word or the phase is another', () => {
    expect(written(decide(processing, running({ word: 'upscaling' }), startMs, 0)).providerStatus).toBe('upscaling');
    const started = decide(confirmedJob('queued', { providerStatus: 'queued' }), running(), startMs + 1, 0);
    expect(written(started)).toMatchObject({ state: 'processing', updatedAtMs: startMs + 1 });
  });
});

describe('a fault that says nothing about the render', () => {
  it('T43 five times over moves the due time further each time, and the good answer then completes the job', () => {
    let job = processing;
    const waits: number[] = [];
    for (let nth = 0; nth < 5; nth++) {
      const decision = decide(job, trouble('invalid_answer'), startMs, 0);
      if (decision.kind !== 'change') throw new Error(decision.kind);
      waits.push(decision.dueAtMs - startMs);
      job = decision.job;
      expect(job.state).toBe('processing');
    }
    expect(waits).toEqual([30_000, 60_000, 120_000, 240_000, 480_000]);
    expect(written(decide(job, completed(), startMs, 0))).toMatchObject({ state: 'completed', result: someResult });
  });

  it('waits for as long as a 429 says; a long wait is noted in the record, for a due set that is lost meanwhile', () => {
    expect(decide(processing, throttled(30_000), startMs, 0)).toEqual({ kind: 'keep', dueAtMs: startMs + 30_000 });
    const dueAtMs = startMs + 60_000;
    const noted = decide(processing, throttled(60_000), startMs, 0);
    expect(noted).toMatchObject({ kind: 'change', dueAtMs, job: { state: 'processing', notBeforeMs: dueAtMs } });
    expect(decide(processing, throttled(), startMs, 0.9)).toMatchObject({ kind: 'keep' });
    const hinted = decide(processing, running({ hintMs: 300_000 }), startMs, 0);
    expect(hinted).toMatchObject({ kind: 'change', job: { notBeforeMs: startMs + 300_000 } });
  });

  it('is not rejected by a repeated create: an earlier call, whose end nobody knows, may have made a clip', () => {
    const sent = jobWith({ state: 'submitting' });
    const refused: Outcome = { kind: 'refused', fault: faultOf('invalid_request') };
    expect(decide(sent, refused, startMs, 0)).toMatchObject({ kind: 'end', job: { state: 'rejected' } });
    const again = decide(sent, { ...refused, repeated: true }, startMs, 0);
    expect(again).toMatchObject({ kind: 'change', job: { state: 'submitting', failuresInRow: 1 } });
  });

  it('T46 is kept with its code and the provider’s request id, once for the same code', () => {
    const outcome: Outcome = {
      kind: 'denied',
      fault: { ...faultOf('insufficient_credits'), providerRequestId: 'req_77' },
    };
    const first = decide(processing, outcome, startMs, 0);
    const fault = { code: 'insufficient_credits', providerRequestId: 'req_77', atMs: startMs };
    expect(first).toMatchObject({ kind: 'change', dueAtMs: startMs + minuteMs, job: { lastFault: fault } });
    const second = decide(written(first), denied(), startMs + minuteMs, 0.5);
    expect(second).toEqual({ kind: 'keep', dueAtMs: startMs + minuteMs + 75_000 });
  });

  it('does not stop our own clock: past the deadline the job is overdue all the same', () => {
    for (const outcome of [trouble(), throttled(), denied(), missing()]) {
      const decision = decide(processing, outcome, deadlineAtMs, 0);
      expect(decision).toMatchObject({ kind: 'change', job: { state: 'overdue' }, dueAtMs: deadlineAtMs + hourMs });
    }
    const nowMs = deadlineAtMs + hourMs - 1_000;
    expect(decide(processing, throttled(10 * minuteMs), nowMs, 0)).toMatchObject({ dueAtMs: nowMs + 10 * minuteMs });
  });
});

describe('404s', () => {
  /** Reads that find nothing, `gapMs` apart; the last decision. */
  function misses(count: number, gapMs: number): Decision {
    let job = processing;
    for (let nth = 0; ; nth++) {
      const decision = decide(job, missing(), startMs + nth * gapMs, 0);
      if (nth + 1 === count) return decision;
      job = written(decision);
    }
  }

  it('five over ten minutes make a job lost; fewer, or sooner, do not', () => {
    expect(misses(missingReadsMin, 150_000)).toMatchObject({ kind: 'end', job: { state: 'lost', missingReads: 5 } });
    expect(misses(missingReadsMin - 1, hourMs).kind).toBe('change');
    expect(misses(missingReadsMin, 149_999).kind).toBe('change');
    expect(misses(40, 10_000).kind).toBe('change');
  });

  it('between two good reads are nothing: the count starts anew', () => {
    const missed = written(misses(4, 150_000));
    const found = written(decide(missed, running(), startMs + hourMs, 0));
    expect(found).toMatchObject({ missingReads: 0, state: 'processing' });
    expect('missingSinceMs' in found).toBe(false);
  });
});

describe('completed without a result', () => {
  it('is never a success: after five reads the job failed, with result_missing', () => {
    let job = processing;
    for (let nth = 1; nth < resultReadsMax; nth++) {
      const decision = decide(job, completed(null), startMs, 0);
      expect(decision).toMatchObject({ kind: 'change', job: { state: 'processing', resultReads: nth } });
      job = written(decision);
    }
    const last = decide(job, completed(null), startMs, 0);
    expect(last).toMatchObject({ kind: 'end', job: { state: 'failed', lastFault: { code: 'result_missing' } } });
    expect('result' in written(last)).toBe(false);
  });

  it('is a success when the result comes with the last of the reads', () => {
    const job = { ...processing, resultReads: resultReadsMax - 1 };
    expect(written(decide(job, completed(), startMs, 0))).toMatchObject({ state: 'completed', resultReads: 0 });
  });
});

describe('an overdue job', () => {
  it('is read 1, 6, 24 and 72 hours after its deadline, then given up', () => {
    const dueHours: number[] = [];
    let decision = decide(processing, running(), deadlineAtMs, 0);
    let job = written(decision);
    while (decision.kind !== 'end') {
      dueHours.push((decision.dueAtMs - deadlineAtMs) / hourMs);
      decision = decide(job, running(), decision.dueAtMs, 0);
      if (decision.kind !== 'keep') job = decision.job;
    }
    expect(dueHours).toEqual([1, 6, 24, 72]);
    expect(decision.job).toMatchObject({ state: 'given_up', finishedAtMs: deadlineAtMs + 72 * hourMs });
    expect(decision.job.history.map(({ state }) => state).slice(-2)).toEqual(['overdue', 'given_up']);
  });

  it('has one read left at least, however late it becomes overdue', () => {
    const nowMs = deadlineAtMs + 500 * hourMs;
    for (const outcome of [running(), trouble('http_502'), throttled(), denied(), missing()]) {
      const decision = decide(processing, outcome, nowMs, 0);
      if (decision.kind !== 'change') throw new Error(decision.kind);
      expect(decision.job.state).toBe('overdue');
      expect(decision.dueAtMs - nowMs).toBeLessThanOrEqual(minuteMs);
      const { job, dueAtMs } = decision;
      expect(decide(job, completed(), dueAtMs, 0)).toMatchObject({ kind: 'end', job: { state: 'completed' } });
      for (const last of [running(), trouble()]) {
        expect(decide(job, last, dueAtMs, 0)).toMatchObject({ kind: 'end', job: { state: 'given_up' } });
      }
    }
  });

  it('that completes late is still a success', () => {
    const overdue = confirmedJob('overdue');
    expect(decide(overdue, completed(), deadlineAtMs + 72 * hourMs, 0)).toMatchObject({
      kind: 'end',
      job: { state: 'completed', result: someResult },
    });
  });

  it('that fails, is canceled or expires late is that, in the provider’s word', () => {
    for (const as of ['failed', 'canceled', 'expired'] as const) {
      const decision = decide(confirmedJob('overdue'), { kind: 'ended', as, word: `${as}!` }, deadlineAtMs, 0);
      expect(decision).toMatchObject({ kind: 'end', job: { state: as, providerStatus: `${as}!` } });
    }
  });

  it('whose reads only meet faults is tried for six hours more', () => {
    const overdue = confirmedJob('overdue');
    const graceEndMs = deadlineAtMs + 78 * hourMs;
    expect(decide(overdue, trouble(), graceEndMs - 1, 0)).toMatchObject({ kind: 'change', job: { state: 'overdue' } });
    expect(decide(overdue, trouble(), graceEndMs, 0)).toMatchObject({ kind: 'end', job: { state: 'given_up' } });
    expect(decide(overdue, throttled(), graceEndMs, 0)).toMatchObject({ kind: 'end', job: { state: 'given_up' } });
  });
});
