/**
 * How much a drain claims: enough to keep every lane busy for a tick and a half at the pace of the last tick, at
 * least two claims per lane. More would only sit in its hands while another drain has nothing to do.
 */
export class Pace {
  readonly #concurrency: number;
  readonly #tickMs: number;
  #perTick: number;
  #finished = 0;
  #wanted = 0;
  #countedAtMs: number;

  constructor(given: { concurrency: number; tickMs: number }, nowMs: number) {
    this.#concurrency = given.concurrency;
    this.#tickMs = given.tickMs;
    this.#countedAtMs = nowMs;
    // Before anything is known: answers of a quarter of a tick.
    this.#perTick = 4 * given.concurrency;
  }

  /** One more step is done. */
  finish(): void {
    this.#finished++;
  }

  /** How many claims that have not started yet are wanted in hand. `nowMs` is monotonic. */
  wanted(nowMs: number): number {
    // What was finished just now counts for its share of a tick: claiming more often does not change the pace.
    const share = Math.min(1, (nowMs - this.#countedAtMs) / this.#tickMs);
    this.#perTick = this.#perTick * (1 - share) + this.#finished;
    this.#finished = 0;
    this.#countedAtMs = nowMs;
    this.#wanted = Math.max(2 * this.#concurrency, Math.ceil(1.5 * this.#perTick));
    return this.#wanted;
  }

  /** True when so few claims are left that the lanes could run dry while the next ones are fetched and read. */
  isLow(unstarted: number): boolean {
    return unstarted < Math.max(this.#concurrency, this.#wanted / 3);
  }
}
