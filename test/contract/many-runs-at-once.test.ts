import { afterEach, expect, test } from 'vitest';
import { drain } from '../../lib/drain.ts';
import { json } from '../support/scripted-server.ts';
import { membersOf } from '../support/upstash.ts';
import { startWiredDrain, type WiredDrain } from '../support/wired-drain.ts';

/* What a laptop does that slept for three hours: every scheduled run that it has missed starts at once. */

let parts: WiredDrain;
afterEach(() => parts.close());

const hour = 3_600_000;

test('T33 of 180 runs at once one reads each due job, the others claim nothing and leave after a tick or two, however busy the set', async () => {
  parts = await startWiredDrain();
  const { ports, settings, provider, upstash } = parts;
  await parts.putRunning(30, 3 * hour);
  provider.reply = () => json({ status: 'processing', next_poll_after_seconds: 8 });
  const startedAtMs = performance.now();
  // A window of thirteen seconds: each job falls due once more in it, and so does a lease, and no run may think that nothing will.
  const endsAtMs = startedAtMs + 31_000;
  const before = upstash.rest.counts().httpRequests;
  const runs = Array.from({ length: 180 }, () => drain(ports, settings, () => endsAtMs - performance.now()));
  const reports = await Promise.all(runs);

  expect(provider.received.map(({ path }) => path).sort()).toEqual(
    Array.from({ length: 60 }, (_, i) => `/v1/jobs/clip-${i % 30}/status`).sort(),
  );
  const idle = reports.filter(({ claims }) => claims === 0);
  expect(idle.length).toBeGreaterThanOrEqual(178);
  const needless = idle.filter(({ ended, ticks, steps }) => ended === 'covered' && ticks <= 3 && steps === 0);
  expect(needless.length).toBe(idle.length);
  expect(reports.reduce((sum, { claims }) => sum + claims, 0)).toBe(60);
  expect(upstash.rest.counts().httpRequests - before).toBeLessThanOrEqual(2.5 * 180 + 60);
  const dueInMs = [...(await membersOf(upstash)).values()].map((score) => Number(score) - Date.now());
  expect(dueInMs).toHaveLength(30);
  expect(Math.min(...dueInMs)).toBeGreaterThan(-20_000);
});
