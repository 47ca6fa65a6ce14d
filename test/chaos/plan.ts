import { seededRandom } from '../../infra/local/sume-simulator/simulator.ts';
import { type FaultBurst, faultBursts } from './provider-faults.ts';

/*
 * What is done when, and to whom: all from the seed, before anything runs. Times are ms after the first submit.
 */

export type Victim = 'drain' | 'sweep' | 'api' | 'redis';

export interface PlannedKill {
  atMs: number;
  victim: Victim;
  /** Which of those that are there, and after which part of the longest pause: numbers in [0, 1). */
  which: number;
  pause: number;
}

export interface ChaosPlan {
  /** Within this time everything is begun: submits, kills and bursts of faults. */
  spanMs: number;
  /** When each job is submitted. */
  submitsAtMs: number[];
  kills: PlannedKill[];
  bursts: (FaultBurst & { atMs: number })[];
  /** When the provider ends a running job by itself, and how. */
  endings: { atMs: number; state: 'canceled' | 'expired'; which: number }[];
}

export interface PlanRequest {
  jobs: number;
  kills: number;
  seed: string;
  quick: boolean;
}

/** Three in ten jobs come at once. */
const atOnceShare = 0.3;
const atOnceMs = 3_000;
const burstEveryMs = 15_000;
/** One job in so many is ended by the provider. */
const jobsPerEnding = 25;

export function makePlan({ jobs, kills, seed, quick }: PlanRequest): ChaosPlan {
  const random = seededRandom(`plan ${seed}`);
  const spanMs = quick ? Math.max(8_000, jobs * 100, kills * 2_500) : Math.max(20_000, jobs * 450, kills * 6_000);
  const submitsAtMs = Array.from({ length: jobs }, (_, job) =>
    job < jobs * atOnceShare ? random() * atOnceMs : atOnceMs + random() * (0.85 * spanMs - atOnceMs),
  );
  const victims = shuffled(victimsOf(kills, quick), random);
  const bursts = faultBursts(quick);
  const times = (count: number) => Array.from({ length: count }, (_, index) => ((index + random()) * spanMs) / count);
  return {
    spanMs,
    submitsAtMs: submitsAtMs.sort((one, other) => one - other),
    // One in each equal part of the span: close together at times, never all at its end.
    kills: times(victims.length).map((atMs, index) => ({
      ...{ atMs, victim: victims[index] as Victim, which: random(), pause: random() },
    })),
    bursts: times(Math.floor(spanMs / burstEveryMs)).map((atMs) => ({ atMs, ...chosen(bursts, random()) })),
    endings: times(Math.floor(jobs / jobsPerEnding)).map((atMs) => ({
      ...{ atMs, state: random() < 0.5 ? ('canceled' as const) : ('expired' as const), which: random() },
    })),
  };
}

/** Half of the kills are drains. Redis seldom: what was in it waits half a minute, and is out of harm's way meanwhile. */
function victimsOf(kills: number, quick: boolean): Victim[] {
  const redis = quick ? 0 : Math.floor(kills / 13);
  const sweep = Math.floor(kills / 7);
  const api = Math.floor(kills / 4) + (kills === 3 ? 1 : 0);
  const counts = { redis, sweep, api, drain: kills - redis - sweep - api };
  return (Object.keys(counts) as Victim[]).flatMap((victim) => Array<Victim>(counts[victim]).fill(victim));
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const keyed = list.map((item) => ({ item, key: random() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item);
}

/** The item at a place in [0, 1). Throws for an empty list. */
export function chosen<T>(list: readonly T[], place: number): T {
  const item = list[Math.floor(place * list.length)];
  if (item === undefined) throw new Error('There is nothing to choose from.');
  return item;
}
