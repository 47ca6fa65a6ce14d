import { expect, it } from 'vitest';
import { Breaker } from '../../lib/breaker.ts';
import { Hand } from '../../lib/hand.ts';
import { enter, type Job } from '../../lib/job.ts';
import { SetClock } from '../../lib/set-clock.ts';
import { Workbench } from '../../lib/workbench.ts';
import { completed, confirmedJob, hourMs, running, startMs } from '../support/jobs.ts';
import { noNews, noNotes } from '../support/no-notes.ts';

it('news of a job that leaves the hand without a step are announced before it does: its drain may have died before that', async () => {
  const noted = { ...enter(confirmedJob('processing'), 'overdue', startMs), notBeforeMs: startMs + hourMs };
  const ended = enter(confirmedJob('processing'), 'completed', startMs);
  for (const [job, kind] of [[noted, 'due'] as const, [ended, 'remove'] as const]) {
    const clock = { nowMs: () => startMs, monotonicMs: () => 0, sleep: async () => {} };
    const setClock = new SetClock(clock.monotonicMs);
    setClock.observe(0, 0, startMs);
    const hand = new Hand(10_000);
    const announced: (readonly [Job['state'], boolean])[] = [];
    const announce = async ({ state, id }: Job) => void announced.push([state, hand.find(id)?.settle === null]);
    const ports = {
      ...{ clock, notes: noNotes, random: () => 0, news: { ...noNews, announce } },
      store: {
        get: async () => job,
        getMany: async () => ({ jobs: [job], broken: [], absent: [] }),
        update: async () => ({ kind: 'stale' }) as const,
      },
      provider: { create: async () => running(), read: async () => completed() },
      log: { info: () => {}, warn: () => {}, error: () => {} },
    };
    const settings = { concurrency: 1, createConcurrency: 1, tickMs: 1_000, leaseMs: 10_000 };
    const bench = new Workbench(ports, settings, hand, setClock, new Breaker(clock), () => {});
    bench.take([{ id: job.id, dueAtMs: startMs, token: String(startMs + 10_000 + 1 / 16), claims: 2 }]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(announced).toEqual([[job.state, true]]);
    expect(hand.find(job.id)?.settle?.kind).toBe(kind);
    bench.end();
  }
});
