import type { BenchFigures, IdleFigures, RunFigures } from '../figures.ts';
import { UsageError } from '../options.ts';

/** What of a benchmark decides the cost: counts, and the processor time. Kept in cost-figures.json. */
export interface CostFigures {
  /** Day on which they were taken from the benchmark, ISO. */
  taken: string;
  machine: string;
  steady: {
    jobs: number;
    readsPerSecond: number;
    redisCommandsPerPoll: number;
    redisRoundTripsPerPoll: number;
    cpuSecondsPer1000Polls: number;
    dynamoReadsPerPoll: number;
  };
  /** A drain that is awake for one job. */
  light: {
    redisCommandsPerSecond: number;
    redisRoundTripsPerSecond: number;
    readsPerSecond: number;
    cpuMsPerSecond: number;
  };
  idle: { redisCommandsPerHour: number; cpuSecondsPerHour: number };
  life: { jobs: number; dynamoWrites: number; dynamoReads: number; redisCommandsPerSubmit: number };
  bullmq: { redisCommandsPerPoll: number; redisCommandsPerHourIdle: number };
}

/** From the JSON line of a benchmark. Throws a UsageError when it lacks something, or measured in small. */
export function costFiguresFrom(bench: BenchFigures, taken: string): CostFigures {
  if (bench.quick) throw new UsageError('These are the figures of a --quick benchmark; run it in full.');
  const ours = steadyRun(bench, 'pollkeeper');
  const bull = steadyRun(bench, 'bullmq');
  const { light, life, machine } = bench;
  if (light === null) throw lacks('light');
  if (life === null) throw lacks('life');
  return {
    taken,
    machine: `${machine.cores} cores, ${machine.cpu}, Node ${machine.node}, Redis ${machine.redis}`,
    steady: {
      jobs: ours.jobs,
      readsPerSecond: ours.readsPerSecond,
      redisCommandsPerPoll: ours.redisCommandsPerPoll ?? 0,
      redisRoundTripsPerPoll: ours.redisRoundTripsPerPoll ?? 0,
      cpuSecondsPer1000Polls: ours.cpuSecondsPer1000Polls,
      dynamoReadsPerPoll: rounded(((ours.dynamoReadsPerJob ?? 0) * ours.jobs) / ours.reads),
    },
    light: {
      redisCommandsPerSecond: light.redisCommandsPerSecond,
      redisRoundTripsPerSecond: light.redisRoundTripsPerSecond,
      readsPerSecond: rounded(light.reads / light.seconds),
      cpuMsPerSecond: light.cpuMsPerSecond,
    },
    idle: {
      redisCommandsPerHour: idleRun(bench, 'pollkeeper').redisCommandsPer10Minutes * 6,
      cpuSecondsPerHour: rounded(idleRun(bench, 'pollkeeper').cpuSecondsPer10Minutes * 6),
    },
    life: {
      jobs: life.jobs,
      dynamoWrites: life.dynamoWritesPerJob,
      dynamoReads: life.dynamoReadsPerJob,
      redisCommandsPerSubmit: life.redisCommandsPerSubmit,
    },
    bullmq: {
      redisCommandsPerPoll: bull.redisCommandsPerPoll ?? 0,
      redisCommandsPerHourIdle: idleRun(bench, 'bullmq').redisCommandsPer10Minutes * 6,
    },
  };
}

function steadyRun({ runs }: BenchFigures, contender: 'pollkeeper' | 'bullmq'): RunFigures {
  const run = runs.find((one) => one.scenario === 'S1' && one.contender === contender);
  if (run === undefined) throw lacks('S1');
  if (run.misbehaved.length === 0) return run;
  throw new UsageError(`In S1 ${contender} ${run.misbehaved.join(', ')}: its counts say nothing. Run it again.`);
}

function idleRun({ idle }: BenchFigures, contender: 'pollkeeper' | 'bullmq'): IdleFigures {
  const run = idle.find((one) => one.contender === contender && one.waiting === 0);
  if (run === undefined) throw lacks('S4');
  return run;
}

function lacks(scenario: string): UsageError {
  return new UsageError(`The benchmark's figures lack ${scenario}; run it with at least S1 S4 light life.`);
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
