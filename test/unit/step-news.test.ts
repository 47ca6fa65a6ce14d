import { describe, expect, it } from 'vitest';
import { AdmissionHold } from '../../lib/admission-hold.ts';
import { pendingEvents } from '../../lib/event.ts';
import { enter, type Job } from '../../lib/job.ts';
import { RunNews } from '../../lib/news.ts';
import type { CancelOutcome } from '../../lib/ports.ts';
import { type StepPorts, step } from '../../lib/step.ts';
import { completed, confirmedJob, jobWith, running, startMs } from '../support/jobs.ts';
import { noNews, noNotes } from '../support/no-notes.ts';

/** A record that takes every write, a provider that says `completed` to a read, and all that happens, in order. */
function watched({ cancel = { kind: 'told' } as CancelOutcome, create = running() as never, listens = true } = {}) {
  const acts: string[] = [];
  const stored: Job[] = [];
  const news = new RunNews({
    address: listens ? (job) => job : noNews.address,
    announce: async ({ state }) => void acts.push(`announce ${state}`),
  });
  const ports: StepPorts = {
    store: {
      get: async () => null,
      update: async (job) => {
        acts.push(`write ${job.state}`);
        stored.push(job);
        return { kind: 'updated', job: { ...job, revision: job.revision + 1 } };
      },
    },
    provider: {
      read: async () => {
        acts.push('read');
        return completed();
      },
      create: async () => {
        acts.push('create');
        return create;
      },
      cancel: async () => {
        acts.push('cancel');
        return cancel;
      },
    },
    hold: new AdmissionHold(),
    notes: noNotes,
    news,
    random: () => 0,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    inTurn: (write) => write(),
    nowMs: () => startMs,
  };
  return { ports, acts, stored };
}

describe('the news of a step', () => {
  it('is in the very write that ends the job, and is announced after it, before the id leaves the set', async () => {
    const { ports, acts, stored } = watched();
    const { settle } = await step(ports, confirmedJob('processing'), {}, () => {});
    expect(acts).toEqual(['read', 'write completed', 'announce completed']);
    expect(pendingEvents(stored[0] as Job).map(({ type }) => type)).toContain('job.completed');
    expect(settle).toEqual({ kind: 'remove' });
  });

  it('is not pending where nobody listens, and costs nothing more then', async () => {
    const { ports, acts, stored } = watched({ listens: false });
    await step(ports, confirmedJob('processing'), {}, () => {});
    expect(acts).toEqual(['read', 'write completed']);
    expect(stored[0]?.events.at(-1)).toMatchObject({ type: 'job.completed' });
    expect(pendingEvents(stored[0] as Job)).toEqual([]);
  });

  it('that an earlier drain wrote and did not live to announce is announced by the next one, once in a run', async () => {
    const { ports, acts } = watched({ cancel: { kind: 'told' } });
    const overdue = enter(confirmedJob('processing'), 'overdue', startMs);
    await step(ports, overdue, {}, () => {});
    expect(acts[0]).toBe('announce overdue');
    await step(ports, overdue, {}, () => {});
    expect(acts.filter((act) => act === 'announce overdue')).toHaveLength(1);
  });
});

describe('a write that went through, whose reply was lost', () => {
  it('is known as its own though deliver has written the record since: what was heard counts once', async () => {
    const { ports } = watched();
    const fault = { code: 'not_found', message: 'No such job.' };
    let stored = enter(confirmedJob('processing'), 'overdue', startMs);
    const update = async (job: Job) => {
      // Written, not heard of; then deliver noted the deliveries; then the same request came again.
      const { pending: _, ...event } = job.events.at(-1) as Job['events'][number];
      const events = [...job.events.slice(0, -1), { ...event, deliveries: ['dlv_a'] }];
      if (job.revision === stored.revision) stored = { ...job, events, revision: job.revision + 2 };
      return { kind: 'stale' } as const;
    };
    const provider = { ...ports.provider, read: async () => ({ kind: 'missing', fault }) as const };
    const store = { update, get: async () => stored };
    const { job } = await step({ ...ports, store, provider }, stored, {}, () => {});
    expect(job).toMatchObject({ missingReads: 1, revision: stored.revision });
  });
});

describe('a job that its owner wants canceled', () => {
  it('is canceled at the provider by one call, and read soon: the read tells what came of it', async () => {
    const { ports, acts, stored } = watched();
    const asked = { ...confirmedJob('processing'), cancelAskedAtMs: startMs };
    const { settle, job } = await step(ports, asked, {}, () => {});
    expect(acts).toEqual(['cancel', 'write processing']);
    expect(stored[0]?.cancelSentAtMs).toBe(startMs);
    expect(settle).toEqual({ kind: 'due', atMs: startMs + 2_000 });
    await step(ports, job as Job, {}, () => {});
    expect(acts.slice(2)).toEqual(['read', 'write completed', 'announce completed']);
  });

  it('is asked for again when the call failed: the state is the provider’s to tell', async () => {
    const fault = { code: 'timeout', message: 'No answer.' };
    const { ports, stored } = watched({ cancel: { kind: 'trouble', fault, retryAfterMs: null } });
    const { settle } = await step(ports, { ...confirmedJob('queued'), cancelAskedAtMs: startMs }, {}, () => {});
    expect(stored[0]).toMatchObject({ state: 'queued', failuresInRow: 1 });
    expect(stored[0]?.cancelSentAtMs).toBeUndefined();
    expect(settle.kind).toBe('due');
  });

  it('while its create is under way, ends unsent when the provider turned that away', async () => {
    const fault = { code: 'no_slot', message: 'Full.' };
    const { ports, stored } = watched({ create: { kind: 'no_slot', fault, retryAfterMs: null } as never });
    await step(ports, { ...jobWith({ state: 'waiting' }), cancelAskedAtMs: startMs }, {}, () => {});
    expect(stored.map(({ state }) => state)).toEqual(['submitting', 'canceled']);
  });

  it('while its create is under way, is canceled right after the provider has taken it', async () => {
    const accepted = { kind: 'accepted', providerJobId: 'job_1', phase: 'queued', hintMs: 15_000 };
    const { ports, acts } = watched({ create: accepted as never });
    const asked = { ...jobWith({ state: 'submitting' }), cancelAskedAtMs: startMs };
    const { settle, job } = await step(ports, asked, {}, () => {});
    expect(settle).toEqual({ kind: 'due', atMs: startMs });
    await step(ports, job as Job, {}, () => {});
    expect(acts).toContain('cancel');
  });
});
