import { expect, type TestContext, test } from 'vitest';
import type { SumeSimulatorOptions } from '../../infra/local/sume-simulator/settings.ts';
import { workspaceIdOf } from '../../infra/local/sume-simulator/world.ts';
import { pauseAccount, resumeAccount } from '../../lib/account-pause.ts';
import type { AccountLimits } from '../../lib/accounts.ts';
import { type DrainPorts, type DrainSettings, drain } from '../../lib/drain.ts';
import type { Job } from '../../lib/job.ts';
import { type SubmitPorts, submit } from '../../lib/submit.ts';
import type { FastClock } from '../support/fast-clock.ts';
import { allJobs, completeAll, heal, type Parts, remaining, startParts, strike } from '../support/parts.ts';
import { secondAccount } from '../support/second-account.ts';
import { until as untilWithin } from '../support/start-process.ts';
import { dueKey, membersOf } from '../support/upstash.ts';

/* Accounts on real parts: real Redis through the bridge, dynalite, the simulator. Times pass thirty times as fast. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const keyOf = { sume: 'sk_test', other: 'sk_other' };

/** With no time for a further step once it holds: the drain ends in order. */
function drainUntil(holds: () => boolean, ports: DrainPorts, settings: DrainSettings) {
  return drain(ports, settings, () => (holds() ? settings.stepMs - 1 : hour));
}

type Ended = Pick<TestContext, 'onTestFinished'>;

async function start(
  ended: Ended,
  simulator: SumeSimulatorOptions,
  accountLimits: Partial<AccountLimits> = {},
): Promise<Parts> {
  const parts = await startParts(simulator, { accountLimits });
  ended.onTestFinished(() => parts.close());
  return parts;
}

async function submitTo(ports: SubmitPorts, account: string, keys: readonly string[], owner = 'acme'): Promise<Job[]> {
  const jobs: Job[] = [];
  for (const idempotencyKey of keys) {
    const input = { model: 'seedance-2-mini', prompt: 'a lighthouse', duration: 8, resolution: '720p' };
    const request = { owner, account, idempotencyKey, input, deadlineSeconds: 3_600, metadata: {} };
    jobs.push((await submit(ports, request)).job);
  }
  return jobs;
}

const names = (what: string, count: number) => Array.from({ length: count }, (_, i) => `${what}-${i}`);

function drainFor(parts: Parts, ms: number, settings: Partial<DrainSettings> = {}, ports = parts.ports) {
  return drain(ports, { ...parts.settings, ...settings }, remaining(parts, ms));
}

/** How many reads and creates came with the account's key in the seconds from `fromMs` on, up to `toMs`; ms on the parts' clock. */
function calls({ sume }: Parts, account: keyof typeof keyOf, fromMs: number, toMs: number) {
  const { perKey = [] } = sume.report({ detail: true });
  const { seconds = [] } = perKey.find(({ workspace }) => workspace === workspaceIdOf(keyOf[account])) ?? {};
  const within = seconds.filter(({ atSecond }) => atSecond * second >= fromMs && (atSecond + 1) * second <= toMs);
  const sum = (what: 'reads' | 'creates') => within.reduce((total, counts) => total + counts[what], 0);
  return { reads: sum('reads'), creates: sum('creates') };
}

const until = (holds: () => boolean | Promise<boolean>, what: string) => untilWithin(holds, what, 15_000);
const statesOf = async (parts: Parts) => (await allJobs(parts)).map(({ state }) => state);

test('T48 a 429 that asks for 60 s on one read holds that account, at most a probe: the other is read on time, nobody loses its place', async (ended) => {
  const parts = await start(ended, { renderSeconds: 3_000, limits: false });
  const { clock } = parts.ports;
  const other = secondAccount(parts, { account: 'other', apiKey: keyOf.other });
  ended.onTestFinished(() => other.close());
  await submitTo(parts.ports, 'sume', names('clip', 100));
  await submitTo(other.ports, 'other', names('clip', 20), 'globex');
  const allIn = () => parts.sume.report().billedClips === 120;
  await Promise.all([parts.ports, other.ports].map((ports) => drainUntil(allIn, ports, parts.settings)));
  (clock as FastClock).advance(20 * second);

  const before = await membersOf(parts.upstash);
  expect([...before.values()].filter((score) => Number(score) < clock.nowMs())).toHaveLength(100);
  await strike(parts, [{ kind: 'error', route: 'status', status: 429, retryAfter: 60, count: 1 }]);
  const lanes = { concurrency: 4 };
  const held = drainFor(parts, hour, lanes);
  const overview = () => parts.ports.view.overview('sume');
  await until(async () => (await overview()).state.breaker?.kind === 'held', 'the hold');
  const heldAtMs = clock.nowMs();
  const free = drainFor(parts, hour, {}, other.ports);
  await clock.sleep(50 * second);
  const during = await membersOf(parts.upstash);
  expect(calls(parts, 'sume', heldAtMs + second, heldAtMs + 50 * second).reads).toBeLessThanOrEqual(1);
  // Four a job in the minute; what it was late by when its drain began is made up for at once.
  expect(calls(parts, 'other', heldAtMs, heldAtMs + 50 * second).reads).toBeGreaterThanOrEqual(3 * 20);
  // Those that were being read when the 429 came have a new time, from their own answers; all others keep theirs.
  const kept = [...before].filter(([id, score]) => during.get(id) === score);
  expect(kept.length).toBeGreaterThanOrEqual(100 - 1 - lanes.concurrency);
  expect(during.size).toBe(100);

  await completeAll(parts.sume);
  await Promise.all([held, free]);
  const jobs = [...(await allJobs(parts)), ...(await parts.ports.store.list('globex', { limit: 100 })).jobs];
  expect(jobs.map(({ state }) => state)).toEqual(Array(120).fill('completed'));
  expect(parts.sume.report()).toMatchObject({ billedClips: 120, earlyReads: 0 });
});

test('three overlapping drains on one account stay within its 120 reads a minute, use them, and starve no job', async (ended) => {
  const limits = { readsPerMinute: 120, createsPerMinute: 1_000, processing: 100 };
  const parts = await start(ended, { renderSeconds: 900, window: 'sliding', limits }, { readsPerMinute: 120 });
  const { clock } = parts.ports;
  await submitTo(parts.ports, 'sume', names('clip', 60));
  await drainUntil(() => parts.sume.report().billedClips === 60, parts.ports, parts.settings);
  // These answers say nothing of what is left of the limit: the account has to know by itself.
  const hinted = (seconds: number, probability: number) => ({
    ...{ kind: 'answer', route: 'status', probability },
    body: JSON.stringify({ status: 'processing', next_poll_after_seconds: seconds }),
  });
  await strike(parts, [hinted(2, 0.3), hinted(3, 0.5), hinted(5, 1)]);
  const startedAtMs = clock.nowMs();
  const drains = [0, 300, 700].map(async (afterMs) => {
    await clock.sleep(afterMs);
    // One that finds nothing left to claim leaves it to the first, and comes again.
    let steps = 0;
    const endsAtMs = startedAtMs + 145 * second;
    while (clock.nowMs() < endsAtMs) {
      const report = await drainFor(parts, endsAtMs - clock.nowMs() + parts.settings.stepMs);
      steps += report.steps;
      await clock.sleep(second);
    }
    return steps;
  });
  await clock.sleep(65 * second);
  const first = parts.sume.report({ detail: true });
  await fetch(`${parts.sume.url}/__control/reset-observations`, { method: 'POST' });
  expect(Math.min(...(await Promise.all(drains)))).toBeGreaterThan(20);
  const last = parts.sume.report({ detail: true });

  for (const { refused429, perKey } of [first, last]) {
    expect(refused429.status).toBe(0);
    expect(perKey?.[0]?.perMinuteMost.reads).toBeLessThanOrEqual(120);
    expect(perKey?.[0]?.perMinuteMost.reads).toBeGreaterThan(0.75 * 120);
  }
  const reads = last.perJob?.map((job) => job.reads) ?? [];
  expect(reads).toHaveLength(60);
  expect(Math.max(...reads) - Math.min(...reads)).toBeLessThanOrEqual(2);
});

test.concurrent('T46 no credit stops creates and no read; once there is credit again it goes on by itself', async (ended) => {
  const parts = await start(ended, { renderSeconds: 60 }, { maxInFlight: 24 });
  const { clock, view } = parts.ports;
  await submitTo(parts.ports, 'sume', names('before', 4));
  const draining = drainFor(parts, hour);
  await until(() => parts.sume.report().billedClips === 4, 'the first clips');
  const { createsReceived } = parts.sume.report();
  await strike(parts, { kind: 'error', route: 'create', status: 402, code: 'insufficient_credits' });
  await submitTo(parts.ports, 'sume', names('after', 6));
  await until(() => parts.sume.report().createsReceived > createsReceived, 'the first that is refused');
  const refusedAtMs = clock.nowMs();
  await clock.sleep(40 * second);
  const { state, waiting } = await view.overview('sume');
  expect({ hold: state.createsHold?.reason, breaker: state.breaker, waiting }).toEqual({
    ...{ hold: 'no_credit', breaker: null, waiting: 6 },
  });
  await clock.sleep(25 * second);
  const meanwhile = calls(parts, 'sume', refusedAtMs, clock.nowMs());
  // Those that were under way with the first, and one more after a minute.
  expect(meanwhile.creates).toBeLessThanOrEqual(6);
  expect(meanwhile.reads).toBeGreaterThanOrEqual(4 * 3);
  await heal(parts);
  await draining;
  expect(await statesOf(parts)).toEqual(Array(10).fill('completed'));
  expect(parts.sume.report()).toMatchObject({ billedClips: 10, earlyReads: 0 });
});

test.concurrent('a key that is refused for everything leaves a few probes a minute, and recovers unaided', async (ended) => {
  const parts = await start(ended, { renderSeconds: 70, limits: { processing: 30 } }, { maxInFlight: 8 });
  const { clock, view } = parts.ports;
  await submitTo(parts.ports, 'sume', names('clip', 16));
  const draining = drainFor(parts, hour);
  await until(() => parts.sume.report().billedClips === 8, 'as many clips as there are slots');
  await strike(parts, { kind: 'error', route: 'any', status: 401 });
  await until(async () => (await view.overview('sume')).state.breaker?.kind === 'denied', 'the refusal to be known');
  const deniedAtMs = clock.nowMs();
  await clock.sleep(102 * second);
  const meanwhile = calls(parts, 'sume', deniedAtMs + second, deniedAtMs + 101 * second);
  // A read each 20 s, and a create a minute.
  expect(meanwhile.reads + meanwhile.creates).toBeLessThanOrEqual(8);
  expect(meanwhile.reads).toBeGreaterThanOrEqual(1);
  await heal(parts);
  await draining;
  expect(await statesOf(parts)).toEqual(Array(16).fill('completed'));
  expect(parts.sume.report()).toMatchObject({ billedClips: 16, earlyReads: 0 });
});

test.concurrent('an account that is paused for creates is read on, one that is paused for all is left alone, and both go on when resumed', async (ended) => {
  const parts = await start(ended, { renderSeconds: 60, limits: { processing: 30 } }, { maxInFlight: 5 });
  const { clock, view } = parts.ports;
  await submitTo(parts.ports, 'sume', names('clip', 15));
  const draining = drainFor(parts, hour);
  await until(() => parts.sume.report().billedClips === 5, 'as many clips as there are slots');
  await pauseAccount(parts.ports, 'sume', 'creates');
  const pausedAtMs = clock.nowMs();
  // All of the first five end meanwhile, so that there are free slots.
  await until(() => parts.sume.report().jobs.completed === 5, 'the end of the first');
  await clock.sleep(20 * second);
  const meanwhile = calls(parts, 'sume', pausedAtMs + 2 * second, clock.nowMs());
  expect(meanwhile.creates).toBe(0);
  expect(meanwhile.reads).toBeGreaterThanOrEqual(5 * 4);
  expect(await view.overview('sume')).toMatchObject({ inFlight: 0, waiting: 10 });
  // Nothing is in its hand and nothing can be admitted, so this drain leaves: the API wakes another one.
  expect(await draining).toMatchObject({ ended: 'idle' });

  await resumeAccount(parts.ports, 'sume');
  const resumed = drainFor(parts, hour);
  await until(() => parts.sume.report().billedClips === 10, 'the next clips');
  await pauseAccount(parts.ports, 'sume', 'all');
  expect(await resumed).toMatchObject({ ended: 'idle' });
  const leftAtMs = clock.nowMs();
  const due = await membersOf(parts.upstash, dueKey);
  await clock.sleep(30 * second);
  expect(await drainFor(parts, hour)).toMatchObject({ ended: 'idle', claims: 0 });
  expect(calls(parts, 'sume', leftAtMs + second, clock.nowMs())).toEqual({ reads: 0, creates: 0 });
  expect(await membersOf(parts.upstash, dueKey)).toEqual(due);

  await resumeAccount(parts.ports, 'sume');
  await drainFor(parts, hour);
  expect(await statesOf(parts)).toEqual(Array(15).fill('completed'));
  expect(parts.sume.report()).toMatchObject({ billedClips: 15, earlyReads: 0 });
});
