import { afterEach, expect, test } from 'vitest';
import { type DrainPorts, drain } from '../../lib/drain.ts';
import type { Clock, ExchangeRequest } from '../../lib/ports.ts';
import type { FastClock } from '../support/fast-clock.ts';
import { allJobs, type Parts, remaining, startParts, submitClip } from '../support/parts.ts';

/* Clocks that are wrong, a schedule that does not fire and a process that stands still, on real parts. */

let parts: Parts;
afterEach(() => parts.close());

const minute = 60_000;
const hour = 60 * minute;

async function submitClips(count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, i) => submitClip(parts, `clip-${i}`)));
}

async function expectAllCompleted(count: number): Promise<void> {
  expect((await allJobs(parts)).map(({ state }) => state)).toEqual(Array(count).fill('completed'));
  expect(parts.sume.report()).toMatchObject({ billedClips: count, earlyReads: 0, duplicateReads: 0 });
}

/** A process' own clock whose time of day is wrong by so much. */
function clockThatIsOff(offMs: () => number): Clock {
  const { clock } = parts.ports;
  return {
    nowMs: () => clock.nowMs() + offMs(),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}

/** The ports of a process that stands still with its first claims: until `thaw` nothing that it waits for comes to it. */
function freezing(given: DrainPorts) {
  const { dueSet, store, provider, clock } = given;
  let freeze = () => {};
  let thaw = () => {};
  let stands = false;
  const froze = new Promise<void>((resolve) => {
    freeze = resolve;
  });
  const thawed = new Promise<void>((resolve) => {
    thaw = resolve;
  });
  const late =
    <A extends unknown[], T>(call: (...given: A) => Promise<T>) =>
    (...args: A): Promise<T> =>
      call(...args).finally(() => (stands ? thawed : undefined));
  const exchange = late(async (request: ExchangeRequest) => {
    const reply = await dueSet.exchange(request);
    if (reply.claimed.length > 0) {
      stands = true;
      freeze();
    }
    return reply;
  });
  const ports: DrainPorts = {
    ...given,
    dueSet: { exchange, tidy: () => dueSet.tidy() },
    store: {
      get: late(store.get.bind(store)),
      getMany: late(store.getMany.bind(store)),
      update: late(store.update.bind(store)),
    },
    provider: { create: late(provider.create.bind(provider)), read: late(provider.read.bind(provider)) },
    clock: { nowMs: clock.nowMs, monotonicMs: clock.monotonicMs, sleep: late(clock.sleep.bind(clock)) },
  };
  return { ports, froze, thaw };
}

test('T33 180 missed ticks are one late read of each job, not 180', async () => {
  parts = await startParts({ renderSeconds: 400, limits: { processing: 20 } });
  await submitClips(8);
  await drain(parts.ports, parts.settings, remaining(parts, 65_000));
  const before = parts.sume.report().providerReads;
  (parts.ports.clock as FastClock).advance(180 * minute);
  const started = Array.from({ length: 3 }, () => drain(parts.ports, parts.settings, remaining(parts, 65_000)));
  const reports = await Promise.all(started);
  expect(Math.max(...reports.map(({ dueLagMs }) => dueLagMs))).toBeGreaterThan(179 * minute);
  expect(parts.sume.report().providerReads - before).toBe(8);
  await expectAllCompleted(8);
});

test('T32 a process that stands still for a minute finds its leases gone, and neither reads nor settles what others have taken', async () => {
  parts = await startParts({ renderSeconds: 150, limits: { processing: 20 } });
  await submitClips(8);
  await drain(parts.ports, parts.settings, remaining(parts, 65_000));
  const { ports, froze, thaw } = freezing(parts.ports);
  const frozen = drain(ports, parts.settings, remaining(parts, hour));
  await froze;
  const other = drain(parts.ports, parts.settings, remaining(parts, hour));
  await parts.ports.clock.sleep(minute);
  thaw();
  const [lost, taken] = await Promise.all([frozen, other]);
  expect(lost.lostLeases).toBeGreaterThan(0);
  expect(taken.steps).toBeGreaterThanOrEqual(8);
  await expectAllCompleted(8);
});

test.each([
  ['five minutes ahead', 5 * minute],
  ['five minutes behind', -5 * minute],
])('a drain whose clock is %s reads when the provider said, not early and not minutes late', async (_, offMs) => {
  parts = await startParts({ renderSeconds: 100, limits: { processing: 20 } });
  await submitClips(8);
  const clock = clockThatIsOff(() => offMs);
  await drain({ ...parts.ports, clock }, parts.settings, remaining(parts, hour));
  await expectAllCompleted(8);
  expect(parts.sume.report().latenessMs.max).toBeLessThan(minute);
});

test('T31 a drain whose clock steps back by five minutes under way goes on as if nothing had been', async () => {
  parts = await startParts({ renderSeconds: 100, limits: { processing: 20 } });
  await submitClips(8);
  let offMs = 0;
  const clock = clockThatIsOff(() => offMs);
  const running = drain({ ...parts.ports, clock }, parts.settings, remaining(parts, hour));
  await clock.sleep(40_000);
  offMs = -5 * minute;
  await running;
  await expectAllCompleted(8);
  expect(parts.sume.report().latenessMs.max).toBeLessThan(minute);
});
