import { describe, expect, it } from 'vitest';
import { billedMicros, CostTally, dayEndMs, dayOf } from '../../lib/cost.ts';
import type { Job, Usage } from '../../lib/job.ts';
import { confirmedJob, hourMs, jobWith, startMs } from '../support/jobs.ts';

describe('what was billed', () => {
  it.each<[string, Usage | undefined, number | null]>([
    ['nothing told', undefined, null],
    ['nothing told but a word', { status: 'unheard_of' }, null],
    ['reserved', { status: 'reserved', reservedMicros: 7 }, null],
    ['reserved, nothing captured yet', { status: 'RESERVED', reservedMicros: 7, capturedMicros: 0 }, null],
    ['captured', { status: 'captured', capturedMicros: 7, billableMicros: 9 }, 7],
    ['captured, without a word', { capturedMicros: 7 }, 7],
    ['captured, without an amount', { status: 'captured' }, null],
    ['captured, as billable only', { status: 'Captured', billableMicros: 9 }, 9],
    ['captured, and refunded in part', { status: 'captured', capturedMicros: 7, refundedMicros: 3 }, 4],
    ['captured, and refunded', { status: 'refunded', capturedMicros: 7, refundedMicros: 7 }, 0],
    ['a reservation refunded', { status: 'refunded', capturedMicros: 0, refundedMicros: 7 }, 0],
    ['refunded, without amounts', { status: 'refunded' }, 0],
    ['billable only, without a word', { billableMicros: 9 }, null],
  ])('is known or not: %s', (_, usage, billed) => {
    expect(billedMicros(usage)).toBe(billed);
  });
});

describe('a day', () => {
  it('is the UTC one, and ends where the next begins', () => {
    expect(dayOf(startMs)).toBe('2026-09-21');
    const endMs = dayEndMs('2026-09-21');
    expect([dayOf(endMs - 1), dayOf(endMs)]).toEqual(['2026-09-21', '2026-09-22']);
    expect(dayEndMs('2028-02-28') + 1).toBe(Date.parse('2028-02-29T00:00:00.001Z'));
  });
});

describe('a tally', () => {
  const ended = (given: Partial<Job>) => confirmedJob('completed', { finishedAtMs: startMs, ...given });
  const captured = { estimatedMicros: 10, usage: { capturedMicros: 9 } };

  it('adds up the jobs that ended, by day, account and owner, and is then empty', () => {
    const tally = new CostTally();
    tally.ended(ended(captured));
    tally.ended(ended({ ...captured, state: 'failed', usage: { status: 'refunded' } }));
    tally.ended(ended({ owner: 'globex', ...captured }));
    tally.ended(ended({ account: 'studio', ...captured }));
    tally.ended(ended({ finishedAtMs: startMs + 10 * hourMs, ...captured }));
    const acme = { day: '2026-09-21', account: 'sume', owner: 'acme' };
    const one = { jobs: 1, estimatedMicros: 10, billedMicros: 9 };
    expect(tally.take()).toEqual([
      { ...acme, jobs: 2, estimatedMicros: 20, billedMicros: 9 },
      { ...acme, owner: 'globex', ...one },
      { ...acme, account: 'studio', ...one },
      { ...acme, day: '2026-09-22', ...one },
    ]);
    expect(tally.take()).toEqual([]);
  });

  it('counts a job whose money is not known as a job, and one that was given up not at all', () => {
    const tally = new CostTally();
    tally.ended(jobWith({ state: 'expired', finishedAtMs: startMs }));
    tally.ended(ended({ ...captured, state: 'given_up' }));
    expect(tally.take()).toMatchObject([{ jobs: 1, estimatedMicros: 0, billedMicros: 0 }]);
  });
});
