/**
 * The loop that people write by hand: once a second the due ids, each claimed by ZREM, polled ten at a time, and put back by
 * ZADD. An id that is out of the set when the process dies is lost.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { zremLoopKey } from '../peer-settings.ts';
import { StatusReader } from './read-status.ts';
import { takeOrder } from './take-order.ts';

const atATime = 10;
const redis = new Redis(Number(process.env.REDIS_PORT), '127.0.0.1');
await redis.ping();
const order = await takeOrder();
const reader = new StatusReader(order.statusUrl, atATime);

async function poll(id: string): Promise<void> {
  if ((await redis.zrem(zremLoopKey, id)) === 0) return;
  const { waitMs } = await reader.read(id);
  if (waitMs !== null) await redis.zadd(zremLoopKey, Date.now() + waitMs, id);
}

for (;;) {
  const startedAtMs = Date.now();
  const due = await redis.zrangebyscore(zremLoopKey, 0, startedAtMs, 'LIMIT', 0, 1_000);
  for (let start = 0; start < due.length; start += atATime) {
    await Promise.all(due.slice(start, start + atATime).map(poll));
  }
  await sleep(Math.max(0, startedAtMs + 1_000 - Date.now()));
}
