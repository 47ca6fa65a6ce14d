import type { ContenderName } from './contender-names.ts';
import { peers } from './contender-names.ts';
import type { FanoutFigures, FanoutRow } from './fanout.ts';
import type { BenchFigures, RunFigures } from './figures.ts';
import type { GrowthFigures } from './growth.ts';
import type { ScenarioName } from './plan.ts';

/** One thing that the product promises, as a ratio within one run wherever times are concerned. */
export interface Target {
  /** e.g. `S1 p99 lateness / best peer`. */
  name: string;
  /** Null when what it compares was not measured, or the peer misbehaved. */
  value: number | null;
  bound: number;
  /** Which side of the bound is good. */
  sense: 'at most' | 'at least' | 'above';
  met: boolean | null;
}

type Sense = Target['sense'];

/** What serverless.yml gives the sweep, less the margin that it keeps itself. */
const sweepSecondsMax = 110;
const sweepMegabytesMax = 256;

/** Those that were measured and missed, each with its value and bound in words. */
export function targetsMissed(targets: readonly Target[]): string[] {
  return targets
    .filter(({ met }) => met === false)
    .map(({ name, value, sense, bound }) => `${name}: ${value} instead of ${sense} ${bound}`);
}

export function evaluateTargets(figures: BenchFigures): Target[] {
  const find = (scenario: ScenarioName, contender: ContenderName, concurrency = 100) =>
    figures.runs.find(
      (run) => run.scenario === scenario && run.contender === contender && run.concurrency === concurrency,
    );
  const [ours, bull] = [find('S1', 'pollkeeper'), find('S1', 'bullmq')];
  const saturated = (contender: ContenderName, concurrency: number) =>
    find('S2', contender, concurrency)?.readsPerSecond ?? null;
  const crash = find('S3', 'pollkeeper')?.recoveryMs.max ?? null;
  const { life, cold, growth, fanout } = figures;
  return [
    target('S1 p99 lateness / best peer', ratio(ours?.latenessMs.p99, best(figures, 'S1', 'p99')), 'at most', 1 / 3),
    target('S1 p50 lateness / best peer', ratio(ours?.latenessMs.p50, best(figures, 'S1', 'p50')), 'at most', 1),
    target('S1 Redis commands per poll', ours?.redisCommandsPerPoll, 'at most', 0.1),
    target(
      'S1 Redis commands / BullMQ',
      ratio(ours?.redisCommandsPerPoll, fair(bull)?.redisCommandsPerPoll),
      'at most',
      1 / 400,
    ),
    target(
      'S1 CPU per 1,000 polls / BullMQ',
      ratio(ours?.cpuSecondsPer1000Polls, fair(bull)?.cpuSecondsPer1000Polls),
      'at most',
      0.6,
    ),
    target('S1 peak memory / BullMQ', ratio(ours?.peakMegabytes, fair(bull)?.peakMegabytes), 'at most', 1.2),
    target('S1 DynamoDB writes per poll that tells nothing new', uneventfulWrites(ours), 'at most', 0),
    target(
      'S2 reads/s at 100 / bare limit',
      ratio(saturated('pollkeeper', 100), saturated('limit', 100)),
      'at least',
      0.95,
    ),
    target('S2 reads/s at 500 / BullMQ', ratio(saturated('pollkeeper', 500), saturated('bullmq', 500)), 'above', 1),
    target('S3 worst recovery, s', crash === null ? null : crash / 1000, 'at most', 12),
    target('S3 worst recovery / BullMQ', ratio(crash, fair(find('S3', 'bullmq'))?.recoveryMs.max), 'at most', 0.7),
    target('jobs lost, early or duplicate reads', figures.runs.length === 0 ? null : wrongs(figures), 'at most', 0),
    target('DynamoDB writes in a job’s life', life?.dynamoWritesPerJob, 'at most', 5),
    target('import time / the two clients', cold?.ratio, 'at most', 1.3),
    target('largest package, KB', largestKilobytes(figures), 'at most', 400),
    target('packages grown over 15%', cold?.grown.length, 'at most', 0),
    target('exchange p99 at 1 M / at 1 k', growth?.exchangeRatio, 'at most', 3),
    target('drain memory at 1 M / at 1 k', growth?.drainMemoryRatio, 'at most', 1.2),
    target('slowest sweep of all active jobs, s', worst(growth, 'seconds'), 'at most', sweepSecondsMax),
    target('largest memory of a sweep, MB', worst(growth, 'peakMegabytes'), 'at most', sweepMegabytesMax),
    ...fanoutTargets(fanout),
  ];
}

/**
 * Nearly linear: 2 drains read at least 1.8 times as much as one, 4 at least 3.2 times, as long as no more than 0.9 of the
 * machine's cores are busy. With the cores spent, or with a run that was disturbed, the ratio is not judged.
 */
function fanoutTargets(fanout: FanoutFigures | null): Target[] {
  const gain = (processes: number) => {
    const row = fanout?.rows.find((one) => one.processes === processes);
    return row === undefined || row.coresSpent || row.noisy ? null : row.ratioToOne;
  };
  const stayed = fanout?.late.helpers.filter(({ ended }) => ended !== 'calm').length;
  return [
    target('fan-out reads/s of 2 drains / of 1', gain(2), 'at least', 1.8),
    target('fan-out reads/s of 4 drains / of 1', gain(4), 'at least', 3.2),
    target('fan-out jobs lost, early or duplicate reads', wrongsIn(fanout), 'at most', 0),
    target('fan-out helpers that a late drain asked for', fanout?.late.helpers.length, 'at least', 1),
    target('fan-out helpers that did not leave when the lag was gone', stayed, 'at most', 0),
  ];
}

function wrongsIn(fanout: FanoutFigures | null): number | null {
  if (fanout === null) return null;
  const wrong = ({ lost, early, duplicate }: Pick<FanoutRow, 'lost' | 'early' | 'duplicate'>) =>
    lost + early + duplicate;
  return [...fanout.rows, fanout.late.run].reduce((sum, run) => sum + wrong(run), 0);
}

function target(name: string, given: number | null | undefined, sense: Sense, bound: number): Target {
  const value = given == null ? null : Math.round(given * 10_000) / 10_000;
  const met =
    given == null ? null : sense === 'at most' ? given <= bound : sense === 'at least' ? given >= bound : given > bound;
  return { name, value, bound: Math.round(bound * 10_000) / 10_000, sense, met };
}

/** The larger of a repairing and an idle sweep; one that did not get through counts as endless. */
function worst(growth: GrowthFigures | null, part: 'seconds' | 'peakMegabytes'): number | null {
  if (growth === null) return null;
  const all = [growth.sweep, growth.rebuild];
  return all.every(({ complete }) => complete) ? Math.max(...all.map((one) => one[part])) : Number.MAX_SAFE_INTEGER;
}

function ratio(value: number | null | undefined, base: number | null | undefined): number | null {
  return value == null || base == null || base === 0 ? null : value / base;
}

/** Undefined for a run whose contender misbehaved: nothing is compared with it. */
function fair(run: RunFigures | undefined): RunFigures | undefined {
  return run === undefined || run.misbehaved.length > 0 ? undefined : run;
}

/** The best lateness among the peers that did all their work. */
function best(figures: BenchFigures, scenario: ScenarioName, part: 'p50' | 'p99'): number | null {
  const values = figures.runs
    .filter((run) => run.scenario === scenario && peers.includes(run.contender) && run.misbehaved.length === 0)
    .flatMap((run) => run.latenessMs[part] ?? []);
  return values.length === 0 ? null : Math.min(...values);
}

/** A preloaded job is written once, at its end; what is more went to reads that told nothing new. */
function uneventfulWrites(ours: RunFigures | undefined): number | null {
  if (ours?.dynamoWritesPerJob == null) return null;
  return Math.max(0, ours.dynamoWritesPerJob * ours.jobs - ours.ended) / Math.max(1, ours.reads - ours.ended);
}

/** Where a kill between an answer and its settlement has an ended job read once more, whoever polls. */
const killing: readonly ScenarioName[] = ['S3', 'K1'];

function wrongs(figures: BenchFigures): number {
  return figures.runs
    .filter(({ contender }) => contender === 'pollkeeper')
    .reduce((sum, run) => sum + run.lost + run.early + (killing.includes(run.scenario) ? 0 : run.duplicate), 0);
}

function largestKilobytes({ cold }: BenchFigures): number | null {
  return cold === null ? null : Math.max(...cold.functions.map(({ zipBytes }) => zipBytes)) / 1024;
}
