import { CostTally, type Ledger } from './cost.ts';
import { messageOf } from './errors.ts';
import { type FirstReadSettings, FirstReads } from './first-read.ts';
import type { Job } from './job.ts';
import type { Log } from './log.ts';
import type { Outcome } from './outcome.ts';
import type { Clock } from './ports.ts';
import type { RenderTimesStore } from './render-times.ts';

/*
 * What one run of a drain notes by the way and writes down once, at its end: what jobs cost, and how long renders take.
 * Neither is needed to work a job; a run that is killed loses its own.
 */

export interface NotesPorts {
  ledger: Pick<Ledger, 'add'>;
  renderTimes: RenderTimesStore;
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  log: Log;
}

export class RunNotes {
  readonly #ports: NotesPorts;
  readonly #firstReads: FirstReads;
  readonly #costs = new CostTally();

  constructor(ports: NotesPorts, settings: FirstReadSettings) {
    this.#ports = ports;
    const { renderTimes: store, clock, log } = ports;
    this.#firstReads = new FirstReads({ store, clock, log }, settings);
  }

  /** When a job that was just accepted is first read: at `dueAtMs`, or later where that is known to be early enough. */
  firstReadAt(job: Job, dueAtMs: number, nowMs: number): number | Promise<number> {
    return this.#firstReads.accepted(job, dueAtMs, nowMs);
  }

  seenRunning(job: Job, nowMs: number): void {
    this.#firstReads.seenRunning(job, nowMs);
  }

  /** The job's end is in the record; `outcome` is what told it, if the provider did. */
  ended(job: Job, outcome: Outcome | undefined, nowMs: number): void {
    this.#costs.ended(job);
    if (outcome?.kind === 'completed' || outcome?.kind === 'ended') this.#firstReads.ended(job, nowMs);
  }

  /** Never rejects; takes some seconds at most. */
  async flush(): Promise<void> {
    await Promise.all([this.#firstReads.flush(), this.#flushCosts()]);
  }

  async #flushCosts(): Promise<void> {
    const entries = this.#costs.take();
    if (entries.length === 0) return;
    try {
      // Not repeated: part of it may have been added.
      await this.#ports.ledger.add(entries);
    } catch (error) {
      this.#ports.log.warn('costs_not_added', { error: messageOf(error) });
    }
  }
}
