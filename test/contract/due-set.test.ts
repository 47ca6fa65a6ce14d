import { describe, expect, test } from 'vitest';
import { leaseEndOf } from '../../lib/lease.ts';
import type { Settlement } from '../../lib/ports.ts';
import { due, remove, start, useDueSet } from '../support/due-set.ts';

/* The due set's contract: claiming and settling. The set's clock is the test's. */

const redis = useDueSet();

describe('claiming', () => {
  test('takes what is due, oldest first, and what falls due within the time ahead', async () => {
    await redis.set.schedule([
      { id: 'later', delayMs: 1_101 },
      { id: 'soon', delayMs: 1_100 },
      { id: 'now', delayMs: 0 },
    ]);
    const reply = await redis.exchange();
    expect(reply.claimed.map(({ id, dueAtMs }) => [id, dueAtMs - start])).toEqual([
      ['now', 0],
      ['soon', 1_100],
    ]);
    expect(reply).toMatchObject({ nowMs: start, nextDueAtMs: start + 1_101, stale: [], leave: false });
  });

  test('gives a lease that is the score itself, with the number of claims in its fraction', async () => {
    const claim = await redis.claimOne();
    expect(claim.token).toBe(`${start + 10_000}.0625`);
    expect(leaseEndOf(claim.token)).toBe(start + 10_000);
    expect(await redis.score('job_a')).toBe(claim.token);
  });

  test('T16 hands a leased id out again once its lease has ended, not a millisecond before, under a larger token', async () => {
    const first = await redis.claimOne();
    redis.nowMs = start + 9_999;
    expect((await redis.exchange()).claimed).toEqual([]);
    redis.nowMs = start + 10_001;
    const second = (await redis.exchange()).claimed[0];
    expect(second).toMatchObject({ id: 'job_a', claims: 2 });
    expect(Number(second?.token)).toBeGreaterThan(Number(first.token));
  });

  test('counts claims in a row up to 15 and starts anew after a settlement', async () => {
    let claim = await redis.claimOne();
    for (let claims = 2; claims <= 17; claims++) {
      redis.nowMs += 10_001;
      claim = (await redis.exchange()).claimed[0] as typeof claim;
      expect(claim.claims).toBe(Math.min(claims, 15));
    }
    await redis.exchange({ settlements: [due('job_a', claim.token, redis.nowMs + 5_000)] });
    redis.nowMs += 5_000;
    expect((await redis.exchange()).claimed[0]).toMatchObject({ claims: 1 });
  });

  test('T09 takes equal due times in turns: every id once before any id twice', async () => {
    const ids = Array.from({ length: 60 }, (_, i) => `job_${String(i).padStart(2, '0')}`);
    await redis.set.schedule(ids.map((id) => ({ id, delayMs: 0 })));
    const seen = new Map<string, number>();
    let settlements: Settlement[] = [];
    for (let round = 1; round <= 9; round++) {
      const { claimed } = await redis.exchange({ claimMax: 20, settlements });
      for (const { id } of claimed) seen.set(id, (seen.get(id) ?? 0) + 1);
      settlements = claimed.map(({ id, token }) => due(id, token, redis.nowMs + 3_000));
      if (round % 3 === 0) redis.nowMs += 3_000;
      else redis.nowMs += 1;
      const counts = ids.map((id) => seen.get(id) ?? 0);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    }
  });

  test('two drains never get the same id', async () => {
    await redis.set.schedule(Array.from({ length: 200 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    const other = redis.connect();
    const request = { settlements: [], claimMax: 15, windowMs: 60_000, firstTick: false, inHand: 0 };
    const replies = await Promise.all(
      Array.from({ length: 14 }, (_, i) => (i % 2 ? redis.set : other).exchange(request)),
    );
    const ids = replies.flatMap(({ claimed }) => claimed.map(({ id }) => id));
    expect(ids).toHaveLength(200);
    expect(new Set(ids).size).toBe(200);
  });

  test('T08 reads a bounded range however large the set is', async () => {
    const ids = Array.from({ length: 30_000 }, (_, i) => ({ id: `job_${i}`, delayMs: 3_600_000 + i }));
    await redis.set.schedule(ids);
    await redis.upstash.direct('CONFIG', 'RESETSTAT');
    for (let i = 0; i < 20; i++) expect((await redis.exchange()).claimed).toEqual([]);
    const stats = String(await redis.upstash.direct('INFO', 'commandstats'));
    const microsPerRange = Number(/cmdstat_zrange:calls=20,usec=\d+,usec_per_call=([\d.]+)/.exec(stats)?.[1]);
    expect(microsPerRange).toBeLessThan(2_000);
  });

  test('claims thousands in one exchange', async () => {
    await redis.set.schedule(Array.from({ length: 5_000 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    expect((await redis.exchange({ claimMax: 10_000 })).claimed).toHaveLength(3_900);
  });

  test('T11 an empty set is zero claims and no next due time', async () => {
    expect(await redis.exchange()).toEqual({ nowMs: start, claimed: [], stale: [], nextDueAtMs: null, leave: true });
  });

  test('T25 reads scores that no release of ours wrote without an error', async () => {
    await redis.upstash.direct(
      'ZADD',
      'pk:{test}:due:sume',
      '-inf',
      'a',
      '0.3',
      'b',
      '-5.5',
      'c',
      '+inf',
      'd',
      '1e300',
      'e',
    );
    const { claimed } = await redis.exchange();
    expect(claimed.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
  });
});

describe('settling', () => {
  test('moves the id to its new due time and ends the lease', async () => {
    const { id, token } = await redis.claimOne();
    const reply = await redis.exchange({ settlements: [due(id, token, start + 30_000)] });
    expect(reply).toMatchObject({ stale: [], nextDueAtMs: start + 30_000 });
    expect(await redis.score(id)).toBe(String(start + 30_000));
  });

  test('settles before it claims: an id due again at once comes back in the same exchange', async () => {
    const { id, token } = await redis.claimOne();
    const { claimed } = await redis.exchange({ settlements: [due(id, token, start + 500)] });
    expect(claimed).toMatchObject([{ id, dueAtMs: start + 500, claims: 1 }]);
  });

  test('removes an ended job', async () => {
    const { id, token } = await redis.claimOne();
    await redis.exchange({ settlements: [remove(id, token)] });
    expect(await redis.set.absent([id, 'other'])).toEqual([id, 'other']);
  });

  test('T03 a token that no longer holds changes nothing, whatever it asks for', async () => {
    const old = await redis.claimOne();
    redis.nowMs += 10_001;
    const current = (await redis.exchange()).claimed[0];
    const late: Settlement[] = [remove(old.id, old.token)];
    expect((await redis.exchange({ settlements: late })).stale).toEqual([old.id]);
    expect((await redis.exchange({ settlements: [due(old.id, old.token, redis.nowMs + 1)] })).stale).toEqual([old.id]);
    const renewal: Settlement = {
      id: old.id,
      token: old.token,
      to: { kind: 'renew', token: `${redis.nowMs + 9_000}.0625` },
    };
    expect((await redis.exchange({ settlements: [renewal] })).stale).toEqual([old.id]);
    expect(await redis.score(old.id)).toBe(current?.token);
  });

  test('T05 a repeated settlement whose reply was lost is done already: no second push, no alarm', async () => {
    const a = await redis.claimOne('job_a');
    const b = await redis.claimOne('job_b');
    const settlements = [due('job_a', a.token, start + 30_000), remove('job_b', b.token)];
    await redis.exchange({ settlements });
    redis.nowMs += 1_000;
    expect((await redis.exchange({ settlements })).stale).toEqual([]);
    expect(await redis.score('job_a')).toBe(String(start + 30_000));
  });

  test('a renewal moves the lease end and keeps the count; repeated, it is done already', async () => {
    const claim = await redis.claimOne();
    redis.nowMs += 6_000;
    const token = `${redis.nowMs + 10_000}.0625`;
    const settlements: Settlement[] = [{ id: claim.id, token: claim.token, to: { kind: 'renew', token } }];
    expect((await redis.exchange({ settlements })).stale).toEqual([]);
    expect((await redis.exchange({ settlements })).stale).toEqual([]);
    expect(await redis.score(claim.id)).toBe(token);
  });

  test('a settlement for an id that the set has lost is stale: the sweep will tell', async () => {
    const { id, token } = await redis.claimOne();
    await redis.upstash.direct('FLUSHALL');
    expect((await redis.exchange({ settlements: [due(id, token, start + 9_000)] })).stale).toEqual([id]);
    expect(await redis.set.absent([id])).toEqual([id]);
  });

  test('one exchange bills at most seven commands, whatever the number of ids', async () => {
    await redis.set.schedule(Array.from({ length: 900 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    const { claimed } = await redis.exchange({ claimMax: 300 });
    const settlements = claimed.map(({ id, token }, i) => (i % 2 ? remove(id, token) : due(id, token, start + 60_000)));
    await redis.upstash.direct('CONFIG', 'RESETSTAT');
    await redis.exchange({ claimMax: 300, settlements, inHand: 1 });
    expect(await redis.commandCalls()).toBeLessThanOrEqual(7);
  });
});
