import type { ContenderName } from './contender-names.ts';
import type { FanoutSizes } from './fanout.ts';
import type { GrowthSizes } from './growth.ts';

export const scenarioNames = ['S1', 'S2', 'S3', 'K1', 'S4', 'light', 'life', 'cold', 'growth', 'fanout'] as const;
export type ScenarioName = (typeof scenarioNames)[number];

/** What stands in for DynamoDB: dynalite, or a reduction of it that answers at once. */
export const dynamoKinds = ['dynalite', 'memory'] as const;
export type DynamoKind = (typeof dynamoKinds)[number];

/** One way of polling a number of jobs to their end. */
export interface PollPlan {
  jobs: number;
  hintSeconds: number;
  /** Reads that a job takes to its end. */
  polls: number;
  /** Between the first due times of two jobs, ms. 0: all are due at once. */
  dueStepMs: number;
  /** How long the first job has been due already when the work begins, s. */
  overdueSeconds: number;
  answerMs: { mean: number; spread: number };
  /** SIGKILLs: when after the first due time, and after what time a new worker starts; s. */
  killsAtSeconds: readonly number[];
  restartAfterSeconds: number;
  /** Given up when nothing was read for so long, s: what is left then is lost. */
  quietSeconds: number;
  /** Stopped then, done or not, s after the first due time. */
  capSeconds: number;
}

export interface Size {
  steady: PollPlan;
  saturation: PollPlan;
  saturationConcurrencies: readonly number[];
  crash: PollPlan;
  kills: PollPlan;
  idle: { seconds: number; jobs: number };
  lightSeconds: number;
  coldStartRuns: number;
  growth: GrowthSizes;
  fanout: FanoutSizes;
}

const answerMs = { mean: 50, spread: 20 };
const steady: PollPlan = {
  jobs: 1_000,
  hintSeconds: 5,
  polls: 6,
  dueStepMs: 5,
  overdueSeconds: 0,
  answerMs,
  killsAtSeconds: [],
  restartAfterSeconds: 0,
  quietSeconds: 10,
  capSeconds: 60,
};
const saturation: PollPlan = { ...steady, jobs: 5_000, hintSeconds: 1, polls: 3, dueStepMs: 0, capSeconds: 40 };
/** Longer than any lane is free: what bounds a drain is its lanes, and a whole run of one drain takes some 30 s. */
const slowAnswers: PollPlan = {
  ...saturation,
  jobs: 2_000,
  polls: 2,
  answerMs: { mean: 800, spread: 0 },
  capSeconds: 60,
};
/** 1,500 jobs are overdue, and 100 more fall due each second: less than the 125 that one drain can read, but not by much. */
const lateDrain: PollPlan = {
  ...slowAnswers,
  jobs: 4_000,
  polls: 1,
  dueStepMs: 10,
  overdueSeconds: 15,
  capSeconds: 75,
};

/** Longer than the slowest contender takes to find what a dead worker held. */
const recoveryQuietSeconds = 25;

export const fullSize: Size = {
  steady,
  saturation,
  saturationConcurrencies: [100, 500],
  crash: {
    ...steady,
    killsAtSeconds: [10],
    restartAfterSeconds: 2,
    quietSeconds: recoveryQuietSeconds,
    capSeconds: 90,
  },
  kills: {
    ...steady,
    killsAtSeconds: Array.from({ length: 10 }, (_, kill) => 10 + 2 * kill),
    quietSeconds: recoveryQuietSeconds,
    capSeconds: 120,
  },
  idle: { seconds: 60, jobs: 1_000 },
  lightSeconds: 31,
  coldStartRuns: 20,
  growth: { sets: [1_000, 10_000, 100_000, 1_000_000], exchangeRounds: 300, steady, sweepJobs: 100_000 },
  fanout: { lanes: 100, processes: [1, 2, 4], plan: slowAnswers, late: lateDrain },
};

const quickSteady: PollPlan = { ...steady, jobs: 100, dueStepMs: 10, hintSeconds: 1, polls: 4 };

export const quickSize: Size = {
  steady: quickSteady,
  saturation: { ...saturation, jobs: 300, polls: 2 },
  saturationConcurrencies: [100],
  crash: {
    ...fullSize.crash,
    jobs: 100,
    dueStepMs: 10,
    hintSeconds: 1,
    polls: 6,
    killsAtSeconds: [2],
    restartAfterSeconds: 1,
  },
  kills: {
    ...fullSize.kills,
    jobs: 100,
    dueStepMs: 10,
    hintSeconds: 1,
    polls: 6,
    killsAtSeconds: [2, 3],
    quietSeconds: 22,
  },
  idle: { seconds: 5, jobs: 100 },
  lightSeconds: 5,
  coldStartRuns: 3,
  growth: { sets: [1_000, 10_000], exchangeRounds: 30, steady: quickSteady, sweepJobs: 1_000 },
  fanout: {
    lanes: 20,
    processes: [1, 2],
    plan: { ...slowAnswers, jobs: 100 },
    late: { ...lateDrain, jobs: 500, dueStepMs: 50, overdueSeconds: 8 },
  },
};

/** Who runs in a scenario, in this order. */
export const contendersOf: Record<'S1' | 'S2' | 'S3' | 'K1' | 'S4', readonly ContenderName[]> = {
  S1: ['floor', 'bullmq', 'zrem-loop', 'pollkeeper'],
  S2: ['limit', 'bullmq', 'zrem-loop', 'pollkeeper'],
  S3: ['bullmq', 'zrem-loop', 'pollkeeper'],
  K1: ['bullmq', 'zrem-loop', 'pollkeeper'],
  S4: ['bullmq', 'zrem-loop', 'pollkeeper'],
};
