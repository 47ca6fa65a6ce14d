import { expect, it } from 'vitest';
import { AdmissionHold } from '../../lib/admission-hold.ts';
import type { Job } from '../../lib/job.ts';
import { RunNews } from '../../lib/news.ts';
import type { Call, Provider } from '../../lib/ports.ts';
import type { StepPorts } from '../../lib/step.ts';
import { stepSuspect } from '../../lib/suspect.ts';
import { confirmedJob, jobWith, running, startMs } from '../support/jobs.ts';
import { noNews, noNotes } from '../support/no-notes.ts';

/** One job in a record that takes every write, and a provider. */
function portsOf(job: Job, provider: Partial<Provider>) {
  const record = { job };
  const silent: Provider = { create: async () => running(), read: async () => running() };
  const ports: StepPorts = {
    store: {
      get: async () => record.job,
      update: async (next: Job) => {
        if (next.revision !== record.job.revision) return { kind: 'stale' };
        record.job = { ...next, revision: next.revision + 1 };
        return { kind: 'updated', job: record.job };
      },
    },
    provider: { ...silent, ...provider },
    hold: new AdmissionHold(),
    notes: noNotes,
    news: new RunNews(noNews),
    random: () => 0,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    inTurn: (write) => write(),
    nowMs: () => startMs,
  };
  return { ports, record };
}

it('a suspect is marked while it is worked, and no longer once its step has ended', async () => {
  let during: number | undefined;
  const { ports, record } = portsOf(confirmedJob('processing'), {
    read: async () => {
      during = record.job.suspectedAtMs;
      return running();
    },
  });
  await stepSuspect(ports, record.job, {});
  expect([during, record.job.suspectedAtMs]).toEqual([startMs, undefined]);
});

it.each([confirmedJob('processing'), jobWith()])(
  'a $state suspect whose lease was lost under way has not killed its drain: its mark is taken back',
  async (job) => {
    const call: Call = {};
    const lose = async () => {
      call.lost = true;
      return running();
    };
    const { ports, record } = portsOf(job, { read: lose, create: lose });
    const { parked = false, job: left } = await stepSuspect(ports, job, call);
    expect({ parked, left, mark: record.job.suspectedAtMs }).toEqual({ parked: false, left: null, mark: undefined });
  },
);
