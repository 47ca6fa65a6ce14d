import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { drain } from '../../lib/drain.ts';
import type { DrainReport } from '../../lib/drain-report.ts';
import { dueSets } from '../support/due-set.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import { json } from '../support/scripted-server.ts';
import { until } from '../support/start-process.ts';
import { membersOf } from '../support/upstash.ts';
import { startWiredDrain, type WiredDrain } from '../support/wired-drain.ts';

/* A drain's process stands still, by SIGSTOP, for longer than its leases or than its whole window. */

let parts: WiredDrain;
let frozen: NodeProcess;

const drainProcess = fileURLToPath(new URL('../support/drain-process.ts', import.meta.url));
const leaseMs = 1_600;
const quick = { LEASE_MS: String(leaseMs), TICK_MS: '200', PROVIDER_TIMEOUT_MS: '1000', DRAIN_CONCURRENCY: '1' };
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Three jobs that are due, and a process that has claimed them: one is being read, the others wait for its lane. */
async function freezeWhileItReads(remainingMs: number): Promise<{ ended: Promise<DrainReport>; answer: () => void }> {
  parts = await startWiredDrain(quick);
  await parts.putRunning(3, 60_000);
  let answer = () => {};
  parts.provider.reply = () => (socket) => {
    answer = () => still(socket);
  };
  const environment = { ...parts.environment, REMAINING_MS: String(remainingMs) };
  frozen = await startNodeProcess(drainProcess, environment, { execArgv: ['--import', 'tsx'] });
  const ended = new Promise<DrainReport>((resolve) => {
    frozen.onMessage((message) => resolve((message as { report: DrainReport }).report));
  });
  await until(() => parts.provider.received.length === 1, 'the first read');
  process.kill(frozen.pid, 'SIGSTOP');
  return { ended: Promise.race([ended, frozen.failed]), answer: () => answer() };
}

const still = json({ status: 'processing', next_poll_after_seconds: 600 });
const clips = [0, 1, 2].map((clip) => `/v1/jobs/clip-${clip}/status`);
const drainHere = () => {
  const endsAtMs = performance.now() + 20_000;
  return drain(parts.ports, parts.settings, () => endsAtMs - performance.now());
};

async function dueInMs(): Promise<number[]> {
  const scores = [...(await membersOf(parts.upstash)).values()];
  return scores.map((score) => Number(score) - Date.now());
}

describe('a drain', () => {
  afterEach(async () => {
    await frozen.kill();
    await parts.close();
  });

  test('T32 a process that thaws after its leases have ended begins no read on them: they are another drain’s', async () => {
    const { ended, answer } = await freezeWhileItReads(60_000);
    await pause(1.5 * leaseMs);
    parts.provider.reply = () => still;
    expect(await drainHere()).toMatchObject({ ended: 'idle', claims: 3, steps: 3 });
    const settled = await dueInMs();
    process.kill(frozen.pid, 'SIGCONT');
    answer();
    const report = await ended;
    expect(report).toMatchObject({ ended: 'idle', failedExchanges: 0 });
    expect(report.lostLeases).toBeGreaterThanOrEqual(2);
    // The frozen one's first read went out before it froze; that job had to be read again. The others were not read twice.
    const firstRead = parts.provider.received[0]?.path;
    expect(parts.provider.received.map(({ path }) => path).sort()).toEqual([...clips, firstRead].sort());
    const after = await dueInMs();
    expect(after.map((ms, i) => Math.abs(ms - (settled[i] ?? 0)) < 30_000)).toEqual([true, true, true]);
    expect(Math.min(...after)).toBeGreaterThan(500_000);
  });

  test('T32 a process that thaws when all its time is over sends nothing negative to Redis and ends in order', async () => {
    const { ended } = await freezeWhileItReads(5_500);
    await pause(5_600);
    process.kill(frozen.pid, 'SIGCONT');
    const report = await ended;
    expect(report).toMatchObject({ ended: 'window', failedExchanges: 0, claims: 3 });
    expect(parts.provider.received).toHaveLength(1);
    parts.provider.reply = () => still;
    await pause(leaseMs);
    expect(await drainHere()).toMatchObject({ ended: 'idle', steps: 3 });
  });
});

describe.each(dueSets)('the due set $name', ({ use }) => {
  const on = use();

  test('T32 takes times that are over for no time: nothing is claimed, no mark is set to end in the past', async () => {
    await on.set.schedule([{ id: 'job_a', delayMs: -3_600_000 }]);
    const reply = await on.exchange({ windowMs: -3_600_000, role: 'new', claimMax: 0 });
    expect(reply).toMatchObject({ claimed: [], role: 'further ' });
    expect(await on.score('job_a')).toBe(String(on.nowMs));
    expect((await on.exchange()).claimed).toMatchObject([{ id: 'job_a' }]);
  });
});
