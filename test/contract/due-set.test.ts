import { describe, expect, test } from 'vitest';
import { leaseEndOf } from '../../lib/lease.ts';
import type { Settlement } from '../../lib/ports.ts';
import { due, dueSets, remove, start, useRedisDueSet, waiting } from '../support/due-set.ts';

/* The due set's contract: claiming and settling. The set's clock is the test's. */

describe.each(dueSets)('the due set $name', ({ use }) => {
  const on = use();

  describe('claiming', () => {
    test('takes what is due, oldest first, and what falls due within the time ahead', async () => {
      await on.set.schedule([
        { id: 'later', delayMs: 1_101 },
        { id: 'soon', delayMs: 1_100 },
        { id: 'now', delayMs: 0 },
      ]);
      const reply = await on.exchange();
      expect(reply.claimed.map(({ id, dueAtMs }) => [id, dueAtMs - start])).toEqual([
        ['now', 0],
        ['soon', 1_100],
      ]);
      expect(reply).toMatchObject({ nowMs: start, nextDueAtMs: start + 1_101, stale: [], role: 'first' });
    });

    test('gives a lease that is the score itself, with the number of claims in its fraction', async () => {
      const claim = await on.claimOne();
      expect(claim.token).toBe(`${start + 10_000}.0625`);
      expect(leaseEndOf(claim.token)).toBe(start + 10_000);
      expect(await on.score('job_a')).toBe(claim.token);
    });

    test('T16 hands a leased id out again once its lease has ended, not a millisecond before, under a larger token', async () => {
      const first = await on.claimOne();
      on.nowMs = start + 9_999;
      expect((await on.exchange()).claimed).toEqual([]);
      on.nowMs = start + 10_001;
      const second = (await on.exchange()).claimed[0];
      expect(second).toMatchObject({ id: 'job_a', claims: 2 });
      expect(Number(second?.token)).toBeGreaterThan(Number(first.token));
    });

    test('counts claims in a row up to 15 and starts anew after a settlement', async () => {
      let claim = await on.claimOne();
      for (let claims = 2; claims <= 17; claims++) {
        on.nowMs += 10_001;
        claim = (await on.exchange()).claimed[0] as typeof claim;
        expect(claim.claims).toBe(Math.min(claims, 15));
      }
      await on.exchange({ settlements: [due('job_a', claim.token, on.nowMs + 5_000)] });
      on.nowMs += 5_000;
      expect((await on.exchange()).claimed[0]).toMatchObject({ claims: 1 });
    });

    test('T09 takes equal due times in turns: every id once before any id twice', async () => {
      const ids = Array.from({ length: 60 }, (_, i) => `job_${String(i).padStart(2, '0')}`);
      await on.set.schedule(ids.map((id) => ({ id, delayMs: 0 })));
      const seen = new Map<string, number>();
      let settlements: Settlement[] = [];
      for (let round = 1; round <= 9; round++) {
        const { claimed } = await on.exchange({ claimMax: 20, settlements });
        for (const { id } of claimed) seen.set(id, (seen.get(id) ?? 0) + 1);
        settlements = claimed.map(({ id, token }) => due(id, token, on.nowMs + 3_000));
        if (round % 3 === 0) on.nowMs += 3_000;
        else on.nowMs += 1;
        const counts = ids.map((id) => seen.get(id) ?? 0);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }
    });

    test('two drains never get the same id', async () => {
      await on.set.schedule(Array.from({ length: 200 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
      const other = on.connect();
      const request = { settlements: [], claimMax: 15, windowMs: 60_000, role: 'first' as const, inHand: 0 };
      const replies = await Promise.all(
        Array.from({ length: 14 }, (_, i) => (i % 2 ? on.set : other).exchange(request)),
      );
      const ids = replies.flatMap(({ claimed }) => claimed.map(({ id }) => id));
      expect(ids).toHaveLength(200);
      expect(new Set(ids).size).toBe(200);
    });

    test('claims thousands in one exchange', async () => {
      await on.set.schedule(Array.from({ length: 5_000 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
      expect((await on.exchange({ claimMax: 10_000 })).claimed).toHaveLength(3_900);
    });

    test('T11 an empty set is zero claims and no next due time', async () => {
      const empty = { claimed: [], stale: [], nextDueAtMs: null, role: 'leave', breaker: { kind: 'closed' } };
      expect(await on.exchange()).toEqual({ nowMs: start, ...empty });
    });

    test('T25 reads scores that no release of ours wrote without an error', async () => {
      for (const [id, score] of Object.entries({ a: '-inf', b: '0.3', c: '-5.5', d: '+inf', e: '1e300' })) {
        await on.put(score, id);
      }
      const { claimed } = await on.exchange();
      expect(claimed.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
    });
  });

  describe('settling', () => {
    test('moves the id to its new due time and ends the lease', async () => {
      const { id, token } = await on.claimOne();
      const reply = await on.exchange({ settlements: [due(id, token, start + 30_000)] });
      expect(reply).toMatchObject({ stale: [], nextDueAtMs: start + 30_000 });
      expect(await on.score(id)).toBe(String(start + 30_000));
    });

    test('settles before it claims: an id due again at once comes back in the same exchange', async () => {
      const { id, token } = await on.claimOne();
      const { claimed } = await on.exchange({ settlements: [due(id, token, start + 500)] });
      expect(claimed).toMatchObject([{ id, dueAtMs: start + 500, claims: 1 }]);
    });

    test('removes an ended job', async () => {
      const { id, token } = await on.claimOne();
      await on.exchange({ settlements: [remove(id, token)] });
      expect(await on.set.absent([id, 'other'])).toEqual([id, 'other']);
    });

    test('T03 a token that no longer holds changes nothing, whatever it asks for', async () => {
      const old = await on.claimOne();
      on.nowMs += 10_001;
      const current = (await on.exchange()).claimed[0];
      const late: Settlement[] = [remove(old.id, old.token)];
      expect((await on.exchange({ settlements: late })).stale).toEqual([old.id]);
      expect((await on.exchange({ settlements: [due(old.id, old.token, on.nowMs + 1)] })).stale).toEqual([old.id]);
      const renewal: Settlement = {
        id: old.id,
        token: old.token,
        to: { kind: 'renew', token: `${on.nowMs + 9_000}.0625` },
      };
      expect((await on.exchange({ settlements: [renewal] })).stale).toEqual([old.id]);
      expect(await on.score(old.id)).toBe(current?.token);
    });

    test('T05 a repeated settlement whose reply was lost is done already: no second push, no alarm', async () => {
      const a = await on.claimOne('job_a');
      const b = await on.claimOne('job_b');
      const settlements = [due('job_a', a.token, start + 30_000), remove('job_b', b.token)];
      await on.exchange({ settlements });
      on.nowMs += 1_000;
      expect((await on.exchange({ settlements })).stale).toEqual([]);
      expect(await on.score('job_a')).toBe(String(start + 30_000));
    });

    test('a renewal moves the lease end and keeps the count; repeated, it is done already', async () => {
      const claim = await on.claimOne();
      on.nowMs += 6_000;
      const token = `${on.nowMs + 10_000}.0625`;
      const settlements: Settlement[] = [{ id: claim.id, token: claim.token, to: { kind: 'renew', token } }];
      expect((await on.exchange({ settlements })).stale).toEqual([]);
      expect((await on.exchange({ settlements })).stale).toEqual([]);
      expect(await on.score(claim.id)).toBe(token);
    });

    test('a settlement for an id that the set has lost is stale: the sweep will tell', async () => {
      const { id, token } = await on.claimOne();
      await on.wipe();
      expect((await on.exchange({ settlements: [due(id, token, start + 9_000)] })).stale).toEqual([id]);
      expect(await on.set.absent([id])).toEqual([id]);
    });
  });
});

describe('what a call costs Redis', () => {
  const redis = useRedisDueSet();

  test('T08 reads a bounded range however large the set is', async () => {
    const ids = Array.from({ length: 30_000 }, (_, i) => ({ id: `job_${i}`, delayMs: 3_600_000 + i }));
    await redis.set.schedule(ids);
    await redis.upstash.direct('CONFIG', 'RESETSTAT');
    for (let i = 0; i < 20; i++) expect((await redis.exchange()).claimed).toEqual([]);
    const stats = String(await redis.upstash.direct('INFO', 'commandstats'));
    const microsPerRange = Number(/cmdstat_zrange:calls=20,usec=\d+,usec_per_call=([\d.]+)/.exec(stats)?.[1]);
    expect(microsPerRange).toBeLessThan(2_000);
  });

  test('one exchange bills at most ten commands with TIME, whatever the number of ids', async () => {
    await redis.set.schedule(Array.from({ length: 900 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    const { claimed } = await redis.exchange({ claimMax: 300 });
    const settlements = claimed.map(({ id, token }, i) => (i % 2 ? remove(id, token) : due(id, token, start + 60_000)));
    await redis.upstash.direct('CONFIG', 'RESETSTAT');
    await redis.set.enqueue(waiting(500, 40));
    await redis.upstash.direct('CONFIG', 'RESETSTAT');
    await redis.exchange({ claimMax: 300, settlements, inHand: 1, admitMax: 100 });
    // The call, HMGET, ZMSCORE, ZADD, ZREM, ZRANGE, ZPOPMIN, ZADD, HSET; the test's own clock saves TIME.
    expect(await redis.commandCalls()).toBeLessThanOrEqual(9);
  });

  test('nor does it bill more when jobs go back to wait, or the provider fails', async () => {
    await redis.set.schedule(Array.from({ length: 900 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    await redis.set.enqueue(waiting(50, 3));
    const { claimed } = await redis.exchange({ claimMax: 300, admitMax: 30 });
    const settlements = claimed.map(({ id, token, rank }, i): Settlement => {
      if (rank !== undefined) return { id, token, to: { kind: 'wait', rank } };
      return i % 2 ? remove(id, token) : due(id, token, start + 60_000);
    });
    await redis.upstash.direct('CONFIG', 'RESETSTAT');
    const given = { claimMax: 300, admitMax: 30, settlements, inHand: 1 };
    await redis.exchange({ ...given, creates: { kind: 'no_slot', waitMs: 0 } });
    expect(await redis.commandCalls()).toBeLessThanOrEqual(9);
    await redis.upstash.direct('CONFIG', 'RESETSTAT');
    await redis.exchange({ ...given, settlements: [], provider: { kind: 'fails', meanGapMs: 1_000 } });
    expect(await redis.commandCalls()).toBeLessThanOrEqual(9);
  });

  test('an idle minute costs four commands', async () => {
    await redis.exchange({ role: 'new' });
    await redis.upstash.direct('CONFIG', 'RESETSTAT');
    await redis.exchange({ role: 'new' });
    expect(await redis.commandCalls()).toBeLessThanOrEqual(4);
  });
});
