import type { Job, JobState } from '../job.ts';

/*
 * Whether the provider's own word of ends can be relied on. Pure. Each job that was to be told of counts once, in the hour in which
 * its end was written down: as arrived, when word of it had come by then; as missed, when a read found the end without; as late
 * instead of missed, when word came after all.
 */

export interface HookTally {
  arrived: number;
  missed: number;
  late: number;
}

export const noHooksSeen: HookTally = { arrived: 0, missed: 0, late: 0 };

/** Tallies by account and hour, shared by all. Overviews: a drain that is killed has not added what it saw. Calls reject with a JobStoreError. */
export interface HookCounts {
  /** Not to be repeated when it rejects. `hour` is of `hookHour`. */
  add(account: string, hour: number, change: Partial<HookTally>): Promise<void>;
  /** Hours in which nothing was counted are left out. */
  read(accounts: readonly string[], hours: readonly number[]): Promise<HourTally[]>;
}

export interface HourTally extends HookTally {
  account: string;
  hour: number;
}

/** Hours since 1970. */
export function hookHour(atMs: number): number {
  return Math.floor(atMs / 3_600_000);
}

/** This hour and the one before: of whether hooks are relied on, these decide. */
export function trustedHours(nowMs: number): number[] {
  return [hookHour(nowMs), hookHour(nowMs) - 1];
}

export function sumOf(tallies: readonly HookTally[]): HookTally {
  const sum = { ...noHooksSeen };
  for (const name of ['arrived', 'missed', 'late'] as const) {
    // Late word takes one off the missed, maybe before the drain has added it.
    for (const tally of tallies) sum[name] += Math.max(0, tally[name]);
  }
  return sum;
}

/** So many are taken as arrived beforehand: a first one that is missed is no verdict yet. */
const givenCredit = 5;
const shareMin = 0.8;

/** Whether reads may be slowed: of the jobs that ended lately, word came in time for four in five. */
export function areTrusted({ arrived, missed, late }: HookTally): boolean {
  const seen = arrived + givenCredit;
  return seen / (seen + missed + late) >= shareMin;
}

const toldEnds: ReadonlySet<JobState> = new Set(['completed', 'failed', 'canceled', 'expired']);

/** Whether the job's end is one that the provider should have told us of. */
export function wasToBeTold({ state, hookUrl, submittedAtMs }: Job): boolean {
  return hookUrl !== undefined && submittedAtMs !== undefined && toldEnds.has(state);
}

/** When the job's end was written down: the hour that it counts in. */
export function endHour({ finishedAtMs, updatedAtMs }: Job): number {
  return hookHour(finishedAtMs ?? updatedAtMs);
}
