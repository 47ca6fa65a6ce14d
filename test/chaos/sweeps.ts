import { setTimeout as sleep } from 'node:timers/promises';
import { type FunctionRun, startRun } from './function-run.ts';
import type { Stage } from './stage.ts';

/** Thirty times as often as on AWS: an emptied Redis is not to stop everything for five minutes. */
const everyMs = 10_000;
/** A sweep of this size takes less than a second, the start of its process included. */
const longestPauseMs = 1_000;
const killTriesMax = 5;

export class Sweeps {
  restored = 0;
  ran = 0;
  readonly #stage: Stage;
  readonly #signal: AbortSignal;
  #stopped = false;

  constructor(stage: Stage, signal: AbortSignal) {
    this.#stage = stage;
    this.#signal = signal;
  }

  /** Runs one after the other until `stop`. */
  async run(): Promise<void> {
    while (!this.#stopped) {
      const { report } = await (await this.#start()).gone;
      this.restored += Number(report?.restored ?? 0);
      this.ran++;
      await sleep(everyMs, undefined, { signal: this.#signal });
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Starts one and kills it within its work; `pause` in [0, 1) says how soon. */
  async kill(pause: number): Promise<boolean> {
    for (let tries = 1; tries <= killTriesMax; tries++) {
      const run = await this.#start();
      await sleep((longestPauseMs * pause) / tries, undefined, { signal: this.#signal });
      if ((await run.kill()) !== undefined) return true;
    }
    return false;
  }

  #start(): Promise<FunctionRun> {
    return startRun(this.#stage, 'sweep', '{}');
  }
}
