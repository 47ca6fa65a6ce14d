import { afterEach, expect, test } from 'vitest';
import { startRedis } from '../../infra/local/redis/redis.ts';
import { drain } from '../../lib/drain.ts';
import { allJobs, type Parts, remaining, startParts, submitClip, sweepAll } from '../support/parts.ts';
import { dueKey, membersOf, waitingKey } from '../support/upstash.ts';

/* What Redis may lose, on real parts. Times pass thirty times as fast. */

let parts: Parts;
afterEach(() => parts.close());

const hour = 3_600_000;

const drainFor = (ms: number) => drain(parts.ports, parts.settings, remaining(parts, ms));

async function submitClips(name: string, count: number): Promise<string[]> {
  const jobs = await Promise.all(Array.from({ length: count }, (_, i) => submitClip(parts, `${name}-${i}`)));
  return jobs.map((result) => result.job.id).sort();
}

async function idsInSet(): Promise<string[]> {
  const sets = await Promise.all([dueKey, waitingKey].map((key) => membersOf(parts.upstash, key)));
  return sets.flatMap((members) => [...members.keys()]).sort();
}

async function expectAllCompleted(count: number): Promise<void> {
  expect((await allJobs(parts)).map(({ state }) => state)).toEqual(Array(count).fill('completed'));
  expect(await idsInSet()).toEqual([]);
  expect(parts.sume.report()).toMatchObject({ billedClips: count, earlyReads: 0, duplicateReads: 0 });
}

test('FLUSHALL among finished and active jobs: one sweep brings back the active ones, and no other', async () => {
  parts = await startParts({ renderSeconds: 100, limits: { processing: 20 } });
  await submitClips('finished', 4);
  await drainFor(hour);
  const active = await submitClips('active', 6);
  await drainFor(65_000);
  await parts.upstash.direct('FLUSHALL');
  expect(await sweepAll(parts)).toMatchObject({ complete: true, active: 6, restored: 6 });
  expect(await idsInSet()).toEqual(active);
  await drainFor(hour);
  await expectAllCompleted(10);
});

test('a failover that takes acknowledged writes back: what had ended leaves again unread, what was new is swept back in', async () => {
  parts = await startParts({ renderSeconds: 100, limits: { processing: 20 } });
  const early = await submitClips('early', 6);
  await drainFor(65_000);
  const saved = await membersOf(parts.upstash);
  await drainFor(hour);
  const late = await submitClips('late', 3);
  expect(await idsInSet()).toEqual(late);
  await parts.upstash.direct('FLUSHALL');
  await parts.upstash.direct('ZADD', dueKey, ...[...saved].flatMap(([id, score]) => [score, id]));
  expect(await idsInSet()).toEqual(early);
  const readsBefore = parts.sume.report().providerReads;
  await drainFor(65_000);
  expect(parts.sume.report().providerReads).toBe(readsBefore);
  expect(await idsInSet()).toEqual([]);
  expect(await sweepAll(parts)).toMatchObject({ active: 3, restored: 3 });
  await drainFor(hour);
  await expectAllCompleted(9);
});

test('Redis killed under a running drain and back with nothing, neither ids nor scripts: the drain goes on after a sweep', async () => {
  parts = await startParts({ renderSeconds: 100, limits: { processing: 20 } });
  await submitClips('clip', 6);
  const { port, pid } = parts.upstash.redis;
  const running = drainFor(hour);
  await parts.ports.clock.sleep(20_000);
  process.kill(pid, 'SIGKILL');
  // Closing waits until it is gone; the port is free then.
  await parts.upstash.redis.close();
  await parts.ports.clock.sleep(15_000);
  const back = await startRedis({ port });
  try {
    expect(await sweepAll(parts)).toMatchObject({ complete: true, active: 6 });
    const { failedExchanges } = await running;
    await drainFor(hour);
    expect(failedExchanges).toBeGreaterThan(0);
    await expectAllCompleted(6);
  } finally {
    await back.close();
  }
});
