import { describe, expect, it } from 'vitest';
import { AdmissionHold } from '../../lib/admission-hold.ts';
import { Breaker } from '../../lib/breaker.ts';
import { cancel as wish } from '../../lib/cancel.ts';
import { isActive, type Job } from '../../lib/job.ts';
import { RunNews } from '../../lib/news.ts';
import type { CancelOutcome } from '../../lib/ports.ts';
import { type StepPorts, step } from '../../lib/step.ts';
import { completed, confirmedJob, faultOf, minuteMs, running, startMs } from '../support/jobs.ts';
import { noNews, noNotes } from '../support/no-notes.ts';

const neverLooked = () => Promise.reject(new Error('Without a queue there is nothing to look at.'));

/** A job that its owner wants canceled, stepped until it ends: each cancel comes to this, and the render is done after an hour. */
async function endOf(cancel: CancelOutcome, given: Partial<Job> = {}, isRepeated = false) {
  let nowMs = startMs;
  let job: Job | null = { ...confirmedJob('processing'), cancelAskedAtMs: startMs, ...given };
  const calls: string[] = [];
  const breaker = new Breaker({ monotonicMs: () => nowMs });
  const news = new Set<string | undefined>();
  const provider = breaker.listenTo({
    create: async () => running(),
    read: async () => (nowMs < startMs + 60 * minuteMs ? running({ hintMs: 15_000 }) : completed()),
    cancel: async () => cancel,
  });
  const call = (name: 'read' | 'cancel') => (of: Job) => {
    calls.push(name);
    return provider[name]?.(of) as never;
  };
  let stored: Job = job;
  const ports: StepPorts = {
    store: {
      get: async () => stored,
      update: async (next) => {
        stored = { ...next, revision: next.revision + 1 };
        return { kind: 'updated', job: stored };
      },
    },
    provider: { create: async () => running(), read: call('read'), cancel: call('cancel') },
    hold: new AdmissionHold(),
    ...{ notes: noNotes, news: new RunNews(noNews), random: () => 0, nowMs: () => nowMs },
    log: { info: () => {}, warn: () => {}, error: () => {} },
    inTurn: (write) => write(),
  };
  const again = () =>
    wish(
      {
        store: ports.store,
        queues: new Map(),
        view: { look: neverLooked },
        news: noNews,
        clock: { nowMs: () => nowMs, sleep: async () => {} },
        log: ports.log,
      },
      stored,
    );
  while (isActive(stored.state) && calls.length < 2_000) {
    if (isRepeated) job = (await again()).job;
    const { settle } = await step(ports, job ?? stored, {}, () => {});
    news.add(breaker.news?.kind);
    job = stored;
    if (settle.kind === 'due') nowMs = settle.atMs;
  }
  return { job: stored, calls, news: [...news] };
}

describe('a cancel that the provider never takes', () => {
  const fault = faultOf('not_found');
  const trouble: CancelOutcome = { kind: 'trouble', fault, retryAfterMs: null };

  it.each<[string, CancelOutcome]>([
    ['with a 404', { kind: 'missing', fault }],
    ['with a 403', { kind: 'denied', fault }],
    ['with a 500', trouble],
    ['with a 429', { kind: 'throttled', fault, retryAfterMs: 2_000 }],
  ])('%s takes turns with reads: the job ends as the provider says, and is not lost for it', async (_, outcome) => {
    const { job, calls, news } = await endOf(outcome);
    expect([job.state, calls[0], job.cancelSentAtMs]).toEqual(['completed', 'cancel', undefined]);
    expect(calls.filter((name) => name === 'cancel').length).toBeGreaterThan(20);
    expect(calls.filter((name) => name === 'read').length).toBeGreaterThan(20);
    expect(news).toEqual([undefined]);
  });

  it('of an overdue job is not left until its next read, hours later', async () => {
    const { calls } = await endOf(trouble, { state: 'overdue', deadlineAtMs: startMs - 2 * 60 * minuteMs });
    expect(calls.filter((name) => name === 'cancel').length).toBeGreaterThan(20);
  });

  it('that is asked for again at every moment is sent again: no read comes early for it', async () => {
    expect(new Set((await endOf(trouble, {}, true)).calls)).toEqual(new Set(['cancel']));
  });

  it('comes first, whatever failed in a read before it', async () => {
    const before = { ...faultOf('timeout'), atMs: startMs + 1 };
    for (const failures of [{ failuresInRow: 1 }, { missingReads: 2, missingSinceMs: startMs - minuteMs }])
      expect((await endOf(trouble, { ...failures, lastFault: before })).calls[0]).toBe('cancel');
  });
});
