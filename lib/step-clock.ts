import type { Held } from './hand.ts';
import type { Clock } from './ports.ts';
import type { SetClock } from './set-clock.ts';

/** A wait is noted on the clock that its run read at its first claims: so much may two clocks part in a minute and a half. */
export const noteSlackMs = 10;

/**
 * What steps call now: Redis' time, as it was known when a run's first claims came, and then carried on by our own
 * monotonic clock alone, so that a wait decided on by a step is exactly that long.
 */
export class StepClock {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #setClock: SetClock;
  /** Due times that this run made, by job id: on Redis' clock, and on our monotonic one. */
  readonly #ownDue = new Map<string, { dueAtMs: number; localMs: number }>();
  #offsetMs = Number.NaN;

  constructor(clock: Pick<Clock, 'monotonicMs'>, setClock: SetClock) {
    this.#clock = clock;
    this.#setClock = setClock;
  }

  /** The first claims are here. Later calls change nothing. */
  start(): void {
    if (Number.isNaN(this.#offsetMs)) this.#offsetMs = this.#setClock.latestNowMs() - this.#clock.monotonicMs();
  }

  /** Redis' time at most, ms; before the start 0. */
  nowMs(): number {
    return Number.isNaN(this.#offsetMs) ? 0 : Math.ceil(this.#clock.monotonicMs() + this.#offsetMs);
  }

  /** Whether the held job's due time is the one that this run gave it: nobody has made it due sooner since. */
  isOwnDue({ id, dueAtMs }: Held): boolean {
    return this.#ownDue.get(id)?.dueAtMs === dueAtMs;
  }

  /**
   * Ms until the held job's time, 0 or less when it has come. A due time that this run made itself is known on our own
   * clock, to the microsecond; any other, and a wait noted in the record, only as closely as Redis' clock is.
   */
  untilDue(held: Held, notBeforeMs: number): number {
    const own = this.#ownDue.get(held.id);
    if (own?.dueAtMs === held.dueAtMs) return own.localMs - this.#clock.monotonicMs();
    return Math.max(held.dueAtMs, notBeforeMs + noteSlackMs) - this.#setClock.earliestNowMs();
  }

  /** The due time for the set, whole ms on Redis' clock, of one that a step has decided on. */
  dueAt(id: string, atMs: number): number {
    const localMs = atMs - this.#offsetMs;
    const waitMs = localMs - this.#clock.monotonicMs();
    // Whole ms: it is the score that the next claim of this id will be compared with.
    const dueAtMs = Math.ceil(this.#setClock.latestNowMs() + waitMs);
    this.#ownDue.set(id, { dueAtMs, localMs });
    return dueAtMs;
  }

  forget(id: string): void {
    this.#ownDue.delete(id);
  }
}
