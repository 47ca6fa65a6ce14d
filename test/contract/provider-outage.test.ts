import { afterEach, expect, test } from 'vitest';
import { drain } from '../../lib/drain.ts';
import type { Provider } from '../../lib/ports.ts';
import { allJobs, heal, type Parts, remaining, startParts, strike, submitClip } from '../support/parts.ts';

/* A provider that fails every job for minutes, on real parts. Times pass thirty times as fast. */

let parts: Parts;
afterEach(() => parts.close());

const second = 1_000;
const jobs = 150;

async function start(): Promise<{ readsAtMs: number[]; elapsed: () => number }> {
  parts = await startParts({ renderSeconds: 900, limits: false });
  const { provider, clock } = parts.ports;
  const startedAtMs = clock.monotonicMs();
  const elapsed = () => clock.monotonicMs() - startedAtMs;
  const readsAtMs: number[] = [];
  const watched: Provider = {
    create: (job, call) => provider.create(job, call),
    read(job, call) {
      readsAtMs.push(elapsed());
      return provider.read(job, call);
    },
  };
  parts.ports.provider = watched;
  for (let i = 0; i < jobs; i++) await submitClip(parts, `clip-${i}`);
  return { readsAtMs, elapsed };
}

const within = (timesMs: readonly number[], fromMs: number, toMs: number) =>
  timesMs.filter((atMs) => atMs >= fromMs && atMs < toMs).length;

/** Reads in the fullest span of so long. */
function fullest(timesMs: readonly number[], spanMs: number): number {
  return Math.max(...timesMs.map((fromMs) => within(timesMs, fromMs, fromMs + spanMs)));
}

const outages = [
  { name: 'answers 503', state: 'open', fault: { kind: 'error', status: 503, html: true } },
  { name: 'denies the key', state: 'denied', fault: { kind: 'error', status: 401 } },
  { name: 'hangs', state: 'open', fault: { kind: 'hang' } },
];

test.each(outages)(
  'T49 a provider that $name for all jobs gets a few probes, and no stampede once it is back',
  { timeout: 60_000 },
  async ({ fault, state }) => {
    const { readsAtMs, elapsed } = await start();
    const { clock } = parts.ports;
    const draining = drain(parts.ports, parts.settings, remaining(parts, 390 * second));
    // However long a busy machine takes to send them: the steady rate is that of all jobs.
    const sentByMs = elapsed() + 60 * second;
    while (parts.sume.report().billedClips < jobs && elapsed() < sentByMs) await clock.sleep(second);
    await clock.sleep(50 * second);
    await strike(parts, { route: 'status', ...fault });
    const brokenAtMs = elapsed();
    await clock.sleep(150 * second);
    await heal(parts);
    const healedAtMs = elapsed();
    await clock.sleep(120 * second);
    const endedAtMs = elapsed();

    const steadyPerSecond = within(readsAtMs, brokenAtMs - 45 * second, brokenAtMs) / 45;
    expect(steadyPerSecond).toBeGreaterThan(3);
    // A hanging call takes half a minute to be known as failed. After that: two probes at a time, at last each 30 s.
    const probes = within(readsAtMs, brokenAtMs + 75 * second, healedAtMs);
    expect(probes).toBeLessThanOrEqual(16);
    const back = readsAtMs.filter((atMs) => atMs >= healedAtMs);
    expect(fullest(back, 10 * second)).toBeLessThanOrEqual(2 * steadyPerSecond * 10);
    expect(within(back, endedAtMs - 45 * second, endedAtMs) / 45).toBeGreaterThan(0.7 * steadyPerSecond);

    expect(new Set((await allJobs(parts)).map(({ state }) => state))).toEqual(new Set(['processing']));
    expect(parts.sume.report()).toMatchObject({ billedClips: jobs, earlyReads: 0, duplicateReads: 0 });
    const report = await draining;
    expect(report.openTicks).toBeGreaterThan(40);
    expect(parts.logged.filter(({ event }) => event === 'breaker').map(({ fields }) => fields?.state)).toContain(state);
  },
);
