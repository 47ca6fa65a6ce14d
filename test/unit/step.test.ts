import { describe, expect, it } from 'vitest';
import { AdmissionHold } from '../../lib/admission-hold.ts';
import { JobStoreError } from '../../lib/errors.ts';
import type { Job } from '../../lib/job.ts';
import { RunNews } from '../../lib/news.ts';
import type { Outcome } from '../../lib/outcome.ts';
import { type StepPorts, step } from '../../lib/step.ts';
import { completed, confirmedJob, minuteMs, running, startMs } from '../support/jobs.ts';
import { noNews, noNotes } from '../support/no-notes.ts';

/** A provider that says one thing, and a record that takes every write, or none. */
function portsThat(says: Outcome, { writes = true } = {}) {
  const acts: string[] = [];
  const ports: StepPorts = {
    store: {
      get: async () => null,
      update: async (job: Job) => {
        acts.push(`write ${job.state}`);
        if (!writes) throw new JobStoreError('DynamoDB is away.');
        return { kind: 'updated', job: { ...job, revision: job.revision + 1 } };
      },
    },
    provider: {
      read: async () => says,
      create: async () => {
        acts.push('create');
        return says;
      },
    },
    hold: new AdmissionHold(),
    notes: noNotes,
    news: new RunNews(noNews),
    random: () => 0,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    inTurn: (write) => write(),
    nowMs: () => startMs,
  };
  return { ports, acts };
}

describe('a step whose write fails', () => {
  it('leaves an ended job in the due set: its end is not durable yet', async () => {
    const { ports } = portsThat(completed(), { writes: false });
    const { settle, job } = await step(ports, confirmedJob('processing'), {}, () => {});
    expect(settle).toEqual({ kind: 'due', atMs: startMs + 15_000 });
    expect(job).toBeNull();
  });

  it('keeps to what the provider asked for: the answer is lost, the wait is not', async () => {
    const { ports } = portsThat(running({ hintMs: 5 * minuteMs }), { writes: false });
    const { settle } = await step(ports, confirmedJob('queued'), {}, () => {});
    expect(settle).toEqual({ kind: 'due', atMs: startMs + 5 * minuteMs });
  });

  it('keeps to it also when the race for the record was lost and the record can’t be read', async () => {
    const { ports } = portsThat(running({ hintMs: 5 * minuteMs }));
    const get = async () => {
      throw new JobStoreError('DynamoDB is away.');
    };
    const store = { get, update: async () => ({ kind: 'stale' }) as const };
    const { settle } = await step({ ...ports, store }, confirmedJob('queued'), {}, () => {});
    expect(settle).toEqual({ kind: 'due', atMs: startMs + 5 * minuteMs });
  });

  it('waits for its turn, and is not made once the run has ended', async () => {
    const { ports, acts } = portsThat(completed());
    const { settle } = await step({ ...ports, inTurn: async () => null }, confirmedJob('processing'), {}, () => {});
    expect(settle).toEqual({ kind: 'due', atMs: startMs + 15_000 });
    expect(acts).toEqual([]);
  });
});

describe('a job that was found as submitting', () => {
  it('is written before it is sent again, so that an earlier sender’s late word is stale', async () => {
    const accepted = { kind: 'accepted', providerJobId: 'job_1', phase: 'queued', hintMs: 5_000 } as const;
    const { ports, acts } = portsThat(accepted);
    await step(ports, confirmedJob('submitting'), {}, () => {});
    expect(acts).toEqual(['write submitting', 'create', 'write queued']);
  });
});
