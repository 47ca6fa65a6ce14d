import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestUpstash, type TestUpstash } from '../support/upstash.ts';
import { redisSide } from './redis-side.ts';
import { memorySide } from './set-side.ts';
import { simulate } from './simulate.ts';

let upstash: TestUpstash;
beforeAll(async () => {
  upstash = await startTestUpstash();
});
afterAll(() => upstash.close());

test('on the real Redis a seed is the same history as in memory: every reply, every score', async () => {
  for (const seed of [101, 102, 103, 104, 105, 106]) {
    await upstash.fresh();
    const inRedis = await simulate({ seed, steps: 500, makeSide: redisSide(upstash, 'sim') });
    expect(inRedis.violation).toBeNull();
    expect(inRedis).toEqual(await simulate({ seed, steps: 500, makeSide: memorySide }));
  }
});
