import { cpus } from 'node:os';
import type { RunFigures } from './figures.ts';
import type { PollPlan } from './plan.ts';
import { runContender } from './run-contender.ts';
import { type LateDrainFigures, runLateDrain } from './run-late-drain.ts';
import type { Stage } from './stage.ts';

/*
 * More than one drain on one due set, with answers so slow that a drain's lanes bound it, not its processor time. Each
 * further drain should add as many reads a second as the first makes, as long as the machine has cores left.
 */

export interface FanoutSizes {
  /** Reads at a time, of each drain. */
  lanes: number;
  /** How many drains there are in each run. */
  processes: readonly number[];
  plan: PollPlan;
  /** The run in which a drain asks for its helpers itself. */
  late: PollPlan;
}

export interface FanoutRow extends RunFigures {
  processes: number;
  /** processes × lanes / answer time: what the lanes allow. */
  idealReadsPerSecond: number;
  idealRatio: number;
  /** Over the run with one process. */
  ratioToOne: number;
  /** Of all programs of this machine, over the time of the run. */
  coresBusy: number;
  /** Then more processes can't read more, and the ratio says nothing. */
  coresSpent: boolean;
}

export interface FanoutFigures {
  answerMs: number;
  rows: FanoutRow[];
  late: LateDrainFigures;
}

/** Of the machine's cores. */
const coresSpentShare = 0.9;

export async function measureFanout(
  stage: Stage,
  drainBundle: string,
  { lanes, processes, plan, late }: FanoutSizes,
  say: (line: string) => void,
): Promise<FanoutFigures> {
  const rows: FanoutRow[] = [];
  for (const count of processes) {
    say(`fanout: ${count} drains of ${lanes} lanes`);
    const run = await runContender(stage, {
      ...{ scenario: 'fanout', contender: 'pollkeeper', concurrency: lanes, plan, drainBundle },
      processes: count,
      env: { DRAIN_HELPERS: '0' },
    });
    rows.push(rowOf(run, count, plan.answerMs.mean, rows[0]));
  }
  say('fanout: a late drain asks for helpers');
  const helped = await runLateDrain(stage, { lanes, plan: late, drainBundle });
  return { answerMs: plan.answerMs.mean, rows, late: helped };
}

export function rowOf(run: RunFigures, processes: number, answerMs: number, one: FanoutRow | undefined): FanoutRow {
  // To the end of the last answer: while answers take long, a short run would look faster by leaving it out.
  const readsPerSecond = run.reads / (run.lastsSeconds + answerMs / 1000);
  const idealReadsPerSecond = (processes * run.concurrency * 1000) / answerMs;
  const coresBusy = Object.values(run.busyCores).reduce((sum, cores) => sum + cores, run.foreignCores);
  return {
    ...run,
    readsPerSecond: threePlaces(readsPerSecond),
    processes,
    idealReadsPerSecond,
    idealRatio: threePlaces(readsPerSecond / idealReadsPerSecond),
    ratioToOne: threePlaces(one === undefined ? 1 : readsPerSecond / one.readsPerSecond),
    coresBusy: threePlaces(coresBusy),
    coresSpent: coresBusy > coresSpentShare * cpus().length,
  };
}

function threePlaces(value: number): number {
  return Math.round(value * 1000) / 1000;
}
