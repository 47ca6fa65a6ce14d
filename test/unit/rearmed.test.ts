import { describe, expect, it } from 'vitest';
import { decide } from '../../lib/decide.ts';
import { overdueGraceMs, overdueReadsMs } from '../../lib/due.ts';
import { rearmed } from '../../lib/job.ts';
import { completed, confirmedJob, hourMs, running, trouble } from '../support/jobs.ts';

const givenUp = confirmedJob('given_up', { missingReads: 3, failuresInRow: 9, finishedAtMs: 1 });
const { deadlineAtMs } = givenUp;
/** Long after the last of its seldom reads. */
const nowMs = deadlineAtMs + 500 * hourMs;
const job = rearmed(givenUp, nowMs);
const lastReadMs = overdueReadsMs.at(-1) ?? 0;

describe('a given-up job that was asked for again', () => {
  it('is overdue with its deadline as it was, and nothing counted against it', () => {
    expect(job).toMatchObject({
      state: 'overdue',
      deadlineAtMs,
      rearmedAtMs: nowMs,
      missingReads: 0,
      failuresInRow: 0,
    });
    expect(job).not.toHaveProperty('finishedAtMs');
    expect(job.history.at(-1)).toEqual({ atMs: nowMs, state: 'overdue', reason: 'rearmed' });
  });

  it('that is still running gets all its seldom reads once more, then is given up again', () => {
    const reads = overdueReadsMs.map((afterMs) => nowMs + afterMs);
    let atMs = nowMs;
    for (const next of reads) {
      const decision = decide(job, running(), atMs, 0);
      expect(decision).toMatchObject({ kind: 'change', dueAtMs: next });
      atMs = next;
    }
    expect(decide(job, running(), atMs, 0)).toMatchObject({ kind: 'end', job: { state: 'given_up' } });
  });

  it('is tried again after a fault, as long as its reads and the grace after them last', () => {
    const endMs = nowMs + lastReadMs + overdueGraceMs;
    expect(decide(job, trouble(), endMs - 1, 0).kind).toBe('change');
    expect(decide(job, trouble(), endMs, 0)).toMatchObject({ kind: 'end', job: { state: 'given_up' } });
  });

  it('completes, late as it is', () => {
    expect(decide(job, completed(), nowMs + 1, 0)).toMatchObject({ kind: 'end', job: { state: 'completed' } });
  });
});
