import { expect, test } from 'vitest';
import { oncePerProcess } from '../../lib/once.ts';
import { keptSeeds } from './kept-seeds.ts';
import { addTo, noTotals } from './report.ts';
import { memorySide } from './set-side.ts';
import { type SimResult, simulate } from './simulate.ts';

/* The real core through histories full of faults. A failure names its seed: `npm run sim -- --seed N --steps M` shows it. */

const seeds = Array.from({ length: 60 }, (_, i) => i + 1);
const steps = 1_200;
/** The machine may be busy; on a quiet one it is a tenth of this, ms. */
const timeoutMs = 180_000;

const run = (seed: number, ofSteps = steps) => simulate({ seed, steps: ofSteps, makeSide: memorySide });

function broken({ seed, violation }: SimResult, ofSteps: number): string[] {
  if (violation === null) return [];
  return [`npm run sim -- --seed ${seed} --steps ${ofSteps}: ${violation.invariant}: ${violation.detail}`];
}

const runAll = oncePerProcess(async () => {
  const totals = noTotals();
  const failures: string[] = [];
  for (const seed of seeds) {
    const result = await run(seed);
    addTo(totals, result);
    failures.push(...broken(result, steps));
  }
  return { totals, failures };
});

test('seeds that once showed something show nothing any more', { timeout: timeoutMs }, async () => {
  const failures: string[] = [];
  for (const { seed, steps: ofSteps, quiet = false } of keptSeeds()) {
    failures.push(...broken(await simulate({ seed, steps: ofSteps, makeSide: memorySide, quiet }), ofSteps));
  }
  expect(failures).toEqual([]);
});

test('through 60 histories no job is lost, none billed twice, none read early or twice at a time, and all is told once', {
  timeout: timeoutMs,
}, async () => {
  expect((await runAll()).failures).toEqual([]);
});

test('these histories come to every end of a job, every kind of disaster and every corner of a drain', {
  timeout: timeoutMs,
}, async () => {
  const { totals } = await runAll();
  const ends = ['completed', 'failed', 'canceled', 'expired', 'rejected', 'lost', 'given_up'];
  const disasters = [
    'wipe',
    'rollBack',
    'redisAway',
    'redisLimit',
    'recordThrottled',
    'writesThrottled',
    'providerAway',
  ];
  const more = ['forgottenClip', 'killOne', 'killAll', 'stallOne', 'wallClock', 'noSchedule', 'missedTicks', 'pause'];
  const drains = [
    'ended idle',
    'ended window',
    'ended limit',
    'ended calm',
    'lost lease',
    'given back',
    'helped',
    'parked',
  ];
  const delivers = ['deliver ended idle', 'deliver ended window', 'deliver ended limit', 'deliver ended covered'];
  const cancels = ['cancel canceled', 'cancel asked', 'cancel ended', 'canceled unsent', 'cancel told'];
  const news = ['delivery', 'event_not_announced', 'events_not_made_out', 'events_restored', 'endpoints_unread'];
  const logged = ['records_unread', 'record_unwritten', 'exchange_failed', 'sweep_stopped', 'jobs_restored'];
  const told = [...delivers, ...cancels, ...news];
  const wanted = [
    ...ends,
    ...disasters,
    ...more,
    ...drains,
    ...told,
    ...logged,
    'job_not_scheduled',
    'provider_trouble',
  ];
  expect(wanted.filter((what) => !(what in totals.seen))).toEqual([]);
});

test('the same seed is the same history, to the last byte', async () => {
  for (const seed of [7, 8]) expect(JSON.stringify(await run(seed))).toBe(JSON.stringify(await run(seed)));
  expect((await run(7)).digest).not.toBe((await run(8)).digest);
});
