import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { progressLine, progressLines } from '../console/progress.ts';
import type { Screen } from '../console/screen.ts';
import type { ApiClient } from './api-client.ts';
import { submitDemo } from './clips.ts';
import { Follower } from './follow.ts';

export interface DemoRunOptions {
  client: ApiClient;
  screen: Screen;
  /** Ends the run early; what is known then stays known. */
  signal: AbortSignal;
  /** How long all clips together may take; no limit if absent. */
  limitMs?: number;
}

const refreshMs = 1_000;
const lineEveryMs = 5_000;

/** Sends clips and follows them, and those of an earlier run, to their end. All its times are since this process began. */
export class DemoRun {
  readonly follower: Follower;
  readonly #options: DemoRunOptions;
  readonly #deadlineAtMs: number;
  #endedAtMs: number | undefined;
  #lineAtMs = Number.NEGATIVE_INFINITY;
  #lastText = '';

  constructor(options: DemoRunOptions) {
    this.#options = options;
    this.follower = new Follower(options.client);
    this.#deadlineAtMs = performance.now() + (options.limitMs ?? Number.POSITIVE_INFINITY);
  }

  /** How long this process has been at it; it stands still once everything has been followed to its end. */
  get elapsedMs(): number {
    return this.#endedAtMs ?? performance.now();
  }

  /** Takes the jobs of an earlier run along; says how many there are. */
  async resume(): Promise<number> {
    const resumed = await this.follower.addUnfinished();
    if (resumed > 0) {
      this.#options.screen.line(
        `  ${resumed} unfinished ${resumed === 1 ? 'job' : 'jobs'} from before: going on with them.`,
      );
    }
    return resumed;
  }

  /**
   * Sends `jobs` clips and follows everything until it has ended. Resolves with a line about what went wrong, undefined if
   * nothing did. A clip that could not be sent doesn't keep the others from being followed.
   */
  async run(jobs: number): Promise<string | undefined> {
    let sending = true;
    let fault: string | undefined;
    const sent = submitDemo({
      client: this.#options.client,
      jobs,
      runId: randomBytes(6).toString('hex'),
      onAccepted: (job) => this.follower.add(job),
    })
      .then(() => {
        if (jobs > 0) this.#options.screen.line(`  All ${jobs} clips are accepted.`);
      })
      .catch((error: unknown) => {
        if (!this.#options.signal.aborted) fault = error instanceof Error ? error.message : String(error);
      })
      .finally(() => {
        sending = false;
      });
    const inTime = await this.#followWhile(() => sending || this.follower.unfinished().length > 0);
    await (inTime ? sent : undefined);
    return inTime ? fault : `Stopped waiting after ${Math.round(this.elapsedMs / 1000)} s: the clips take too long.`;
  }

  /** False if the deadline passed first. */
  async #followWhile(goesOn: () => boolean): Promise<boolean> {
    const { signal } = this.#options;
    while (goesOn() && !signal.aborted) {
      if (performance.now() > this.#deadlineAtMs) return false;
      // Interrupted in the middle of a page, what is known so far still gets its closing lines.
      await this.follower.refresh().catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      this.#show();
      if (goesOn()) await sleep(refreshMs, undefined, { signal }).catch(() => {});
    }
    this.#endedAtMs = performance.now();
    this.#show(true);
    this.#options.screen.settle();
    return true;
  }

  #show(last = false): void {
    const { screen } = this.#options;
    const tally = this.follower.tally();
    if (tally.total === 0) return;
    if (screen.live) {
      screen.block(progressLines(tally, this.elapsedMs, screen.columns));
      return;
    }
    const text = JSON.stringify(tally.counts);
    const due = performance.now() - this.#lineAtMs >= lineEveryMs;
    if (text === this.#lastText || !(due || last)) return;
    this.#lineAtMs = performance.now();
    this.#lastText = text;
    screen.line(progressLine(tally, this.elapsedMs));
  }
}
