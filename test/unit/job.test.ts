import { describe, expect, it } from 'vitest';
import { enter, historyMax, isActive, type JobState, jobStates } from '../../lib/job.ts';
import { jobWith, startMs } from '../support/jobs.ts';

describe('a job', () => {
  it('starts waiting, with its first place in the history and the first revision', () => {
    expect(jobWith()).toMatchObject({
      state: 'waiting',
      provider: 'sume',
      createdAtMs: startMs,
      updatedAtMs: startMs,
      history: [{ atMs: startMs, state: 'waiting' }],
      failuresInRow: 0,
      missingReads: 0,
      resultReads: 0,
      priority: 5,
      revision: 1,
    });
    expect('estimatedMicros' in jobWith()).toBe(false);
  });

  it('is active in five states and has ended in the seven others', () => {
    const active: JobState[] = ['waiting', 'submitting', 'queued', 'processing', 'overdue'];
    expect(jobStates.filter(isActive)).toEqual(active);
    expect(jobStates).toHaveLength(12);
  });

  it('that enters a state keeps everything else, and the job it was stays as it was', () => {
    const before = Object.freeze(jobWith({ history: Object.freeze([]) as never }));
    const after = enter(before, 'queued', startMs + 5, 'queued');
    expect(after).toEqual({
      ...before,
      state: 'queued',
      updatedAtMs: startMs + 5,
      history: [{ atMs: startMs + 5, state: 'queued', reason: 'queued' }],
    });
    expect('finishedAtMs' in after).toBe(false);
    expect(enter(before, 'failed', startMs + 6).finishedAtMs).toBe(startMs + 6);
    expect('reason' in (enter(before, 'failed', startMs + 6).history[0] ?? {})).toBe(false);
  });

  it('keeps the newest fifty places of its history', () => {
    let job = jobWith();
    for (let nth = 1; nth <= 200; nth++) job = enter(job, nth % 2 === 0 ? 'waiting' : 'submitting', startMs + nth);
    expect(job.history).toHaveLength(historyMax);
    expect([job.history[0]?.atMs, job.history.at(-1)?.atMs]).toEqual([startMs + 151, startMs + 200]);
  });
});
