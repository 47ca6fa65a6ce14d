/*
 * The due set's clock as seen from here. Every due time is a time on Redis' clock; ours may be minutes off, so it is
 * never compared with one. Each exchange gives two facts on our monotonic clock: when it was sent, Redis' time was at
 * most what it told; when it was answered, at least that. The sharpest of each is kept. A due time is computed from
 * the later bound and waited for on the earlier one: whatever the network's delay, a job is never read before its time.
 */
export class SetClock {
  readonly #monotonicMs: () => number;
  #earliest: Bound = unbounded(Number.NEGATIVE_INFINITY);
  #latest: Bound = unbounded(Number.POSITIVE_INFINITY);

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Takes in an exchange: sent and answered on our monotonic clock, `setNowMs` by Redis in between. */
  observe(sentAtMs: number, answeredAtMs: number, setNowMs: number): void {
    const earliest = { offsetMs: setNowMs - answeredAtMs, atMs: answeredAtMs };
    const latest = { offsetMs: setNowMs + resolutionMs - sentAtMs, atMs: sentAtMs };
    // Bounds that contradict each other: Redis' clock was set. What was known before is worth nothing then.
    const stepped =
      earliest.offsetMs > drifted(this.#latest, answeredAtMs, 1) ||
      latest.offsetMs < drifted(this.#earliest, answeredAtMs, -1);
    if (stepped || earliest.offsetMs > drifted(this.#earliest, answeredAtMs, -1)) this.#earliest = earliest;
    if (stepped || latest.offsetMs < drifted(this.#latest, answeredAtMs, 1)) this.#latest = latest;
  }

  /** Redis' time is at least this. For waiting until a due time. */
  earliestNowMs(): number {
    const nowMs = this.#monotonicMs();
    return nowMs + drifted(this.#earliest, nowMs, -1);
  }

  /** Redis' time is at most this. For making due times and judging leases. */
  latestNowMs(): number {
    const nowMs = this.#monotonicMs();
    return nowMs + drifted(this.#latest, nowMs, 1);
  }
}

/** Redis' clock minus ours, as it was known at `atMs`. */
interface Bound {
  offsetMs: number;
  atMs: number;
}

/** How far two clocks may part: a tenth of a millisecond a second, several times what quartz does. */
const driftPerMs = 0.0001;
/** What Redis tells may be cut to whole milliseconds. */
const resolutionMs = 1;

function unbounded(offsetMs: number): Bound {
  return { offsetMs, atMs: 0 };
}

/** The bound as it holds at `nowMs`: the older, the wider. */
function drifted(bound: Bound, nowMs: number, towards: 1 | -1): number {
  return bound.offsetMs + towards * driftPerMs * (nowMs - bound.atMs);
}
