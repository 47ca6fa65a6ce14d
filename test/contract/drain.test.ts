import { afterEach, expect, test } from 'vitest';
import { type DrainSettings, drain } from '../../lib/drain.ts';
import { pendingEvents } from '../../lib/event.ts';
import type { Job } from '../../lib/job.ts';
import type { News } from '../../lib/news.ts';
import { allJobs, type Parts, remaining, startParts, strike, submitClip, sweepAll } from '../support/parts.ts';
import { dueKey, membersOf, waitingKey } from '../support/upstash.ts';

/* The drain on real parts: real Redis through the bridge, dynalite, the simulator. Times pass thirty times as fast. */

let parts: Parts;
afterEach(() => parts.close());

const hour = 3_600_000;

async function submitClips(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await submitClip(parts, `clip-${i}`);
}

function drainFor(ms: number, settings: Partial<DrainSettings> = {}) {
  return drain(parts.ports, { ...parts.settings, ...settings }, remaining(parts, ms));
}

/** True when the simulator's only fault has struck as often as it was told to. */
async function allStruck(): Promise<boolean> {
  const reply = await fetch(`${parts.sume.url}/__control/faults`);
  return JSON.stringify(await reply.json()).includes('"left":0');
}

async function waitUntil(holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error('It did not come to hold within 20 s.');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function expectAllCompleted(count: number): Promise<void> {
  const jobs = await allJobs(parts);
  expect(jobs.map(({ state }) => state)).toEqual(Array(count).fill('completed'));
  expect(jobs.every(({ result }) => result?.value != null)).toBe(true);
  expect(await parts.upstash.direct('ZCARD', dueKey)).toBe(0);
}

test('clips go in and come out: each billed once, read when the provider asked for it, never early, five writes each', async () => {
  // Slower than elsewhere: no lease is to be lost, and the first calls of a process take their time.
  parts = await startParts({ renderSeconds: 20, limits: { processing: 20 } }, { speed: 10 });
  await submitClips(20);
  const report = await drainFor(hour);
  expect(report).toMatchObject({ ended: 'idle', lostLeases: 0, orphans: 0, failedExchanges: 0 });
  await expectAllCompleted(20);
  expect((await allJobs(parts))[0]?.usage).toMatchObject({ status: 'captured', capturedMicros: 1_512_000 });
  expect(parts.sume.report()).toMatchObject({ billedClips: 20, earlyReads: 0, duplicateReads: 0 });
  expect(parts.dynamo.counts().writes).toBeLessThanOrEqual(20 * 5);
});

test('more clips than the provider has places for wait, and are sent as places become free', async () => {
  parts = await startParts({ renderSeconds: 20, limits: { createsPerMinute: 1_000 } });
  await submitClips(40);
  await drainFor(hour);
  await expectAllCompleted(40);
  const { billedClips, refused429, earlyReads } = parts.sume.report();
  expect({ billedClips, earlyReads }).toEqual({ billedClips: 40, earlyReads: 0 });
  // The first refusal holds the other creates: not every waiting job runs into one of its own.
  expect(refused429.create).toBeLessThan(60);
});

test('T112 overlapping drains work disjoint jobs: no read twice, no clip twice, none late because of the other', async () => {
  parts = await startParts({ renderSeconds: 20, limits: { createsPerMinute: 1_000, queued: 8 } });
  await submitClips(30);
  await Promise.all([drainFor(hour), drainFor(hour), drainFor(hour)]);
  await expectAllCompleted(30);
  const { latenessMs, ...report } = parts.sume.report();
  expect(report).toMatchObject({ billedClips: 30, earlyReads: 0, duplicateReads: 0 });
  // A drain that trusted its copy of a job which another one has sent meanwhile would wait for a free place: 15 s and more.
  expect(latenessMs.max).toBeLessThan(10_000);
});

test('a window that ends gives back what it did not start, to its own place in line', async () => {
  parts = await startParts();
  await submitClips(2);
  const lineBefore = await membersOf(parts.upstash, waitingKey);
  await strike(parts, [{ kind: 'delay', route: 'create', ms: 800 }]);
  // One lane, and a create that takes longer than the window: the second job never starts.
  const report = await drainFor(60_000, { stepMs: 50_000, createConcurrency: 1 });
  expect(report).toMatchObject({ ended: 'window', steps: 1, givenBack: 1 });
  const lineAfter = await membersOf(parts.upstash, waitingKey);
  expect([...lineAfter].filter(([id, rank]) => lineBefore.get(id) === rank)).toHaveLength(1);
  expect(parts.sume.report().createsReceived).toBe(1);
});

test('T113 with no time for a step nothing is claimed', async () => {
  parts = await startParts();
  await submitClips(1);
  for (const ms of [6_000, 400, -1]) expect(await drainFor(ms)).toMatchObject({ ended: 'no_time', claims: 0 });
  expect(parts.upstash.rest.counts().httpRequests).toBeLessThanOrEqual(2);
});

test('T38 a drain that falls behind asks for helpers, up to its limit; they ask for none, and leave when the lag is gone', async () => {
  parts = await startParts({ renderSeconds: 5, limits: { processing: 60, createsPerMinute: 10_000 } });
  await submitClips(40);
  await strike(parts, [{ kind: 'delay', route: 'status', ms: 120, count: 60 }]);
  const lanes = { concurrency: 1, createConcurrency: 10, helpersMax: 2 };
  const helpers: ReturnType<typeof drain>[] = [];
  const wake = async (as?: 'helper') => {
    helpers.push(drain(parts.ports, { ...parts.settings, ...lanes }, remaining(parts, hour), as));
  };
  parts.ports.waker = { wake };
  const report = await drainFor(hour, lanes);
  const helped = await Promise.all(helpers);
  expect(report.helpers).toBe(2);
  expect(helped.map(({ helpers: asked }) => asked)).toEqual([0, 0]);
  for (const { ended, steps } of helped) {
    expect(['calm', 'idle']).toContain(ended);
    expect(steps).toBeGreaterThan(0);
  }
  await expectAllCompleted(40);
  expect(parts.sume.report()).toMatchObject({ billedClips: 40, earlyReads: 0, duplicateReads: 0 });
});

test('T14 an id without a record is dropped, and the job behind it is worked in the same tick', async () => {
  parts = await startParts({ renderSeconds: 5 });
  const ghosts = Array.from({ length: 200 }, (_, i) => ['1', `job_ghost_${i}`]).flat();
  await parts.upstash.direct('ZADD', dueKey, ...ghosts);
  await submitClips(5);
  const report = await drainFor(hour);
  expect(report.orphans).toBe(200);
  await expectAllCompleted(5);
});

test('a wiped Redis is rebuilt by one sweep: every active job comes back, no ended one does, none is read early', async () => {
  parts = await startParts({ renderSeconds: 100, limits: { processing: 20 } });
  await submitClips(12);
  await drainFor(65_000);
  await parts.upstash.direct('FLUSHALL');
  expect(await sweepAll(parts)).toMatchObject({ complete: true, active: 12, restored: 12 });
  expect(await sweepAll(parts)).toMatchObject({ restored: 0 });
  await drainFor(hour);
  await expectAllCompleted(12);
  expect(await sweepAll(parts)).toMatchObject({ active: 0, restored: 0 });
  expect(parts.sume.report()).toMatchObject({ billedClips: 12, earlyReads: 0, duplicateReads: 0 });
});

test('a reply of Redis that is lost, whichever one, costs time and nothing else', async () => {
  parts = await startParts({ renderSeconds: 40 });
  await submitClips(15);
  await parts.upstash.setFaults({ match: 'evalsha', dropReplies: 0.15 });
  await drainFor(hour);
  await expectAllCompleted(15);
  expect(parts.sume.report()).toMatchObject({ billedClips: 15, earlyReads: 0, duplicateReads: 0 });
});

test('T20 a read whose lease can not be renewed is ended before another drain may begin one', async () => {
  parts = await startParts({ renderSeconds: 200, limits: { processing: 10 } });
  await submitClips(4);
  await drainFor(65_000);
  await strike(parts, [{ kind: 'hang', route: 'status', count: 4 }]);
  const first = drainFor(120_000);
  await waitUntil(allStruck);
  await parts.upstash.setFaults({
    match: 'evalsha',
    failWith: { status: 500, body: { error: 'ERR away' }, times: 14 },
  });
  const report = await first;
  await drainFor(hour);
  await expectAllCompleted(4);
  expect(report.lostLeases).toBeGreaterThan(0);
  expect(parts.sume.report()).toMatchObject({ billedClips: 4, earlyReads: 0, duplicateReads: 0 });
});

test('T14 a member that is no job id is dropped, and spoils no record read', async () => {
  parts = await startParts({ renderSeconds: 5 });
  await parts.upstash.direct('ZADD', dueKey, '1', '', '2', 'x'.repeat(3_000), '3', 'job_A/..');
  await submitClips(3);
  expect(await drainFor(hour)).toMatchObject({ orphans: 3 });
  await expectAllCompleted(3);
  expect(parts.logged.map(({ event }) => event)).not.toContain('records_unread');
});

test('after a wiped Redis neither a repeated submit nor the sweep leads to a read before the provider said', async () => {
  parts = await startParts({ renderSeconds: 400, limits: { processing: 10 } });
  await submitClips(5);
  await strike(parts, [{ kind: 'error', route: 'status', status: 429, retryAfter: 200, count: 5 }]);
  await drainFor(65_000);
  await parts.upstash.direct('FLUSHALL');
  await submitClips(5);
  expect(await parts.upstash.direct('ZCARD', dueKey)).toBe(0);
  let woken = 0;
  parts.ports.queues = new Map([['sume', { dueSet: parts.ports.dueSet, waker: { wake: async () => void woken++ } }]]);
  expect(await sweepAll(parts)).toMatchObject({ restored: 5 });
  expect(woken).toBe(1);
  const dueInMs = [...(await membersOf(parts.upstash)).values()].map(
    (score) => Number(score) - parts.ports.clock.nowMs(),
  );
  // The first that was told to wait has held the others; the hold went with Redis, its own wait stands in its record.
  expect(Math.max(...dueInMs)).toBeGreaterThan(100_000);
  expect(Math.min(...dueInMs)).toBeGreaterThan(20_000);
});

test('T121 a used-up Redis plan ends the run after one try and is told', async () => {
  parts = await startParts();
  await submitClips(1);
  const before = parts.upstash.rest.counts().httpRequests;
  await parts.upstash.setFaults({ failWith: { status: 400, body: { error: 'ERR max requests limit exceeded' } } });
  expect(await drainFor(hour)).toMatchObject({ ended: 'limit', claims: 0 });
  expect(parts.upstash.rest.counts().httpRequests - before).toBeLessThanOrEqual(2);
  expect(parts.logged.filter(({ event }) => event === 'exchange_failed')).toHaveLength(1);
});

test('T43 T54 provider answers that make no sense change no state and fail no job', async () => {
  parts = await startParts({ renderSeconds: 30 });
  await submitClips(6);
  const faults = [
    { kind: 'malformed-json', route: 'status', count: 3 },
    { kind: 'wrong-id', route: 'status', count: 3 },
    { kind: 'error', status: 502, route: 'status', count: 3 },
    { kind: 'empty-body', route: 'result', count: 2 },
    { kind: 'reset-after-effect', route: 'create', count: 3 },
  ];
  await strike(parts, faults);
  await drainFor(2 * hour);
  await expectAllCompleted(6);
  expect(parts.sume.report()).toMatchObject({ billedClips: 6, earlyReads: 0 });
});

test('T18 a step that throws touches its own job only, which is put aside with the reason', async () => {
  parts = await startParts({ renderSeconds: 5 });
  await submitClips(10);
  const victim = (await allJobs(parts))[3]?.id;
  const { provider } = parts.ports;
  parts.ports.provider = {
    create: (job) => (job.id === victim ? Promise.reject(new TypeError('boom')) : provider.create(job)),
    read: (job) => provider.read(job),
  };
  await drainFor(120_000);
  const jobs = await allJobs(parts);
  expect(jobs.filter(({ state }) => state === 'completed')).toHaveLength(9);
  expect(jobs.find(({ id }) => id === victim)?.lastFault).toMatchObject({ code: 'internal_error' });
});

test('a job that was being worked alone when its drain died, claims in a row, is parked with a reason', async () => {
  parts = await startParts();
  await submitClips(1);
  const job = (await allJobs(parts))[0] as Job;
  await parts.ports.store.update({ ...job, suspectedAtMs: 1 });
  await parts.upstash.direct('ZADD', dueKey, `${parts.ports.clock.nowMs() - 1_000}.25`, job.id);
  expect(await drainFor(60_000)).toMatchObject({ parked: 1, steps: 0 });
  const parked = (await allJobs(parts))[0];
  expect(parked).toMatchObject({ state: 'waiting', lastFault: { code: 'parked' } });
  expect(parked).not.toHaveProperty('suspectedAtMs');
  expect(parts.sume.report().createsReceived).toBe(0);
});

test('jobs that were only in hand beside it, or whose claims were never heard of, are worked one by one and none is parked', async () => {
  parts = await startParts({ renderSeconds: 5, limits: { processing: 10 } });
  await submitClips(8);
  const jobs = await allJobs(parts);
  const leaseEnd = `${parts.ports.clock.nowMs() - 1_000}.5`;
  await parts.upstash.direct('ZADD', dueKey, ...jobs.flatMap(({ id }) => [leaseEnd, id]));
  expect(await drainFor(hour)).toMatchObject({ parked: 0 });
  await expectAllCompleted(8);
  expect((await allJobs(parts)).some((job) => job.suspectedAtMs !== undefined)).toBe(false);
  expect(parts.sume.report()).toMatchObject({ billedClips: 8, duplicateReads: 0 });
});

test('an end that a drain wrote and did not live to announce is announced by the one that claims the job next', async () => {
  parts = await startParts({ renderSeconds: 5 });
  await submitClips(1);
  const listened: News = { address: (job) => job, announce: async () => {} };
  const told: string[] = [];
  // As if it had died right after its write: the id is still in the set, the record has ended.
  await drain({ ...parts.ports, news: listened }, parts.settings, remaining(parts, hour));
  const [ended] = await allJobs(parts);
  expect(pendingEvents(ended as Job).map(({ type }) => type)).toContain('job.completed');
  await parts.ports.dueSet.schedule([{ id: (ended as Job).id, delayMs: 0 }]);
  const news: News = { ...listened, announce: async ({ id }) => void told.push(id) };
  await drain({ ...parts.ports, news }, parts.settings, remaining(parts, hour));
  expect(told).toEqual([ended?.id]);
  expect(await parts.upstash.direct('ZCARD', dueKey)).toBe(0);
});
