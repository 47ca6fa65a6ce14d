import { expect, it } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import type { Job } from '../../lib/job.ts';
import { enter } from '../../lib/job.ts';
import { type MakeOutPorts, makeOut } from '../../lib/webhooks/make-out.ts';
import { jobWith, startMs } from '../support/jobs.ts';

it('a fault of our own in one job’s events leaves those of the jobs beside it alone', async () => {
  const jobs = ['good', 'bad', 'broken', 'slow'].map((owner) =>
    enter(jobWith({ id: owner, owner }), 'completed', startMs),
  );
  const noted: Job[] = [];
  const errors: string[] = [];
  const ports: MakeOutPorts = {
    store: {
      get: async () => null,
      getMany: async () => ({ jobs, broken: [], absent: [] }),
      update: async (job) => {
        noted.push(job);
        return { kind: 'updated', job };
      },
    },
    endpoints: {
      get: async () => null,
      create: async () => ({ kind: 'created' }),
      list: async (owner) => {
        if (owner === 'bad') throw new TypeError('no such thing');
        if (owner !== 'good') throw new JobStoreError('The endpoint can’t be read.', owner === 'broken');
        return [];
      },
    },
    deliveries: { create: async () => {} },
    dueSet: { schedule: async () => ({ added: 0, wake: false }) },
    clock: { nowMs: () => startMs },
    newSecret: () => 'whsec_',
    bus: false,
    log: { info: () => {}, warn: () => {}, error: (event) => void errors.push(event) },
  };
  const { settle } = await makeOut(
    ports,
    jobs.map(({ id }) => id),
  );
  expect(Object.fromEntries(settle)).toEqual({
    good: { kind: 'remove' },
    bad: { kind: 'due', delayMs: 60_000 },
    broken: { kind: 'due', delayMs: 600_000 },
    slow: { kind: 'due', delayMs: 5_000 },
  });
  expect(noted.map(({ id }) => id)).toEqual(['good']);
  expect(errors).toEqual(['make_out_crashed']);
});
