import { afterEach, expect, test } from 'vitest';
import { drain } from '../../lib/drain.ts';
import { submit } from '../../lib/submit.ts';
import type { FastClock } from '../support/fast-clock.ts';
import { allJobs, type Parts, remaining, startParts, strike, sweepAll } from '../support/parts.ts';
import { membersOf } from '../support/upstash.ts';

/* Jobs that the provider asks to leave alone for long, on real parts. Times pass thirty times as fast, and jump. */

let parts: Parts;
/** When jobs were read, on the parts' clock. */
let readsAtMs: number[];
/** What happens while the provider reads. */
let whileRead: () => Promise<void>;
afterEach(() => parts.close());

const minute = 60_000;
const hour = 60 * minute;
const leaseMs = 10_000;

async function start(jobs: number, leaveAlone: object): Promise<void> {
  parts = await startParts({ renderSeconds: 36_000, limits: false });
  const { provider, clock } = parts.ports;
  readsAtMs = [];
  whileRead = async () => {};
  parts.ports.provider = {
    create: (job, call) => provider.create(job, call),
    async read(job, call) {
      readsAtMs.push(clock.nowMs());
      await whileRead();
      return provider.read(job, call);
    },
  };
  await strike(parts, { route: 'status', ...leaveAlone });
  for (let i = 0; i < jobs; i++) await submitForADay(`clip-${i}`);
}

function submitForADay(idempotencyKey: string) {
  const input = { model: 'seedance-2-mini', prompt: 'a lighthouse', duration: 8, resolution: '720p' };
  const rest = { input, deadlineSeconds: 86_400, metadata: {} };
  return submit(parts.ports, { owner: 'acme', account: 'sume', idempotencyKey, ...rest });
}

const drainFor = (ms: number) => drain(parts.ports, parts.settings, remaining(parts, ms));
/** A run as the schedule starts it: half a minute in which it claims. */
const scheduledRun = () => drainFor(minute);
const advance = (ms: number) => (parts.ports.clock as FastClock).advance(ms);
const scores = async () => [...(await membersOf(parts.upstash)).values()].map(Number);

const told = [
  {
    wait: 'a hint of ten minutes',
    waitMs: 10 * minute,
    rule: { kind: 'answer', body: JSON.stringify({ status: 'queued', next_poll_after_seconds: 600 }) },
  },
  { wait: 'a 429 for an hour', waitMs: hour, rule: { kind: 'error', status: 429, retryAfter: 3_600 } },
];

test.each(told)(
  'T17 after $wait a job is read once at its mark, although the drain that was told died before it settled',
  async ({ waitMs, rule }) => {
    await start(1, rule);
    // From the first read on nothing reaches Redis: the record is written, the lease is never given back.
    const cutOff = { match: 'evalsha', failWith: { status: 500, body: { error: 'ERR away' } } };
    whileRead = () => parts.upstash.setFaults(cutOff);
    await scheduledRun();
    whileRead = async () => {};
    await parts.upstash.setFaults({});
    expect((await scores())[0]).not.toSatisfy(Number.isInteger);
    const toldAtMs = readsAtMs[0] ?? 0;
    const [job] = await allJobs(parts);
    expect(job?.notBeforeMs).toBeGreaterThanOrEqual(toldAtMs + waitMs);

    advance(leaseMs);
    expect(await scheduledRun()).toMatchObject({ claims: 1, steps: 0, ended: 'idle' });
    expect(await scores()).toEqual([
      expect.toSatisfy((score) => Number.isInteger(score) && score >= toldAtMs + waitMs),
    ]);
    for (let run = 0; run < 5; run++) {
      expect(await scheduledRun()).toMatchObject({ claims: 0, ticks: 1, ended: 'idle' });
      advance(waitMs / 10);
    }
    expect(readsAtMs).toHaveLength(1);

    advance((job?.notBeforeMs ?? 0) - parts.ports.clock.nowMs() - 10_000);
    expect(await scheduledRun()).toMatchObject({ claims: 1, steps: 1, lostLeases: 0 });
    expect(readsAtMs).toHaveLength(2);
    expect(readsAtMs[1]).toBeGreaterThanOrEqual(toldAtMs + waitMs);
  },
);

test('T80 a healthy job that was told to wait ten minutes is neither failed nor pulled forward by the sweep', async () => {
  await start(5, told[0]?.rule ?? {});
  await drainFor(2 * minute);
  expect(readsAtMs).toHaveLength(5);
  const before = { jobs: await allJobs(parts), scores: await scores() };
  for (let swept = 0; swept < 3; swept++) {
    advance(2 * minute);
    expect(await sweepAll(parts)).toMatchObject({ complete: true, active: 5, restored: 0 });
    await submitForADay('clip-0');
    expect(await scheduledRun()).toMatchObject({ claims: 0, ended: 'idle', dueLagMs: 0 });
  }
  expect({ jobs: await allJobs(parts), scores: await scores() }).toEqual(before);
  expect(before.jobs.every(({ state, lastFault }) => state === 'queued' && lastFault === undefined)).toBe(true);

  // Nor when the set has lost it, and only the record tells how long it is to be left alone.
  await parts.upstash.direct('FLUSHALL');
  expect(await sweepAll(parts)).toMatchObject({ restored: 5 });
  const earliest = Math.min(...before.jobs.map(({ notBeforeMs = 0 }) => notBeforeMs));
  expect(Math.min(...(await scores()))).toBeGreaterThanOrEqual(earliest);
  expect(await scheduledRun()).toMatchObject({ claims: 0, ended: 'idle' });
  expect(readsAtMs).toHaveLength(5);
});
