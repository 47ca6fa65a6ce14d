import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectUpstash, UpstashDueSet } from '../../lib/due-set/upstash-due-set.ts';
import { DueSetError } from '../../lib/errors.ts';
import { leaseEndOf } from '../../lib/lease.ts';
import type { DueSet, ExchangeRequest, Settlement } from '../../lib/ports.ts';
import { startTestUpstash, type TestUpstash } from '../support/upstash.ts';

/* The due set's contract, on a real Redis through the bridge and the real client. The set's clock is the test's. */

const start = 1_800_000_000_000;
const lease = { leaseMs: 10_000, aheadMs: 1_100 };
let upstash: TestUpstash;
let nowMs: number;
let dueSet: DueSet;

beforeAll(async () => {
  upstash = await startTestUpstash();
});
afterAll(() => upstash.close());
beforeEach(async () => {
  await upstash.fresh();
  nowMs = start;
  dueSet = connect();
});

function connect(timeoutMs = 2_000, token = upstash.token): DueSet {
  const { url } = upstash;
  const redis = connectUpstash({ url, token, timeoutMs });
  return new UpstashDueSet(redis, { stage: 'test', account: 'sume', url, token, lease, nowMs: () => nowMs });
}

function exchange(given: Partial<ExchangeRequest> = {}) {
  const whole = { settlements: [], claimMax: 100, windowMs: 60_000, firstTick: false, inHand: 0, ...given };
  return dueSet.exchange(whole);
}

async function claimOne(id = 'job_a') {
  await dueSet.schedule([{ id, delayMs: 0 }]);
  const { claimed } = await exchange();
  expect(claimed.map((claim) => claim.id)).toEqual([id]);
  return claimed[0] as (typeof claimed)[number];
}

const score = async (id: string) => String(await upstash.direct('ZSCORE', 'pk:{test}:due:sume', id));
const due = (id: string, token: string, atMs: number): Settlement => ({ id, token, to: { kind: 'due', atMs } });
const remove = (id: string, token: string): Settlement => ({ id, token, to: { kind: 'remove' } });

describe('claiming', () => {
  test('takes what is due, oldest first, and what falls due within the time ahead', async () => {
    await dueSet.schedule([
      { id: 'later', delayMs: 1_101 },
      { id: 'soon', delayMs: 1_100 },
      { id: 'now', delayMs: 0 },
    ]);
    const reply = await exchange();
    expect(reply.claimed.map(({ id, dueAtMs }) => [id, dueAtMs - start])).toEqual([
      ['now', 0],
      ['soon', 1_100],
    ]);
    expect(reply).toMatchObject({ nowMs: start, nextDueAtMs: start + 1_101, stale: [], leave: false });
  });

  test('gives a lease that is the score itself, with the number of claims in its fraction', async () => {
    const claim = await claimOne();
    expect(claim.token).toBe(`${start + 10_000}.0625`);
    expect(leaseEndOf(claim.token)).toBe(start + 10_000);
    expect(await score('job_a')).toBe(claim.token);
  });

  test('T16 hands a leased id out again once its lease has ended, not a millisecond before, under a larger token', async () => {
    const first = await claimOne();
    nowMs = start + 9_999;
    expect((await exchange()).claimed).toEqual([]);
    nowMs = start + 10_001;
    const second = (await exchange()).claimed[0];
    expect(second).toMatchObject({ id: 'job_a', claims: 2 });
    expect(Number(second?.token)).toBeGreaterThan(Number(first.token));
  });

  test('counts claims in a row up to 15 and starts anew after a settlement', async () => {
    let claim = await claimOne();
    for (let claims = 2; claims <= 17; claims++) {
      nowMs += 10_001;
      claim = (await exchange()).claimed[0] as typeof claim;
      expect(claim.claims).toBe(Math.min(claims, 15));
    }
    await exchange({ settlements: [due('job_a', claim.token, nowMs + 5_000)] });
    nowMs += 5_000;
    expect((await exchange()).claimed[0]).toMatchObject({ claims: 1 });
  });

  test('T09 takes equal due times in turns: every id once before any id twice', async () => {
    const ids = Array.from({ length: 60 }, (_, i) => `job_${String(i).padStart(2, '0')}`);
    await dueSet.schedule(ids.map((id) => ({ id, delayMs: 0 })));
    const seen = new Map<string, number>();
    let settlements: Settlement[] = [];
    for (let round = 1; round <= 9; round++) {
      const { claimed } = await exchange({ claimMax: 20, settlements });
      for (const { id } of claimed) seen.set(id, (seen.get(id) ?? 0) + 1);
      settlements = claimed.map(({ id, token }) => due(id, token, nowMs + 3_000));
      if (round % 3 === 0) nowMs += 3_000;
      else nowMs += 1;
      const counts = ids.map((id) => seen.get(id) ?? 0);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    }
  });

  test('two drains never get the same id', async () => {
    await dueSet.schedule(Array.from({ length: 200 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    const other = connect();
    const request = { settlements: [], claimMax: 15, windowMs: 60_000, firstTick: false, inHand: 0 };
    const replies = await Promise.all(Array.from({ length: 14 }, (_, i) => (i % 2 ? dueSet : other).exchange(request)));
    const ids = replies.flatMap(({ claimed }) => claimed.map(({ id }) => id));
    expect(ids).toHaveLength(200);
    expect(new Set(ids).size).toBe(200);
  });

  test('T08 reads a bounded range however large the set is', async () => {
    const ids = Array.from({ length: 30_000 }, (_, i) => ({ id: `job_${i}`, delayMs: 3_600_000 + i }));
    await dueSet.schedule(ids);
    await upstash.direct('CONFIG', 'RESETSTAT');
    for (let i = 0; i < 20; i++) expect((await exchange()).claimed).toEqual([]);
    const stats = String(await upstash.direct('INFO', 'commandstats'));
    const microsPerRange = Number(/cmdstat_zrange:calls=20,usec=\d+,usec_per_call=([\d.]+)/.exec(stats)?.[1]);
    expect(microsPerRange).toBeLessThan(2_000);
  });

  test('claims thousands in one exchange', async () => {
    await dueSet.schedule(Array.from({ length: 5_000 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    expect((await exchange({ claimMax: 10_000 })).claimed).toHaveLength(3_900);
  });

  test('T11 an empty set is zero claims and no next due time', async () => {
    expect(await exchange()).toEqual({ nowMs: start, claimed: [], stale: [], nextDueAtMs: null, leave: true });
  });

  test('T25 reads scores that no release of ours wrote without an error', async () => {
    await upstash.direct('ZADD', 'pk:{test}:due:sume', '-inf', 'a', '0.3', 'b', '-5.5', 'c', '+inf', 'd', '1e300', 'e');
    const { claimed } = await exchange();
    expect(claimed.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
  });
});

describe('settling', () => {
  test('moves the id to its new due time and ends the lease', async () => {
    const { id, token } = await claimOne();
    const reply = await exchange({ settlements: [due(id, token, start + 30_000)] });
    expect(reply).toMatchObject({ stale: [], nextDueAtMs: start + 30_000 });
    expect(await score(id)).toBe(String(start + 30_000));
  });

  test('settles before it claims: an id due again at once comes back in the same exchange', async () => {
    const { id, token } = await claimOne();
    const { claimed } = await exchange({ settlements: [due(id, token, start + 500)] });
    expect(claimed).toMatchObject([{ id, dueAtMs: start + 500, claims: 1 }]);
  });

  test('removes an ended job', async () => {
    const { id, token } = await claimOne();
    await exchange({ settlements: [remove(id, token)] });
    expect(await dueSet.absent([id, 'other'])).toEqual([id, 'other']);
  });

  test('T03 a token that no longer holds changes nothing, whatever it asks for', async () => {
    const old = await claimOne();
    nowMs += 10_001;
    const current = (await exchange()).claimed[0];
    const late: Settlement[] = [remove(old.id, old.token)];
    expect((await exchange({ settlements: late })).stale).toEqual([old.id]);
    expect((await exchange({ settlements: [due(old.id, old.token, nowMs + 1)] })).stale).toEqual([old.id]);
    const renewal: Settlement = { id: old.id, token: old.token, to: { kind: 'renew', token: `${nowMs + 9_000}.0625` } };
    expect((await exchange({ settlements: [renewal] })).stale).toEqual([old.id]);
    expect(await score(old.id)).toBe(current?.token);
  });

  test('T05 a repeated settlement whose reply was lost is done already: no second push, no alarm', async () => {
    const a = await claimOne('job_a');
    const b = await claimOne('job_b');
    const settlements = [due('job_a', a.token, start + 30_000), remove('job_b', b.token)];
    await exchange({ settlements });
    nowMs += 1_000;
    expect((await exchange({ settlements })).stale).toEqual([]);
    expect(await score('job_a')).toBe(String(start + 30_000));
  });

  test('a renewal moves the lease end and keeps the count; repeated, it is done already', async () => {
    const claim = await claimOne();
    nowMs += 6_000;
    const token = `${nowMs + 10_000}.0625`;
    const settlements: Settlement[] = [{ id: claim.id, token: claim.token, to: { kind: 'renew', token } }];
    expect((await exchange({ settlements })).stale).toEqual([]);
    expect((await exchange({ settlements })).stale).toEqual([]);
    expect(await score(claim.id)).toBe(token);
  });

  test('a settlement for an id that the set has lost is stale: the sweep will tell', async () => {
    const { id, token } = await claimOne();
    await upstash.direct('FLUSHALL');
    expect((await exchange({ settlements: [due(id, token, start + 9_000)] })).stale).toEqual([id]);
    expect(await dueSet.absent([id])).toEqual([id]);
  });

  test('one exchange bills at most seven commands, whatever the number of ids', async () => {
    await dueSet.schedule(Array.from({ length: 900 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    const { claimed } = await exchange({ claimMax: 300 });
    const settlements = claimed.map(({ id, token }, i) => (i % 2 ? remove(id, token) : due(id, token, start + 60_000)));
    await upstash.direct('CONFIG', 'RESETSTAT');
    await exchange({ claimMax: 300, settlements, inHand: 1 });
    expect(await commandCalls()).toBeLessThanOrEqual(7);
  });
});

describe('scheduling', () => {
  test('adds what is not there and never disturbs a due time or a lease', async () => {
    const { id, token } = await claimOne();
    await dueSet.schedule([{ id: 'waiting', delayMs: 50_000 }]);
    const { added } = await dueSet.schedule([
      { id, delayMs: 0 },
      { id: 'waiting', delayMs: 0 },
      { id: 'new', delayMs: 0 },
    ]);
    expect(added).toBe(1);
    expect(await score(id)).toBe(token);
    expect(await score('waiting')).toBe(String(start + 50_000));
  });

  test('asks for a drain when none is awake, and of many submits at once only one', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => dueSet.schedule([{ id: `job_${i}`, delayMs: 0 }])),
    );
    expect(replies.filter(({ wake }) => wake)).toHaveLength(1);
  });

  test('asks for none while a drain ticks, and for one again after it has left', async () => {
    await dueSet.schedule([{ id: 'job_a', delayMs: 0 }]);
    const { claimed } = await exchange({ firstTick: true });
    expect((await dueSet.schedule([{ id: 'job_b', delayMs: 3_600_000 }])).wake).toBe(false);
    const [a] = claimed;
    const left = await exchange({ settlements: [remove('job_a', a?.token ?? '')] });
    expect(left.leave).toBe(true);
    expect((await dueSet.schedule([{ id: 'job_c', delayMs: 0 }])).wake).toBe(true);
  });

  test('a drain whose window ends leaves the mark to the one that has taken over', async () => {
    await dueSet.schedule([{ id: 'job_a', delayMs: 70_000 }]);
    await exchange({ firstTick: true, windowMs: 80_000 });
    expect((await exchange({ windowMs: 0, claimMax: 0 })).leave).toBe(false);
    expect((await dueSet.schedule([{ id: 'job_b', delayMs: 0 }])).wake).toBe(false);
  });

  test('a drain does not leave while it works on something or something falls due in its window', async () => {
    await dueSet.schedule([{ id: 'job_a', delayMs: 50_000 }]);
    expect((await exchange({ windowMs: 60_000 })).leave).toBe(false);
    expect((await exchange({ windowMs: 40_000, inHand: 1 })).leave).toBe(false);
    expect((await exchange({ windowMs: 40_000 })).leave).toBe(true);
  });

  test('an idle minute costs three commands', async () => {
    await exchange({ firstTick: true });
    await upstash.direct('CONFIG', 'RESETSTAT');
    await exchange({ firstTick: true });
    expect(await commandCalls()).toBeLessThanOrEqual(3);
  });
});

describe('trouble', () => {
  test('T06 an emptied script cache costs one repeat in the same call', async () => {
    await exchange();
    await upstash.direct('SCRIPT', 'FLUSH');
    const before = upstash.rest.counts().httpRequests;
    await claimOne();
    expect(upstash.rest.counts().httpRequests - before).toBeLessThanOrEqual(4);
  });

  test.each([
    ['a script that runs into an error', { status: 400, body: { error: 'ERR user_script:1: boom' } }, 'refused'],
    ['a full database', { status: 400, body: { error: 'OOM command not allowed when used memory' } }, 'limit'],
    ['a used-up plan', { status: 400, body: { error: 'ERR max requests limit exceeded. Limit: 500000' } }, 'limit'],
    ['endless NOSCRIPT', { status: 400, body: { error: 'NOSCRIPT No matching script' } }, 'refused'],
    ['a gateway error page', { status: 502, body: '<html>bad gateway</html>' }, 'refused'],
  ])('T06 %s is reported and not tried over and over', async (_, failWith, code) => {
    await upstash.setFaults({ match: 'eval', failWith } as Parameters<TestUpstash['setFaults']>[0]);
    const before = upstash.rest.counts().httpRequests;
    const error = await exchange().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DueSetError);
    expect((error as DueSetError).code).toBe(code);
    expect(upstash.rest.counts().httpRequests - before).toBeLessThanOrEqual(2);
  });

  test('T68 a Redis that hangs ends in a time-out', async () => {
    dueSet = connect(200);
    await upstash.setFaults({ hang: 1 });
    await expect(exchange()).rejects.toMatchObject({ code: 'timeout' });
  });

  test('an exchange whose reply is lost is not sent twice by the client', async () => {
    await dueSet.schedule([{ id: 'job_a', delayMs: 0 }]);
    await exchange({ claimMax: 0 });
    await upstash.setFaults({ match: 'evalsha', dropReplies: 1 });
    await expect(exchange()).rejects.toMatchObject({ code: 'unreachable' });
    nowMs += 10_001;
    expect((await exchange()).claimed).toMatchObject([{ id: 'job_a', claims: 2 }]);
  });

  test('an error never tells ids or the token', async () => {
    dueSet = connect(2_000, 'wrong-secret-token');
    const error = await dueSet.schedule([{ id: 'job_secret', delayMs: 0 }]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DueSetError);
    expect(String((error as Error).message)).not.toMatch(/job_secret|wrong-secret-token/);
  });
});

/** Commands since CONFIG RESETSTAT as Upstash bills them: the script call and each command inside it. */
async function commandCalls(): Promise<number> {
  const stats = String(await upstash.direct('INFO', 'commandstats'));
  const lines = [...stats.matchAll(/cmdstat_(\w+)(?:\|\w+)?:calls=(\d+)/g)];
  return lines
    .filter(([, name]) => name !== 'config' && name !== 'info')
    .reduce((sum, [, , calls]) => sum + Number(calls), 0);
}
