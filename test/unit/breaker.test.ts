import { describe, expect, it } from 'vitest';
import { Breaker } from '../../lib/breaker.ts';
import type { Outcome } from '../../lib/outcome.ts';
import type { Call } from '../../lib/ports.ts';
import { denied, jobWith, running, trouble } from '../support/jobs.ts';

function setUp() {
  const at = { nowMs: 0 };
  const breaker = new Breaker({ monotonicMs: () => at.nowMs });
  let next: Outcome = trouble();
  const provider = breaker.listenTo({ read: async () => next, create: async () => next });
  const hear = async (outcome: Outcome, times = 1, call: Call = {}) => {
    next = outcome;
    for (let i = 0; i < times; i++) await provider.read(jobWith(), call);
  };
  const create = async (outcome: Outcome, times: number) => {
    next = outcome;
    for (let i = 0; i < times; i++) await provider.create(jobWith());
  };
  return { at, breaker, hear, create };
}

describe('a drain’s breaker', () => {
  it('T49 tells of failures after ten in a row over three seconds, or fifty at once', async () => {
    const { at, breaker, hear } = setUp();
    await hear(trouble(), 9);
    at.nowMs = 5_000;
    expect(breaker.news).toBeUndefined();
    await hear(trouble());
    expect(breaker.news).toEqual({ kind: 'fails', meanGapMs: 30_000 });

    const sudden = setUp();
    await sudden.hear(trouble(), 49);
    expect(sudden.breaker.news).toBeUndefined();
    await sudden.hear(trouble());
    expect(sudden.breaker.news?.kind).toBe('fails');
  });

  it('one good answer in between, and it counts anew', async () => {
    const { at, breaker, hear } = setUp();
    for (let i = 0; i < 10; i++) {
      await hear(trouble(), 9);
      at.nowMs += 10_000;
      await hear(running({ hintMs: null }));
    }
    expect(breaker.news).toBeUndefined();
  });

  it('three denied reads in a row are the key’s fault; a denied create may only be out of credit', async () => {
    const { breaker, hear, create } = setUp();
    await create(denied(), 60);
    expect(breaker.news).toBeUndefined();
    await hear(denied(), 2);
    await hear(running({ hintMs: null }));
    await hear(denied(), 2);
    expect(breaker.news).toBeUndefined();
    await hear(denied());
    expect(breaker.news?.kind).toBe('denied');
    await create(denied(), 1);
    expect(breaker.news?.kind).toBe('denied');
    await hear(running({ hintMs: null }));
    expect(breaker.news).toBeUndefined();
    breaker.learn({ kind: 'open' });
    await create(denied(), 5);
    expect(breaker.news).toBeUndefined();
  });

  it('failures of calls made before it opened do not open it again once the provider is back', async () => {
    const { at, breaker, hear } = setUp();
    const late: ((outcome: Outcome) => void)[] = [];
    const slow = breaker.listenTo({
      read: () => new Promise<Outcome>((resolve) => late.push(resolve)),
      create: async () => trouble(),
    });
    const calls = Array.from({ length: 60 }, () => slow.read(jobWith()));
    at.nowMs = 1_000;
    breaker.learn({ kind: 'open' });
    breaker.learn({ kind: 'recovering', gapMs: 20 });
    for (const answer of late) answer(trouble());
    await Promise.all(calls);
    expect(breaker.news).toBeUndefined();
    await hear(trouble(), 50);
    expect(breaker.news?.kind).toBe('fails');
  });

  it.each([
    [4_000, 4_000],
    [0, 1_000],
    [1e12, 600_000],
    [null, 15_750],
  ])('knows how far apart the reads of a job are: a hint of %j ms means %i', async (hintMs, meanGapMs) => {
    const { breaker, hear } = setUp();
    await hear(running({ hintMs }), 200);
    await hear(trouble(), 50);
    expect(breaker.news).toEqual({ kind: 'fails', meanGapMs });
    breaker.learn({ kind: 'recovering', gapMs: 20 });
    expect(breaker.news).toEqual({ kind: 'recovers', meanGapMs });
  });

  it('while it is open only an answer to a call made since then says that the provider works', async () => {
    const { at, breaker, hear } = setUp();
    let answer: (outcome: Outcome) => void = () => {};
    const slow = breaker.listenTo({
      read: () => new Promise<Outcome>((resolve) => (answer = resolve)),
      create: async () => trouble(),
    });
    const early = slow.read(jobWith());
    at.nowMs = 1_000;
    breaker.learn({ kind: 'open' });
    expect(breaker.isOpen).toBe(true);
    answer(running({ hintMs: null }));
    await early;
    await hear(trouble(), 100);
    expect(breaker.news).toBeUndefined();
    await hear(running({ hintMs: null }));
    expect(breaker.news).toEqual({ kind: 'works', meanGapMs: 15_750 });
    breaker.learn({ kind: 'recovering', gapMs: 20 });
    expect([breaker.gapMs, breaker.isOpen]).toEqual([20, false]);
  });

  it('does not hear the answer to a call that was let go', async () => {
    const { breaker, hear } = setUp();
    await hear(trouble(), 60, { lost: true });
    expect(breaker.news).toBeUndefined();
  });
});
