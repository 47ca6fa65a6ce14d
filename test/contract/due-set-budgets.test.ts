import { describe, expect, test } from 'vitest';
import type { ExchangeRequest } from '../../lib/ports.ts';
import { due, dueSets, remove, start, waiting } from '../support/due-set.ts';

/* The due set's contract: what the provider's limits leave of reads and creates. The set's clock is the test's. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

describe.each(dueSets)('the budget of the due set $name', ({ use }) => {
  const on = use();

  /** So many jobs that are due every few seconds, worked by several drains at once: when each was read, ms from the start. */
  async function readsOver(untilMs: number, jobs: number, everyMs: number, drains = 1, tickMs = second) {
    const reads: { id: string; atMs: number }[] = [];
    await on.set.schedule(Array.from({ length: jobs }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    for (let ms = 0; ms <= untilMs; ms += tickMs) {
      on.nowMs = start + ms;
      for (let drain = 0; drain < drains; drain++) {
        const { claimed } = await on.exchange({ claimMax: 100 });
        for (const { id, dueAtMs } of claimed) reads.push({ id, atMs: Math.max(ms, dueAtMs - start) });
        const settlements = claimed.map(({ id, token }) => due(id, token, on.nowMs + everyMs));
        await on.exchange({ settlements, claimMax: 0 });
      }
    }
    return reads;
  }

  /** The most in any span of the length, wherever it begins. */
  function mostIn(timesMs: readonly number[], spanMs: number): number {
    return Math.max(...timesMs.map((from) => timesMs.filter((ms) => ms >= from && ms < from + spanMs).length));
  }

  test('three overlapping drains stay within it in any minute, and use most of it while jobs are short of reads', async () => {
    on.limit({ readsPerMinute: 60 });
    const reads = await readsOver(3 * minute, 50, 5 * second, 3);
    const times = reads.map(({ atMs }) => atMs);
    expect(mostIn(times, minute)).toBeLessThanOrEqual(60);
    expect(times.filter((ms) => ms >= minute).length).toBeGreaterThan(0.8 * 2 * 60);
  });

  test('short, it serves the oldest due first: every job is read about as often as every other', async () => {
    on.limit({ readsPerMinute: 60 });
    const reads = await readsOver(4 * minute, 40, 5 * second);
    const counts = Array.from({ length: 40 }, (_, i) => reads.filter(({ id }) => id === `job_${i}`).length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
  });

  test('is not felt while there is enough: what falls due is claimed at once', async () => {
    on.limit({ readsPerMinute: 120, readsPerDay: 10_000 });
    const reads = await readsOver(2 * minute, 10, 15 * second);
    expect(reads.slice(0, 10).every(({ atMs }) => atMs === 0)).toBe(true);
    expect(reads.length).toBe(10 * 9);
  });

  test('of a day is stretched, never quite used up, and lasts through the day', async () => {
    on.limit({ readsPerDay: 240 });
    const reads = await readsOver(26 * hour, 5, minute, 1, 2 * minute);
    const times = reads.map(({ atMs }) => atMs);
    expect(mostIn(times, 24 * hour)).toBeLessThanOrEqual(240);
    const inHour = (h: number) => times.filter((ms) => ms >= h * hour && ms < (h + 1) * hour).length;
    for (let h = 0; h < 26; h++) expect(inHour(h), `hour ${h}`).toBeGreaterThan(0);
  }, 60_000);

  test('counts what a drain did beyond its claims, and keeps a read in hand for each lease', async () => {
    on.limit({ readsPerMinute: 10 });
    await on.set.schedule(Array.from({ length: 20 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    const first = (await on.exchange()).claimed;
    expect(first).toHaveLength(5);
    const settlements = first.map(({ id, token }) => remove(id, token));
    const { claimed } = await on.exchange({ settlements, extraCalls: { reads: 5, creates: 0 } });
    expect(claimed).toEqual([]);
  });

  test('is given back where a claim came to no call', async () => {
    on.limit({ readsPerMinute: 10 });
    await on.set.schedule(Array.from({ length: 20 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    for (let round = 0; round < 4; round++) {
      const { claimed } = await on.exchange();
      expect(claimed.length).toBe(5);
      const settlements = claimed.map(({ id, token }) => remove(id, token));
      await on.exchange({ settlements, claimMax: 0, extraCalls: { reads: -5, creates: 0 } });
    }
  });

  test('of creates bounds admissions, shared by all drains', async () => {
    on.limit({ createsPerMinute: 10, createsPerDay: 15 });
    await on.set.enqueue(waiting(100));
    const created: number[] = [];
    for (let ms = 0; ms <= 4 * minute; ms += second) {
      on.nowMs = start + ms;
      for (let drain = 0; drain < 3; drain++) {
        const { claimed } = await on.exchange({ admitMax: 10, claimMax: 0 });
        created.push(...claimed.map(() => ms));
        await on.exchange({ settlements: claimed.map(({ id, token }) => remove(id, token)) });
      }
    }
    expect(mostIn(created, minute)).toBeLessThanOrEqual(10);
    expect(mostIn(created, minute)).toBeGreaterThanOrEqual(8);
    expect(created.length).toBeLessThanOrEqual(15);
  });

  test('what the provider’s headers say counts too: no more calls than are left, two for each read, until its reset', async () => {
    await on.set.schedule(Array.from({ length: 20 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    await on.set.enqueue(waiting(5));
    const told = { reads: { left: 6, forMs: 30 * second }, creates: { left: 0, forMs: 10 * second } };
    const claimed = async (given: Partial<ExchangeRequest> = {}) => {
      const reply = await on.exchange({ admitMax: 10, ...given });
      const admitted = reply.claimed.filter(({ rank }) => rank !== undefined).length;
      return { due: reply.claimed.length - admitted, admitted };
    };
    expect(await claimed({ told })).toEqual({ due: 3, admitted: 0 });
    on.nowMs = start + 9_999;
    expect(await claimed()).toEqual({ due: 0, admitted: 0 });
    on.nowMs = start + 10 * second;
    expect(await claimed()).toEqual({ due: 0, admitted: 5 });
    on.nowMs = start + 30 * second;
    expect((await claimed()).due).toBeGreaterThan(10);
  });

  test('used up for hours, it lets the drain leave', async () => {
    on.limit({ readsPerDay: 2 });
    await on.set.schedule([{ id: 'job_a', delayMs: 0 }]);
    const [first] = (await on.exchange()).claimed;
    const settlements = [due('job_a', first?.token ?? '', start)];
    const reply = await on.exchange({ settlements, extraCalls: { reads: 1, creates: 0 } });
    expect(reply).toMatchObject({ claimed: [], role: 'leave' });
    expect(reply.nextDueAtMs).toBeGreaterThan(start + minute);
  });
});

describe.each(dueSets)('a hold on the due set $name', ({ use }) => {
  const on = use();
  const held = { kind: 'held', meanGapMs: 10 * second, waitMs: minute } as const;
  const works = { kind: 'works', meanGapMs: 10 * second } as const;
  const claims = async (ms: number, given: Partial<ExchangeRequest> = {}) => {
    on.nowMs = start + ms;
    return (await on.exchange(given)).claimed.length;
  };

  test('T48 lasts as long as the 429 said; then probes, and all the others as before, none having lost its place', async () => {
    await on.set.schedule(Array.from({ length: 99 }, (_, i) => ({ id: `job_${i}`, delayMs: i })));
    const reply = await on.exchange({ provider: held });
    expect(reply).toMatchObject({ claimed: [], breaker: { kind: 'held' } });
    // Answers of calls from before the hold do not end it.
    expect(await claims(10 * second, { provider: works })).toBe(0);
    expect(await claims(59_999)).toBe(0);
    on.nowMs = start + minute;
    const probes = (await on.exchange()).claimed;
    expect(probes.map(({ id }) => id)).toEqual(['job_0', 'job_1']);
    expect((await on.exchange({ provider: works })).breaker.kind).toBe('recovering');
    expect(await claims(62 * second)).toBeGreaterThan(10);
  });

  test('a longer wait that is told meanwhile counts, a shorter one does not', async () => {
    await on.set.schedule([{ id: 'job_a', delayMs: 0 }]);
    await on.exchange({ provider: held });
    await on.exchange({ provider: { ...held, waitMs: 2 * minute } });
    await on.exchange({ provider: { ...held, waitMs: 5 * second } });
    expect([await claims(119_999), await claims(2 * minute)]).toEqual([0, 1]);
  });

  test('a probe that came to no call is followed by the next at once', async () => {
    await on.set.schedule(Array.from({ length: 50 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    await on.exchange({ provider: { kind: 'denied', meanGapMs: 10 * second } });
    on.nowMs = start + 20 * second;
    const [probe] = (await on.exchange()).claimed;
    on.nowMs += second;
    const settlements = [remove(probe?.id ?? '', probe?.token ?? '')];
    const { claimed } = await on.exchange({ settlements, extraCalls: { reads: -1, creates: 0 } });
    expect(claimed).toHaveLength(1);
  });

  test('a refused key leaves three probes a minute, and the first that works ends it', async () => {
    await on.set.schedule(Array.from({ length: 50 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    await on.exchange({ provider: { kind: 'denied', meanGapMs: 10 * second } });
    const probes: number[] = [];
    for (let ms = 0; ms <= minute; ms += second) probes.push(await claims(ms));
    expect(probes.reduce((sum, count) => sum + count, 0)).toBe(3);
    expect((await on.exchange({ provider: works })).breaker.kind).toBe('recovering');
  });
});
