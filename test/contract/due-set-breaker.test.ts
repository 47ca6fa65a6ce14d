import { describe, expect, test } from 'vitest';
import type { ExchangeRequest } from '../../lib/ports.ts';
import { dueSets, start, useRedisDueSet } from '../support/due-set.ts';

/* The due set's contract: the circuit breaker that all drains of an account share. The set's clock is the test's. */

const second = 1_000;
const fails = { kind: 'fails', meanGapMs: 10 * second } as const;
const works = { kind: 'works', meanGapMs: 10 * second } as const;
const ids = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `job_${index}`, delayMs: 0 }));

describe.each(dueSets)('the breaker of the due set $name', ({ use }) => {
  const on = use();

  const claimedAt = async (ms: number, given: Partial<ExchangeRequest> = {}) => {
    on.nowMs = start + ms;
    return (await on.exchange(given)).claimed.length;
  };

  test('T49 open, it lets two probes through at a time: after a second, then ever more seldom, at last each 30 s', async () => {
    await on.set.schedule(ids(100));
    const { breaker, claimed } = await on.exchange({ provider: fails });
    expect({ breaker, claimed }).toEqual({ breaker: { kind: 'open' }, claimed: [] });
    const probesAtMs: number[] = [];
    for (let ms = 0; ms <= 150 * second; ms += second) {
      const claims = await claimedAt(ms);
      if (claims > 0) probesAtMs.push(ms / second);
      expect([0, 2]).toContain(claims);
    }
    expect(probesAtMs).toEqual([1, 3, 7, 15, 31, 61, 91, 121]);
  });

  test('T49 is one for all drains, however many tell of it, and does not start anew with each', async () => {
    await on.set.schedule(ids(100));
    await on.exchange({ provider: fails });
    expect(await claimedAt(second)).toBe(2);
    expect(await claimedAt(second, { provider: fails })).toBe(0);
    expect(await claimedAt(2.5 * second, { provider: fails })).toBe(0);
    expect(await claimedAt(3 * second)).toBe(2);
  });

  test('a caller that wants nothing takes no probe', async () => {
    await on.set.schedule(ids(10));
    await on.exchange({ provider: fails });
    expect(await claimedAt(second, { claimMax: 0 })).toBe(0);
    expect(await claimedAt(second)).toBe(2);
  });

  test('T49 once a probe has come through, claims come back at one and a half times the steady rate, then it closes', async () => {
    await on.set.schedule(ids(100));
    await on.exchange({ provider: fails });
    await claimedAt(second);
    // A hundred jobs, each read every ten seconds: ten a second.
    const reply = await on.exchange({ provider: works });
    expect(reply).toMatchObject({ claimed: [], breaker: { kind: 'recovering' } });
    expect(reply.breaker.kind === 'recovering' && reply.breaker.gapMs).toBeCloseTo(1_000 / 15, 6);
    const counts: number[] = [];
    for (let tick = 2; tick <= 8; tick++) counts.push(await claimedAt(tick * second));
    expect(counts).toEqual([15, 15, 15, 15, 15, 15, 8]);
    await on.set.schedule(ids(200).slice(100));
    expect(await claimedAt(9 * second)).toBe(100);
    expect((await on.exchange()).breaker).toEqual({ kind: 'closed' });
  });

  test('after a pause it lets two seconds’ worth through at most', async () => {
    await on.set.schedule(ids(100));
    await on.exchange({ provider: fails });
    await on.exchange({ provider: works });
    expect(await claimedAt(1_800 * second)).toBe(30);
  });

  test('an hour after the last drain it is forgotten', async () => {
    await on.set.schedule(ids(100));
    await on.exchange({ provider: fails });
    expect(await claimedAt(3_700 * second)).toBe(100);
  });

  test('failures on the way back open it again, and the steady rate is the one from before', async () => {
    await on.set.schedule(ids(100));
    await on.exchange({ provider: fails });
    await on.exchange({ provider: works });
    const again = await on.exchange({ provider: { kind: 'fails', meanGapMs: 100 * second } });
    expect(again.breaker).toEqual({ kind: 'open' });
    const back = await on.exchange({ provider: works });
    expect(back.breaker.kind === 'recovering' && back.breaker.gapMs).toBeCloseTo(1_000 / 15, 6);
  });

  test('the rate on the way back follows what is learnt of the steady one: a shorter gap, more jobs', async () => {
    await on.set.schedule(ids(100));
    await on.exchange({ provider: { kind: 'fails', meanGapMs: 30 * second } });
    const gapOf = async (meanGapMs: number, kind: 'works' | 'recovers' = 'recovers') => {
      const { breaker } = await on.exchange({ provider: { kind, meanGapMs } });
      return breaker.kind === 'recovering' ? breaker.gapMs : null;
    };
    expect(await gapOf(30 * second, 'works')).toBeCloseTo(200, 6);
    expect(await gapOf(5 * second)).toBeCloseTo(100 / 3, 6);
    await on.set.schedule(ids(200));
    expect(await gapOf(5 * second)).toBeCloseTo(100 / 6, 6);
    expect(await gapOf(60 * second)).toBeCloseTo(100 / 6, 6);
  });

  test('a word that it works changes nothing while it is closed', async () => {
    await on.set.schedule(ids(3));
    expect(await on.exchange({ provider: works })).toMatchObject({ breaker: { kind: 'closed' } });
  });

  test('T31 a clock that has stepped back keeps no probe away for longer than 30 s', async () => {
    await on.set.schedule(ids(10).map(({ id }) => ({ id, delayMs: -7_200 * second })));
    await on.exchange({ provider: fails });
    await on.put(String(start - 4_000 * second), 'job_0');
    expect(await claimedAt(-3_600 * second)).toBe(0);
    expect(await claimedAt(-3_570 * second)).toBeGreaterThan(0);
  });

  test('a drain with nothing in hand may leave when the next probe lies behind its window', async () => {
    await on.set.schedule(ids(10));
    await on.exchange({ provider: fails });
    expect(await on.exchange({ windowMs: 900 })).toMatchObject({ role: 'leave', nextDueAtMs: start + second });
    expect(await on.exchange({ windowMs: 1_000 })).toMatchObject({ role: 'first' });
  });
});

describe('a breaker’s value that no release of ours writes', () => {
  const on = useRedisDueSet();

  test.each(['open x y 1', 'halfopen 1 1 0', 'recovering 1 0 0', 'open 1 nan 0', 'recovering 1 inf 0', '', 'open'])(
    '%j counts as closed, and is gone',
    async (value) => {
      await on.set.schedule(ids(10));
      await on.upstash.direct('HSET', 'pk:{test}:account:sume', 'breaker', value);
      const { claimed, breaker } = await on.exchange();
      expect({ claims: claimed.length, breaker }).toEqual({ claims: 10, breaker: { kind: 'closed' } });
      expect(await on.upstash.direct('HGET', 'pk:{test}:account:sume', 'breaker')).toEqual(Buffer.from(''));
    },
  );
});

describe('the breaker’s price', () => {
  const on = useRedisDueSet();

  test('is nothing, and one command more when it changes', async () => {
    await on.set.schedule(ids(10));
    await on.exchange({ claimMax: 0, inHand: 1 });
    const count = async (given: Partial<ExchangeRequest>) => {
      await on.upstash.direct('CONFIG', 'RESETSTAT');
      await on.exchange({ inHand: 1, claimMax: 0, ...given });
      return on.commandCalls();
    };
    // The call, HMGET, ZRANGE, and HSET of the awake mark: the test's own clock saves TIME. ZCARD tells the steady rate.
    expect(await count({})).toBe(3);
    expect(await count({ provider: fails })).toBe(5);
    expect(await count({})).toBe(3);
  });
});
