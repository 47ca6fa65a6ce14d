import { type FunctionRun, startRun } from './function-run.ts';
import { chosen } from './plan.ts';
import type { Stage } from './stage.ts';

/** A killed drain and what it had in hand. Ms since 1970. */
export interface DrainKill {
  atMs: number;
  inHand: string[];
}

/** There are always two, so that the jobs of a killed one find another. */
const atLeast = 2;
/** As a reserved concurrency would have it. */
const atMost = 6;
/** The schedule, three times as often as on AWS. */
const everyMs = 20_000;
const lookEveryMs = 100;
/** A drain that found nothing to do is not followed by the next at once. */
const restMs = 2_000;

/** Keeps drains running, overlapping ones, as the schedule and the invokes of the others do on AWS. */
export class Drains {
  readonly kills: DrainKill[] = [];
  /** How runs ended by themselves, and the sums of what they reported. */
  readonly ended: Record<string, number> = {};
  readonly sums: Record<string, number> = {};
  /** Ids that a drain still had in hand when it ended by itself. */
  leftBehind = 0;
  readonly #stage: Stage;
  readonly #runs = new Set<FunctionRun>();
  #timer: NodeJS.Timeout | undefined;
  #starting = 0;
  #scheduledAtMs = Number.NEGATIVE_INFINITY;
  #restUntilMs = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  begin(): void {
    this.#timer = setInterval(() => this.#look(), lookEveryMs);
  }

  /** No more are started; those that run go on. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  get running(): number {
    return this.#runs.size + this.#starting;
  }

  /** An asynchronous invoke. Above the limit it is dropped. */
  invoke(event: string): void {
    if (this.#timer !== undefined && this.running < atMost) void this.#start(event);
  }

  /** Kills one of those that run, by its place in [0, 1). False if there was none. */
  async kill(which: number): Promise<boolean> {
    if (this.#runs.size === 0) return false;
    const killed = await chosen([...this.#runs], which).kill();
    if (killed !== undefined) this.kills.push(killed);
    return killed !== undefined;
  }

  #look(): void {
    const nowMs = performance.now();
    if (nowMs - this.#scheduledAtMs >= everyMs && this.running < atMost) {
      this.#scheduledAtMs = nowMs;
      void this.#start('{}');
    }
    while (this.running < atLeast && nowMs >= this.#restUntilMs) void this.#start('{}');
  }

  async #start(event: string): Promise<void> {
    this.#starting++;
    let run: FunctionRun;
    try {
      run = await startRun(this.#stage, 'drain', event);
    } catch {
      // Only when the whole run is being stopped.
      return;
    } finally {
      this.#starting--;
    }
    this.#runs.add(run);
    const { report, inHand } = await run.gone;
    this.#runs.delete(run);
    if (report === undefined) return;
    this.leftBehind += inHand.length;
    this.#count(report);
    if (report.ended === 'idle' || report.ended === 'covered') this.#restUntilMs = performance.now() + restMs;
  }

  #count({ ended, ...counts }: Record<string, unknown>): void {
    this.ended[String(ended)] = (this.ended[String(ended)] ?? 0) + 1;
    for (const [name, count] of Object.entries(counts)) {
      if (typeof count === 'number') this.sums[name] = (this.sums[name] ?? 0) + count;
    }
  }
}
