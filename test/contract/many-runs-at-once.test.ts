import { afterEach, expect, test } from 'vitest';
import { drain } from '../../lib/drain.ts';
import { json } from '../support/scripted-server.ts';
import { dueKey, startWiredDrain, type WiredDrain } from '../support/wired-drain.ts';

/* What a laptop does that slept for three hours: every scheduled run that it has missed starts at once. */

let parts: WiredDrain;
afterEach(() => parts.close());

const hour = 3_600_000;

test('T33 of 180 runs at once one reads each due job, the others claim nothing and leave as soon as those are settled', async () => {
  parts = await startWiredDrain();
  const { ports, settings, provider, upstash } = parts;
  await parts.putRunning(30, 3 * hour);
  provider.reply = () => json({ status: 'processing', next_poll_after_seconds: 600 });
  const startedAtMs = performance.now();
  const endsAtMs = startedAtMs + 75_000;
  const before = upstash.rest.counts().httpRequests;
  const runs = Array.from({ length: 180 }, () => drain(ports, settings, () => endsAtMs - performance.now()));
  const reports = await Promise.all(runs);

  expect(provider.received.map(({ path }) => path).sort()).toEqual(
    Array.from({ length: 30 }, (_, i) => `/v1/jobs/clip-${i}/status`).sort(),
  );
  const idle = reports.filter(({ claims }) => claims === 0);
  expect(idle.length).toBeGreaterThanOrEqual(178);
  expect(idle.every(({ ended, steps, failedExchanges }) => ended === 'idle' && steps + failedExchanges === 0)).toBe(
    true,
  );
  expect(reports.reduce((sum, { claims }) => sum + claims, 0)).toBe(30);
  // Each asks once, meets the leases of the one that has the jobs, and asks once or twice more.
  expect(upstash.rest.counts().httpRequests - before).toBeLessThanOrEqual(3.5 * 180);
  expect(performance.now() - startedAtMs).toBeLessThan(10_000);
  const flat = ((await upstash.direct('ZRANGE', dueKey, '0', '-1', 'WITHSCORES')) as unknown[]).map(String);
  const dueInMs = flat.filter((_, i) => i % 2 === 1).map((score) => Number(score) - Date.now());
  expect(dueInMs).toHaveLength(30);
  expect(Math.min(...dueInMs)).toBeGreaterThan(580_000);
});
