/*
 * The due set's clock as seen from here. Every due time is a time on Redis' clock; ours may be minutes off, so it is
 * never compared with one. An exchange tells Redis' time at some moment between sending and the answer; measured on
 * our monotonic clock that gives two bounds. A due time is computed from the later bound and waited for on the
 * earlier one: whatever the network's delay, a job is never read before its time.
 */
export class SetClock {
  readonly #monotonicMs: () => number;
  #roundTripMs = Number.POSITIVE_INFINITY;
  #sentAtMs = 0;
  #answeredAtMs = 0;
  #setNowMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Takes in an exchange: sent and answered on our monotonic clock, `setNowMs` by Redis. The quickest one is kept. */
  observe(sentAtMs: number, answeredAtMs: number, setNowMs: number): void {
    const roundTripMs = answeredAtMs - sentAtMs;
    const stepped = Math.abs(setNowMs - this.earliestNowMs(answeredAtMs)) > this.#roundTripMs + roundTripMs + stepMs;
    if (roundTripMs > this.#roundTripMs && !stepped) return;
    this.#roundTripMs = roundTripMs;
    this.#sentAtMs = sentAtMs;
    this.#answeredAtMs = answeredAtMs;
    this.#setNowMs = setNowMs;
  }

  /** Redis' time is at least this. For waiting until a due time. */
  earliestNowMs(atMs: number = this.#monotonicMs()): number {
    return this.#setNowMs + (atMs - this.#answeredAtMs);
  }

  /** Redis' time is at most this (it tells whole ms, hence the one more). For making due times and judging leases. */
  latestNowMs(): number {
    return this.#setNowMs + 1 + (this.#monotonicMs() - this.#sentAtMs);
  }
}

/** Two clocks that part by more than this between ticks have not drifted: one was set. */
const stepMs = 250;
