/**
 * How much a drain claims: enough to keep every lane busy for a tick and a half at what a read takes, at least two
 * claims per lane. More would only sit in its hands while another drain has nothing to do.
 */
export class Pace {
  #concurrency: number;
  readonly #tickMs: number;
  readonly #max: number;
  #laneMs: number;

  /** `exchangeMax`: more than one exchange can claim is never wanted. */
  constructor(given: { concurrency: number; tickMs: number; exchangeMax: number }) {
    this.#concurrency = given.concurrency;
    this.#tickMs = given.tickMs;
    this.#max = given.exchangeMax;
    // Before anything is known: answers of a quarter of a tick.
    this.#laneMs = given.tickMs / 4;
  }

  /** How many run at a time from now on. */
  set concurrency(lanes: number) {
    this.#concurrency = lanes;
  }

  /** A read has held its lane for so long. Idle times say nothing about what could be done. */
  finish(laneMs: number): void {
    this.#laneMs += (Math.max(laneMs, 1) - this.#laneMs) * weight;
  }

  /** How many claims that have not started yet are wanted in hand. */
  get wanted(): number {
    const perTick = (this.#concurrency * this.#tickMs) / this.#laneMs;
    return Math.min(this.#max, Math.max(2 * this.#concurrency, Math.ceil(1.5 * perTick)));
  }

  /** True when so few claims are left that the lanes could run dry while the next ones are fetched and read. */
  isLow(unstarted: number): boolean {
    return unstarted < Math.max(this.#concurrency, this.wanted / 3);
  }
}

/** Of one read in the running mean: some fifty make the picture. */
const weight = 0.02;
