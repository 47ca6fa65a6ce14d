import type { ColdStartFigures } from './cold-start.ts';
import type { ContenderName } from './contender-names.ts';
import type { FanoutFigures } from './fanout.ts';
import type { GrowthFigures } from './growth.ts';
import type { ScenarioName } from './plan.ts';
import type { WatchReport } from './read-watch.ts';
import type { LightFigures } from './run-light.ts';

/** What one contender did in one scenario. Null: does not apply to it. */
export interface RunFigures extends WatchReport {
  scenario: ScenarioName;
  contender: ContenderName;
  concurrency: number;
  /** Of the worker, all its processes after each other. */
  cpuSecondsPer1000Polls: number;
  peakMegabytes: number;
  redisCommandsPerPoll: number | null;
  redisRoundTripsPerPoll: number | null;
  redisCpuSecondsPer1000Polls: number | null;
  dynamoReadsPerJob: number | null;
  dynamoWritesPerJob: number | null;
  /** CPU time over the time from the first read to the last: which process a run was bound by. */
  busyCores: Record<'worker' | 'redis' | 'provider' | 'bridge' | 'dynamo', number>;
  lost: number;
  /** Cores that other programs of the machine used meanwhile. */
  foreignCores: number;
  /** Others used so much of the machine that times say nothing. */
  noisy: boolean;
  /** What the contender did wrong, in words; then nothing is compared with it. */
  misbehaved: string[];
}

/** What it costs to have nothing to do. Counted for `seconds`, told for ten minutes. */
export interface IdleFigures {
  contender: ContenderName;
  /** Jobs in the store, all due in an hour. */
  waiting: number;
  seconds: number;
  redisCommandsPer10Minutes: number;
  redisRoundTripsPer10Minutes: number;
  cpuSecondsPer10Minutes: number;
  dynamoReadsPer10Minutes: number | null;
}

/** Of jobs submitted through the API and polled to their end. */
export interface LifeFigures {
  jobs: number;
  ended: number;
  pollsPerJob: number;
  dynamoWritesPerJob: number;
  dynamoReadsPerJob: number;
  redisCommandsPerSubmit: number;
}

/** Everything that a run measured; null or empty for what was not asked for. */
export interface BenchFigures {
  quick: boolean;
  machine: { hz: number; cores: number; cpu: string; node: string; redis: string; bullmq: string };
  seconds: number;
  runs: RunFigures[];
  idle: IdleFigures[];
  life: LifeFigures | null;
  cold: ColdStartFigures | null;
  growth: GrowthFigures | null;
  fanout: FanoutFigures | null;
  light: LightFigures | null;
}
