import type { Hand } from './hand.ts';
import { Pace } from './pace.ts';
import type { ExchangeReply } from './ports.ts';
import type { SetClock } from './set-clock.ts';
import type { Workbench } from './workbench.ts';

/* How much a drain asks for with each exchange, and when it must not wait for the next tick to ask again. */

interface AppetiteSettings {
  concurrency: number;
  tickMs: number;
  exchangeMax: number;
}

/** What one exchange was asked for: due jobs, and new ones. */
export interface Asked {
  claimMax: number;
  admitMax: number;
}

/** A claim ahead of a due time leaves this much for the round trip and the record's read. */
const claimLeadMs = 150;

export class Appetite {
  readonly #settings: AppetiteSettings;
  readonly #hand: Hand;
  readonly #workbench: Pick<Workbench, 'admitMax' | 'isLowOnCreates'>;
  readonly #setClock: SetClock;
  readonly #pace: Pace;
  #gotAllDue = true;
  #gotAllNew = true;
  #moreDueAtMs = Number.POSITIVE_INFINITY;

  constructor(
    settings: AppetiteSettings,
    hand: Hand,
    workbench: Pick<Workbench, 'admitMax' | 'isLowOnCreates'>,
    setClock: SetClock,
  ) {
    this.#settings = settings;
    this.#hand = hand;
    this.#workbench = workbench;
    this.#setClock = setClock;
    this.#pace = new Pace(settings);
  }

  get wanted(): Asked {
    return { claimMax: this.#claimMax, admitMax: this.#workbench.admitMax };
  }

  /** When the next exchange must be made for what the last one left in the set, monotonic ms. */
  get moreDueAtMs(): number {
    return this.#moreDueAtMs;
  }

  /** True when lanes run dry while there is more for them. */
  get isHungry(): boolean {
    const forDue = !this.#gotAllDue && this.#pace.isLow(this.#hand.unstarted) && this.#claimMax > 0;
    return forDue || (!this.#gotAllNew && this.#workbench.isLowOnCreates);
  }

  /** A read has held its lane for so long, ms. */
  finish(readMs: number): void {
    this.#pace.finish(readMs);
  }

  /** What came of it, `dueCount` of it due. True when every due job that was asked for came: there may be more. */
  observe({ claimMax, admitMax }: Asked, reply: ExchangeReply, dueCount: number, nowMs: number): boolean {
    if (admitMax > 0) this.#gotAllNew = reply.claimed.length - dueCount < admitMax;
    // Asked for nothing because enough is in hand says nothing about what is left in the set.
    if (claimMax > 0) this.#gotAllDue = dueCount < claimMax;
    const full = claimMax > 0 && !this.#gotAllDue;
    this.#moreDueAtMs = full ? this.#beforeNextDue(reply, nowMs) : Number.POSITIVE_INFINITY;
    return full;
  }

  /** When the next claim must be made so that the first id left behind is still had in time. One late already can wait for a lane. */
  #beforeNextDue({ nextDueAtMs }: ExchangeReply, nowMs: number): number {
    const inMs = (nextDueAtMs ?? Number.POSITIVE_INFINITY) - this.#setClock.latestNowMs();
    return inMs > 0 ? nowMs + Math.max(inMs - claimLeadMs, 0) : Number.POSITIVE_INFINITY;
  }

  get #claimMax(): number {
    const { exchangeMax } = this.#settings;
    // Twice that may be in hand: what only waits for its write or its settlement must not keep the lanes empty.
    const room = Math.min(exchangeMax, 2 * exchangeMax - this.#hand.size);
    return Math.max(0, Math.min(this.#pace.wanted - this.#hand.unstarted, room));
  }
}
