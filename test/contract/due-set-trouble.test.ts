import { describe, expect, test } from 'vitest';
import { DueSetError } from '../../lib/errors.ts';
import type { ExchangeRequest } from '../../lib/ports.ts';
import { dueSets, remove, start, useRedisDueSet } from '../support/due-set.ts';
import type { TestUpstash } from '../support/upstash.ts';

/* The due set's contract: scheduling, and what it does when Redis has trouble. */

describe.each(dueSets)('scheduling $name', ({ use }) => {
  const on = use();

  test('pulls forward what is due later when asked to, and still no lease', async () => {
    const { id, token } = await on.claimOne();
    await on.set.schedule([
      { id: 'later', delayMs: 50_000 },
      { id: 'soon', delayMs: 1_000 },
    ]);
    const ids = [id, 'later', 'soon', 'new'];
    const { added } = await on.set.schedule(
      ids.map((name) => ({ id: name, delayMs: 2_000 })),
      'pull',
    );
    expect(added).toBe(1);
    const dueAtMs = String(start + 2_000);
    expect(await Promise.all(ids.map((name) => on.score(name)))).toEqual([
      token,
      dueAtMs,
      String(start + 1_000),
      dueAtMs,
    ]);
  });

  test('adds what is not there and never disturbs a due time or a lease', async () => {
    const { id, token } = await on.claimOne();
    await on.set.schedule([{ id: 'waiting', delayMs: 50_000 }]);
    const { added } = await on.set.schedule([
      { id, delayMs: 0 },
      { id: 'waiting', delayMs: 0 },
      { id: 'new', delayMs: 0 },
    ]);
    expect(added).toBe(1);
    expect(await on.score(id)).toBe(token);
    expect(await on.score('waiting')).toBe(String(start + 50_000));
  });

  test('asks for a drain when none is awake, and of many submits at once only one', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => on.set.schedule([{ id: `job_${i}`, delayMs: 0 }])),
    );
    expect(replies.filter(({ wake }) => wake)).toHaveLength(1);
  });

  test('asks for none while a drain ticks, and for one again after it has left', async () => {
    await on.set.schedule([{ id: 'job_a', delayMs: 0 }]);
    const { claimed } = await on.exchange({ role: 'new' });
    expect((await on.set.schedule([{ id: 'job_b', delayMs: 3_600_000 }])).wake).toBe(false);
    const [a] = claimed;
    const left = await on.exchange({ settlements: [remove('job_a', a?.token ?? '')] });
    expect(left.role).toBe('leave');
    expect((await on.set.schedule([{ id: 'job_c', delayMs: 0 }])).wake).toBe(true);
  });

  test('a drain whose window ends leaves the mark to the one that has taken over', async () => {
    await on.set.schedule([{ id: 'job_a', delayMs: 70_000 }]);
    await on.exchange({ role: 'new', windowMs: 80_000 });
    expect((await on.exchange({ windowMs: 0, claimMax: 0 })).role).toBe('first');
    expect((await on.set.schedule([{ id: 'job_b', delayMs: 0 }])).wake).toBe(false);
  });

  test('a drain does not leave while it works on something or something falls due in its window', async () => {
    await on.set.schedule([{ id: 'job_a', delayMs: 50_000 }]);
    expect((await on.exchange({ windowMs: 60_000 })).role).toBe('first');
    expect((await on.exchange({ windowMs: 40_000, inHand: 1 })).role).toBe('first');
    expect((await on.exchange({ windowMs: 40_000 })).role).toBe('leave');
  });

  test('T33 a drain without work leaves when it has seen that the first one still ticks, for as long as it would', async () => {
    await on.set.schedule([{ id: 'job_a', delayMs: 50_000 }]);
    const roleOf = async (role: ExchangeRequest['role'], windowMs: number, inHand = 0) =>
      (await on.exchange({ role, windowMs, inHand })).role as ExchangeRequest['role'];
    expect(await roleOf('new', 60_000)).toBe('first');
    on.nowMs = start + 1_000;
    const further = await roleOf('new', 60_000);
    expect(further).toMatch(/^further /);
    // The first may have died a moment ago.
    expect(await roleOf(further, 60_000)).toBe(further);
    expect(await roleOf('first', 59_000)).toBe('first');
    expect(await roleOf(further, 60_000, 1)).toBe(further);
    expect(await roleOf(further, 60_000)).toBe('covered');
    expect(await roleOf('helper', 60_000)).toBe('helper');
    // The next scheduled run reaches further, and takes over; the one before goes on to its end.
    expect(await roleOf('new', 65_000)).toBe('first');
    expect(await roleOf('first', 59_000)).toBe('first');
  });

  test('a further drain becomes the first once that one shows no more that it ticks', async () => {
    await on.set.schedule([{ id: 'job_a', delayMs: 50_000 }]);
    await on.exchange({ role: 'new' });
    const { role } = await on.exchange({ role: 'new', inHand: 1 });
    expect(role).toMatch(/^further /);
    // Killed: the mark lasts for two ticks and a half.
    on.nowMs = start + 2_201;
    await on.lapse();
    expect((await on.exchange({ role: role as ExchangeRequest['role'], windowMs: 50_000 })).role).toBe('first');
    await on.lapse();
    expect((await on.set.schedule([{ id: 'job_b', delayMs: 0 }])).wake).toBe(true);
  });
});

describe('trouble', () => {
  const redis = useRedisDueSet();

  test('T06 an emptied script cache costs one repeat in the same call', async () => {
    await redis.exchange();
    await redis.upstash.direct('SCRIPT', 'FLUSH');
    const before = redis.upstash.rest.counts().httpRequests;
    await redis.claimOne();
    expect(redis.upstash.rest.counts().httpRequests - before).toBeLessThanOrEqual(4);
  });

  test.each([
    ['a script that runs into an error', { status: 400, body: { error: 'ERR user_script:1: boom' } }, 'refused'],
    ['a full database', { status: 400, body: { error: 'OOM command not allowed when used memory' } }, 'limit'],
    ['a used-up plan', { status: 400, body: { error: 'ERR max requests limit exceeded. Limit: 500000' } }, 'limit'],
    ['endless NOSCRIPT', { status: 400, body: { error: 'NOSCRIPT No matching script' } }, 'refused'],
    ['a gateway error page', { status: 502, body: '<html>bad gateway</html>' }, 'refused'],
  ])('T06 %s is reported and not tried over and over', async (_, failWith, code) => {
    await redis.upstash.setFaults({ match: 'eval', failWith } as Parameters<TestUpstash['setFaults']>[0]);
    const before = redis.upstash.rest.counts().httpRequests;
    const error = await redis.exchange().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DueSetError);
    expect((error as DueSetError).code).toBe(code);
    expect(redis.upstash.rest.counts().httpRequests - before).toBeLessThanOrEqual(2);
  });

  test('T68 a Redis that hangs ends in a time-out', async () => {
    redis.set = redis.connect(200);
    await redis.upstash.setFaults({ hang: 1 });
    await expect(redis.exchange()).rejects.toMatchObject({ code: 'timeout' });
  });

  test('an exchange whose reply is lost is not sent twice by the client', async () => {
    await redis.set.schedule([{ id: 'job_a', delayMs: 0 }]);
    await redis.exchange({ claimMax: 0 });
    await redis.upstash.setFaults({ match: 'evalsha', dropReplies: 1 });
    await expect(redis.exchange()).rejects.toMatchObject({ code: 'unreachable' });
    redis.nowMs += 10_001;
    expect((await redis.exchange()).claimed).toMatchObject([{ id: 'job_a', claims: 2 }]);
  });

  test('an error never tells ids or the token', async () => {
    redis.set = redis.connect(2_000, 'wrong-secret-token');
    const error = await redis.set.schedule([{ id: 'job_secret', delayMs: 0 }]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DueSetError);
    expect(String((error as Error).message)).not.toMatch(/job_secret|wrong-secret-token/);
  });
});
