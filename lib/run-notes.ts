import { CostTally, type Ledger } from './cost.ts';
import { messageOf } from './errors.ts';
import { type FirstReadSettings, FirstReads } from './first-read.ts';
import type { HookPace } from './hooks/hook-pace.ts';
import type { Job } from './job.ts';
import type { Log } from './log.ts';
import type { Outcome } from './outcome.ts';
import type { Clock } from './ports.ts';
import type { RenderTimesStore } from './render-times.ts';

/*
 * What one run of a drain notes by the way and writes down once, at its end: what jobs cost, how long renders take, and what
 * comes of the provider's own webhooks; and how far reads are put off for it. None of it is needed to work a job; a run that
 * is killed loses its own.
 */

export interface NotesPorts {
  ledger: Pick<Ledger, 'add'>;
  renderTimes: RenderTimesStore;
  /** Of the account; absent where the provider tells of no ends itself. */
  hookPace?: HookPace;
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  log: Log;
}

export class RunNotes {
  readonly #ports: NotesPorts;
  readonly #firstReads: FirstReads;
  readonly #hookPace: HookPace | undefined;
  readonly #costs = new CostTally();

  constructor(ports: NotesPorts, settings: FirstReadSettings) {
    this.#ports = ports;
    const { renderTimes: store, hookPace, clock, log } = ports;
    this.#hookPace = hookPace;
    this.#firstReads = new FirstReads({ store, clock, log }, settings);
  }

  /** The job as it is to be sent. */
  asSent(job: Job): Job {
    return this.#hookPace?.withHook(job) ?? job;
  }

  /** When a job that was just accepted is first read: at `dueAtMs`, or later where that is known to be early enough. */
  async firstReadAt(job: Job, dueAtMs: number, nowMs: number): Promise<number> {
    return this.nextReadAt(job, await this.#firstReads.accepted(job, dueAtMs, nowMs), nowMs);
  }

  /** When a job that was just met running is read next: at `dueAtMs`, or later where the provider tells of its end itself. */
  nextReadAt(job: Job, dueAtMs: number, nowMs: number): number {
    return this.#hookPace?.slowed(job, dueAtMs, nowMs) ?? dueAtMs;
  }

  seenRunning(job: Job, nowMs: number): void {
    this.#firstReads.seenRunning(job, nowMs);
  }

  /** The job's end is in the record; `outcome` is what told it, if the provider did. */
  ended(job: Job, outcome: Outcome | undefined, nowMs: number): void {
    this.#costs.ended(job);
    this.#hookPace?.ended(job);
    if (outcome?.kind === 'completed' || outcome?.kind === 'ended') this.#firstReads.ended(job, nowMs);
  }

  /** Never rejects; takes some seconds at most. */
  async flush(): Promise<void> {
    await Promise.all([this.#firstReads.flush(), this.#hookPace?.flush(), this.#flushCosts()]);
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
