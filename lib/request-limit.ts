import { messageOf } from './errors.ts';
import type { Log } from './log.ts';
import type { Clock } from './ports.ts';

/** Where all processes count together. */
export interface RequestCounts {
  /** Adds to what the owner was given in the window; how much it is then. Rejects within a quarter of a second. */
  add(owner: string, window: number, count: number): Promise<number>;
}

export interface Allowance {
  allowed: boolean;
  /** Of the window's requests, as far as this process knows. */
  left: number;
  /** Until the next window. */
  resetMs: number;
}

/** One owner's window, as this process has it. */
interface Share {
  window: number;
  /** Requests that were let through here. */
  used: number;
  /** Requests that are counted already, and may still be let through. */
  leased: number;
  /** What nobody had leased when it was last looked up. */
  free: number;
  /** Nobody can lease any more. */
  full: boolean;
  /** Requests here that wait for a lease. */
  waiting: number;
  leasing?: Promise<void>;
}

/** Windows begin with the minutes of UTC, so that all processes have the same. */
const windowMs = 60_000;
/** How long each process then counts alone, before it asks again. */
const aloneForMs = 10_000;
const saidEveryMs = 60_000;

/**
 * How many requests an owner may make in a minute, over all processes: each leases some at a time from a common count, and
 * lets as many through without asking. When the count can't be had, each counts alone, with the same limit: nothing is let
 * through uncounted, and with n processes an owner has at most n times the limit. What is leased and not used is lost, so that
 * an owner may be refused a little early: by at most a lease for each process.
 */
export class RequestLimit {
  readonly perMinute: number;
  readonly #counts: RequestCounts;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #log: Log;
  readonly #leaseSize: number;
  readonly #shares = new Map<string, Share>();
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #saidAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    perMinute: number,
    { counts, clock, log }: { counts: RequestCounts; clock: Pick<Clock, 'nowMs'>; log: Log },
  ) {
    this.perMinute = perMinute;
    this.#counts = counts;
    this.#clock = clock;
    this.#log = log;
    this.#leaseSize = Math.min(Math.ceil(perMinute / 300), 100);
  }

  /** Never rejects. */
  async take(owner: string): Promise<Allowance> {
    const share = this.#shareOf(owner);
    share.waiting++;
    while (share.leased === 0 && !share.full && !this.#isAlone()) {
      share.leasing ??= this.#lease(owner, share).finally(() => delete share.leasing);
      await share.leasing;
    }
    share.waiting--;
    const leased = share.leased > 0;
    const allowed = leased || (!share.full && share.used < this.perMinute);
    if (leased) share.leased--;
    if (allowed) share.used++;
    const known = this.#isAlone() && !leased ? this.perMinute - share.used : share.free + share.leased;
    const resetMs = Math.max((share.window + 1) * windowMs - this.#clock.nowMs(), 0);
    return { allowed, left: share.full && !leased ? 0 : Math.max(known, 0), resetMs };
  }

  #shareOf(owner: string): Share {
    const window = Math.floor(this.#clock.nowMs() / windowMs);
    const kept = this.#shares.get(owner);
    if (kept?.window === window) return kept;
    const share = { window, used: 0, leased: 0, free: this.perMinute, full: false, waiting: 0 };
    this.#shares.set(owner, share);
    return share;
  }

  async #lease(owner: string, share: Share): Promise<void> {
    const count = Math.max(this.#leaseSize, share.waiting);
    try {
      const total = await this.#counts.add(owner, share.window, count);
      const granted = Math.min(Math.max(this.perMinute - (total - count), 0), count);
      share.leased += granted;
      share.free = Math.max(this.perMinute - total, 0);
      share.full = granted < count;
    } catch (error) {
      this.#failedAtMs = this.#clock.nowMs();
      // A clock that has stepped back must not keep it quiet.
      if (Math.abs(this.#failedAtMs - this.#saidAtMs) < saidEveryMs) return;
      this.#saidAtMs = this.#failedAtMs;
      this.#log.warn('request_limit_alone', { error: messageOf(error) });
    }
  }

  #isAlone(): boolean {
    return Math.abs(this.#clock.nowMs() - this.#failedAtMs) < aloneForMs;
  }
}
