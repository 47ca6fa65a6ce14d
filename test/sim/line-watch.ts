import type { DueSetWatch } from './due-set-watch.ts';
import type { Referee } from './referee.ts';

/** Two sweeps, and the time that one may take. */
const waitMaxMs = 720_000;

/*
 * Sees to it that nobody waits for nothing: in fair weather, whoever is first in line is admitted once nothing that stands
 * in the account's state holds it back.
 */
export class LineWatch {
  readonly #set: DueSetWatch;
  readonly #referee: Referee;
  readonly #clocks: { nowMs: () => number; trueMs: () => number };
  #calmSinceMs = Number.POSITIVE_INFINITY;
  #first: string | null = null;
  #freeSinceMs = Number.POSITIVE_INFINITY;

  /** `nowMs` is the set's clock, `trueMs` the world's. */
  constructor(set: DueSetWatch, referee: Referee, clocks: { nowMs: () => number; trueMs: () => number }) {
    this.#set = set;
    this.#referee = referee;
    this.#clocks = clocks;
  }

  calm(): void {
    this.#calmSinceMs = this.#clocks.trueMs();
  }

  /** At any moment. */
  check(): void {
    const trueMs = this.#clocks.trueMs();
    if (trueMs < this.#calmSinceMs) return;
    const first = this.#firstInLine();
    if (first !== this.#first || first === null || this.#isHeld()) {
      this.#first = first;
      this.#freeSinceMs = trueMs;
    } else if (trueMs - this.#freeSinceMs > waitMaxMs) {
      this.#referee.broken('whoever is first in line, and free to go, is admitted within two sweeps', first);
    }
  }

  #firstInLine(): string | null {
    let first: [string, number] | null = null;
    for (const one of this.#set.waiting) if (first === null || one[1] < first[1]) first = one;
    return first?.[0] ?? null;
  }

  #isHeld(): boolean {
    const { limits, inFlight } = this.#set;
    const nowMs = this.#clocks.nowMs();
    const [breaker = '', breakerAt] = this.#set.field('breaker').split(' ');
    const [, holdTill = '0'] = this.#set.field('creates_hold').split(' ');
    const [cap = ''] = this.#set.field('slots').split(' ');
    const slots = Math.min(
      limits.maxInFlight ?? Number.POSITIVE_INFINITY,
      cap === '' ? Number.POSITIVE_INFINITY : +cap,
    );
    const shut = breaker === 'recovering' || (breaker !== '' && Number(breakerAt) > nowMs);
    return this.#set.field('paused') !== '' || shut || Number(holdTill) > nowMs || inFlight >= slots || this.#isSpent();
  }

  /** By the meters as they stand: they may count a call too long, and the second half of a limit is spread over the time. */
  #isSpent(): boolean {
    const { createsPerMinute, createsPerDay } = this.#set.limits;
    const [minute = '', day = ''] = this.#set.field('creates').split('|');
    const used = (meter: string) =>
      meter
        .split(' ')
        .slice(2)
        .reduce((sum, count) => sum + Number(count), 0);
    return (
      used(minute) >= (createsPerMinute ?? Number.POSITIVE_INFINITY) ||
      2 * used(day) >= (createsPerDay ?? Number.POSITIVE_INFINITY)
    );
  }
}
