import type { RunFigures } from './figures.ts';
import type { PollPlan } from './plan.ts';

/** More than this many cores used by others, and times say nothing. */
export const foreignCoresMax = 0.2;
const startLateMs = 2_500;

/** What a contender did wrong in a run, in words; empty when nothing. */
export function misbehaviourIn(figures: Omit<RunFigures, 'misbehaved'>, plan: PollPlan): string[] {
  if (figures.contender === 'limit') return [];
  const found: string[] = [];
  const slow = figures.unfinished - figures.lost;
  if (figures.lost > 0) found.push(`lost ${figures.lost} jobs`);
  if (slow > 0) found.push(`stopped after ${plan.capSeconds} s with ${slow} jobs to go`);
  // A kill between the answer that ended a job and its settlement has it read once more, whoever polls.
  if (figures.duplicate > 0 && plan.killsAtSeconds.length === 0) found.push(`${figures.duplicate} duplicate reads`);
  const first = figures.firstReadLatenessMs.p50;
  // Where all are due at once, or were before the work began, most of them start late by necessity.
  if (plan.dueStepMs > 0 && plan.overdueSeconds === 0 && (first === null || first > startLateMs))
    found.push('started late');
  return found;
}
