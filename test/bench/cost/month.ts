import { shardCount } from '../../../lib/job-store/job-item.ts';
import { assumed, daysPerMonth, minutesPerMonth, secondsPerMonth, sweepsPerMonth } from './assumptions.ts';
import type { CostFigures } from './cost-figures.ts';
import type { Deployed } from './deployed.ts';

/** What a month of renders asks for, whoever polls them. */
export interface Month {
  rendersPerDay: number;
  renders: number;
  pollsPerRender: number;
  polls: number;
  /** Renders under way at a time, on average. */
  active: number;
}

/** What Pollkeeper does about it. */
export interface DrainMonth extends Month {
  /** Part of the month in which at least one job is active, so that a drain is awake. */
  awakeShare: number;
  /** Times that a submit finds no drain awake. */
  wakes: number;
  /** Drains at work, overlaps included, s. */
  drainSeconds: number;
  idleRuns: number;
  runs: number;
  /** By one drain, while awake. */
  pollsPerSecond: number;
  commandsPerSecond: number;
  idleCommandsPerRun: number;
  /** Sweeps of a shard that holds something: one command each. */
  sweepCommands: number;
  submitCommands: number;
  commands: number;
}

/** A woken drain overlaps the first one of the schedule by half a minute on average. */
export const wakeOverlapSeconds = 30;

export function monthOf(rendersPerDay: number): Month {
  const renders = rendersPerDay * daysPerMonth;
  const pollsPerRender = assumed.renderSeconds / assumed.hintSeconds;
  const active = (rendersPerDay * assumed.renderSeconds) / 86_400;
  return { rendersPerDay, renders, pollsPerRender, polls: renders * pollsPerRender, active };
}

/**
 * Renders that arrive at random keep a drain awake for 1 − e^−active of the time, and a share of e^−active of them finds none
 * awake. The Redis commands of an awake drain grow with its polls, up to those of the steady benchmark, where every tick has
 * something to settle and something to claim.
 */
export function drainMonthOf(rendersPerDay: number, figures: CostFigures, { windowSeconds }: Deployed): DrainMonth {
  const month = monthOf(rendersPerDay);
  const { idle, light, steady, life } = figures;
  const asleep = Math.exp(-month.active);
  const wakes = month.renders * asleep;
  const drainSeconds = (secondsPerMonth * (1 - asleep) * windowSeconds) / 60 + wakes * wakeOverlapSeconds;
  const idleRuns = minutesPerMonth * asleep;
  const idleCommandsPerRun = idle.redisCommandsPerHour / 60;
  const pollsPerSecond = drainSeconds === 0 ? 0 : month.polls / drainSeconds;
  const commandsPerSecond = Math.min(
    steady.redisCommandsPerPoll * steady.readsPerSecond,
    commandsOfTicks(light) + commandsPerLonePoll(light) * pollsPerSecond,
  );
  const sweepCommands = sweepsPerMonth * shardCount * (1 - Math.exp(-month.active / shardCount));
  const submitCommands = month.renders * life.redisCommandsPerSubmit;
  return {
    ...month,
    awakeShare: 1 - asleep,
    wakes,
    drainSeconds,
    idleRuns,
    runs: minutesPerMonth + wakes,
    pollsPerSecond,
    commandsPerSecond,
    idleCommandsPerRun,
    sweepCommands,
    submitCommands,
    commands: drainSeconds * commandsPerSecond + idleRuns * idleCommandsPerRun + sweepCommands + submitCommands,
  };
}

/** The script's call, TIME and ZRANGE: an exchange that has nothing to settle and finds nothing to claim. */
export const commandsPerEmptyTick = 3;

/** A second, by the ticks alone. */
export function commandsOfTicks({ redisRoundTripsPerSecond }: CostFigures['light']): number {
  return redisRoundTripsPerSecond * commandsPerEmptyTick;
}

/** What a poll adds that shares its tick with no other. */
export function commandsPerLonePoll(light: CostFigures['light']): number {
  return Math.max(0, light.redisCommandsPerSecond - commandsOfTicks(light)) / light.readsPerSecond;
}
