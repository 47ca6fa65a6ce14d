import type { Excuse } from './excuses.ts';
import type { Violation } from './referee.ts';
import { World, type WorldOptions } from './world.ts';

/** After the faults have stopped: far more steps than a history needs to come to its end. */
const tailStepsMax = 200_000;

export interface SimResult {
  seed: number;
  /** All steps, the fair-weather ones at the end included. */
  steps: number;
  virtualMs: number;
  jobs: number;
  clips: number;
  violation: Violation | null;
  excused: Partial<Record<Excuse, number>>;
  seen: Record<string, number>;
  /** Equal for equal histories. */
  digest: string;
  /** The last lines of the history. */
  trace: string[];
}

/** Runs one seed: `steps` steps in bad weather, then on in fair weather until every job has ended. */
export async function simulate(options: WorldOptions & { steps: number }): Promise<SimResult> {
  const { seed, steps } = options;
  const world = await World.make(options);
  const { referee, scheduler } = world;
  const startedAtMs = scheduler.nowMs;
  world.start();
  while (referee.violation === null && scheduler.steps < steps) await world.step();
  world.calm();
  while (referee.violation === null && !world.isOver) {
    await world.step();
    world.checkEnds();
    if (scheduler.steps > steps + tailStepsMax)
      referee.broken('a history in fair weather ends', `${tailStepsMax} steps`);
  }
  return {
    seed,
    steps: scheduler.steps,
    virtualMs: scheduler.nowMs - startedAtMs,
    jobs: world.outside.store.created.size,
    clips: world.outside.provider.clips.size,
    violation: referee.violation,
    excused: Object.fromEntries(referee.excused),
    seen: Object.fromEntries(referee.seen),
    digest: referee.trace.digest,
    trace: referee.trace.tail(),
  };
}
