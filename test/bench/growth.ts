import type { BuiltFunction } from '../../infra/build.ts';
import { dueSetKeys } from '../../lib/due-set/keys.ts';
import { benchAccount, benchStage } from './bench-names.ts';
import { environmentOf } from './contender.ts';
import { jobIdOf } from './job-names.ts';
import type { Spread } from './percentiles.ts';
import type { PollPlan } from './plan.ts';
import { runContender } from './run-contender.ts';
import { measureSweep, type SweepFigures } from './run-sweep.ts';
import { type BenchProcess, startProcess } from './spawn.ts';
import type { BenchRedis, Stage } from './stage.ts';

export interface GrowthSizes {
  /** Ids in the set, all due later than anything is looked at. */
  sets: readonly number[];
  exchangeRounds: number;
  /** S1's, for the drain's lateness and memory beside them. */
  steady: PollPlan;
  sweepJobs: number;
}

interface SetFigures {
  ids: number;
  exchangeMs: Spread;
  bytesPerId: number;
  drainPeakMegabytes: number;
  latenessMs: Spread;
}

export interface GrowthFigures {
  sets: SetFigures[];
  /** p99 of the largest set over that of the smallest. */
  exchangeRatio: number;
  drainMemoryRatio: number;
  /** With every job in the due set: nothing to repair. */
  sweep: SweepFigures;
  /** With an empty due set: everything is put back. */
  rebuild: SweepFigures;
}

const dueKey = dueSetKeys(benchStage, benchAccount).due;
/** What S1 claims a second, and so in an exchange. */
const claimsPerRound = 200;
const farAwayMs = 30 * 86_400_000;

export async function measureGrowth(
  stage: Stage,
  built: { drain: BuiltFunction; sweep: BuiltFunction },
  sizes: GrowthSizes,
  say: (line: string) => void,
): Promise<GrowthFigures> {
  const sets: SetFigures[] = [];
  for (const ids of sizes.sets) {
    say(`growth: ${ids} ids`);
    sets.push(await measureSet(stage, built.drain.bundlePath, ids, sizes));
  }
  const [first, last] = [sets[0], sets.at(-1)];
  if (first === undefined || last === undefined) throw new RangeError('Growth needs at least one size.');
  say(`growth: sweep of ${sizes.sweepJobs} jobs`);
  const { sweep, rebuild } = await measureSweep(stage, built.sweep.bundlePath, sizes.sweepJobs);
  return {
    sets,
    exchangeRatio: twoPlaces((last.exchangeMs.p99 ?? 0) / (first.exchangeMs.p99 ?? 1)),
    drainMemoryRatio: twoPlaces(last.drainPeakMegabytes / first.drainPeakMegabytes),
    sweep,
    rebuild,
  };
}

async function measureSet(stage: Stage, drainBundle: string, ids: number, sizes: GrowthSizes): Promise<SetFigures> {
  const { redis } = stage;
  await redis.meter.clear();
  await fillSet(redis, ids);
  const bytes = Number(await redis.meter.command('MEMORY', 'USAGE', dueKey, 'SAMPLES', '0'));
  // These are due at once, for the exchange to claim and settle over and over.
  await redis.meter.pipeline(range(claimsPerRound).map((n) => ['ZADD', dueKey, '1', jobIdOf(n)]));
  const env = environmentOf('pollkeeper', stage, { statusUrl: stage.status.url, concurrency: 100, drainBundle });
  const timer = await startProcess('exchange-times', {
    ...env,
    ROUNDS: String(sizes.exchangeRounds),
    CLAIMS: String(claimsPerRound),
  });
  await timer.kill();
  const run = await runContender(stage, {
    ...{ scenario: 'growth', contender: 'pollkeeper', concurrency: 100, plan: sizes.steady, drainBundle },
    fill: () => fillSet(redis, ids),
  });
  return {
    ids,
    exchangeMs: spreadIn(timer),
    bytesPerId: Math.round((bytes / ids) * 10) / 10,
    drainPeakMegabytes: run.peakMegabytes,
    latenessMs: run.latenessMs,
  };
}

function spreadIn({ ready }: BenchProcess): Spread {
  const { p50, p95, p99, max, count } = ready as unknown as Spread;
  return { p50, p95, p99, max, count };
}

const fillChunk = 2_000;

/** Ids as long as the real ones, due in a month and more. */
async function fillSet(redis: BenchRedis, ids: number): Promise<void> {
  const dueAtMs = Date.now() + farAwayMs;
  for (let start = 0; start < ids; start += fillChunk) {
    const pairs: string[] = [];
    for (let n = start; n < Math.min(ids, start + fillChunk); n++)
      pairs.push(String(dueAtMs + n), `job_${String(n).padStart(32, 'a')}`);
    await redis.meter.command('ZADD', dueKey, ...pairs);
  }
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

function twoPlaces(value: number): number {
  return Math.round(value * 100) / 100;
}
