import { afterEach, expect, test } from 'vitest';
import { drain } from '../../lib/drain.ts';
import type { FastClock } from '../support/fast-clock.ts';
import { allJobs, heal, type Parts, remaining, startParts, strike, submitClip } from '../support/parts.ts';

/* A provider that refuses our key for hours, on real parts. Times pass thirty times as fast. */

let parts: Parts;
afterEach(() => parts.close());

const minute = 60_000;

test('a key that is refused for two hours, past the deadline, fails no job: with the right one every clip comes in', async () => {
  parts = await startParts({ renderSeconds: 60, limits: { processing: 20 } });
  // So few that each has its probe soon after the deadline: the next seldom read of one that is overdue later is hours away.
  for (let i = 0; i < 4; i++) await submitClip(parts, `clip-${i}`);
  await drain(parts.ports, parts.settings, remaining(parts, 50_000));
  await strike(parts, { kind: 'error', status: 401 });
  for (let pauses = 0; pauses < 5; pauses++) {
    (parts.ports.clock as FastClock).advance(25 * minute);
    await drain(parts.ports, parts.settings, remaining(parts, 80_000));
  }
  const denied = await allJobs(parts);
  expect(denied.map(({ state, failuresInRow }) => [state, failuresInRow])).toEqual(Array(4).fill(['overdue', 0]));
  await heal(parts);
  await drain(parts.ports, parts.settings, remaining(parts, 20 * minute));
  expect((await allJobs(parts)).map(({ state }) => state)).toEqual(Array(4).fill('completed'));
  expect(parts.sume.report()).toMatchObject({ billedClips: 4, earlyReads: 0, duplicateReads: 0 });
});
