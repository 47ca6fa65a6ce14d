import type { Job } from './job.ts';
import { leaseEndOf, renewedToken } from './lease.ts';
import type { Call, Claim, Settlement } from './ports.ts';

/*
 * What one drain holds: every id between its claim and the exchange that settles it. A settlement counts only once an
 * exchange has confirmed it; until then it is sent again, which the script recognises.
 */

/** `unstarted`: claimed, its record being read or its time not come. `running`: its step is under way. `done`: to be settled. */
export type Phase = 'unstarted' | 'running' | 'done';

/** What a claim is settled to at its end. */
export type Settled = Exclude<Settlement['to'], { kind: 'renew' }>;

export interface Held {
  readonly id: string;
  readonly dueAtMs: number;
  readonly claims: number;
  /** Of a job that waited and was admitted by this claim: its place in line. */
  readonly rank: string | undefined;
  token: string;
  leaseEndMs: number;
  /** A renewal that was sent and not yet confirmed: the set holds either this token or the old one. */
  renewing: string | null;
  phase: Phase;
  /** Its step is not to start before, on the monotonic clock, ms; its due time apart. */
  startAtMs: number;
  job: Job | null;
  settle: Settled | null;
  /** The provider call of its step, while it runs. */
  readonly call: Call;
}

export class Hand {
  readonly #held = new Map<string, Held>();
  readonly #leaseMs: number;
  #unstarted = 0;
  #unsent = 0;
  #uncalled = { reads: 0, creates: 0 };

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Claims not started, those of new jobs apart. */
  get unstarted(): number {
    return this.#unstarted - this.#unsent;
  }

  /** New jobs that were admitted and not begun to be sent. */
  get unsent(): number {
    return this.#unsent;
  }

  /** Claims that ended without a step since this was last asked, those of new jobs apart; not those that were let go. */
  takeUncalled(): { reads: number; creates: number } {
    const uncalled = this.#uncalled;
    this.#uncalled = { reads: 0, creates: 0 };
    return uncalled;
  }

  find(id: string): Held | undefined {
    return this.#held.get(id);
  }

  /** True while this very claim is in hand (and not a later one of the same id). */
  holds(held: Held): boolean {
    return this.#held.get(held.id) === held;
  }

  /**
   * Takes a claim in. Null when the id is still in hand from a claim whose lease ran out meanwhile: that work goes on
   * under the new lease, so that a job never has two calls at once.
   */
  take(claim: Claim, startAtMs = 0): Held | null {
    const before = this.#held.get(claim.id);
    const lease = { token: claim.token, leaseEndMs: leaseEndOf(claim.token), renewing: null };
    if (before !== undefined) {
      Object.assign(before, lease);
      return null;
    }
    const { id, dueAtMs, claims, rank } = claim;
    const work = { phase: 'unstarted', startAtMs, job: null, settle: null, call: {} } as const;
    const held: Held = { id, dueAtMs, claims, rank, ...lease, ...work };
    this.#held.set(id, held);
    this.#unstarted++;
    if (rank !== undefined) this.#unsent++;
    return held;
  }

  start(held: Held): void {
    this.#leave(held, 'running');
  }

  finish(held: Held, settle: Settled): void {
    held.settle = settle;
    this.#leave(held, 'done');
  }

  /** Lets go without settling: the lease was lost or is about to be. A call under way ends: another drain may begin one. */
  drop(held: Held): void {
    if (!this.holds(held)) return;
    held.call.lost = true;
    held.call.abort?.();
    // Nothing is given back of what an exchange has counted for it: it may be a set that was lost since, and its meter with it.
    this.#leave(held, 'done', false);
    this.#held.delete(held.id);
  }

  /** Drops what runs on a lease that ends before `untilMs`: it could not be renewed in time. Returns how many. */
  dropEndangered(untilMs: number): number {
    const endangered = [...this.#held.values()].filter((held) => held.phase === 'running' && held.leaseEndMs < untilMs);
    for (const held of endangered) this.drop(held);
    return endangered.length;
  }

  /** Every claim not started goes back where it came from. */
  giveBackAll(): number {
    let given = 0;
    for (const held of this.#held.values()) {
      if (held.phase !== 'unstarted') continue;
      this.giveBack(held);
      given++;
    }
    return given;
  }

  /** As if it had never been claimed: with its own due time, or to its place in line. */
  giveBack(held: Held): void {
    const { rank, dueAtMs } = held;
    this.finish(held, rank === undefined ? { kind: 'due', atMs: dueAtMs } : { kind: 'wait', rank });
  }

  /** What the next exchange settles and renews, at most `max`. `latestNowMs` is the set's time at most. */
  settlements(latestNowMs: number, max: number): Settlement[] {
    const list: Settlement[] = [];
    for (const held of this.#held.values()) {
      if (list.length === max) break;
      const to = this.#next(held, latestNowMs);
      if (to !== null) list.push({ id: held.id, token: held.token, to });
    }
    return list;
  }

  /** An exchange has taken the settlements; for those in `stale` the token no longer held. Returns the stale ones. */
  confirm(settlements: readonly Settlement[], stale: ReadonlySet<string>): Held[] {
    const lost: Held[] = [];
    for (const { id, token, to } of settlements) {
      const held = this.#held.get(id);
      if (held === undefined || held.token !== token) continue;
      if (stale.has(id)) {
        lost.push(held);
        this.drop(held);
      } else if (to.kind === 'renew') {
        Object.assign(held, { token: to.token, leaseEndMs: leaseEndOf(to.token), renewing: null });
      } else {
        this.#held.delete(id);
      }
    }
    return lost;
  }

  #next(held: Held, latestNowMs: number): Settlement['to'] | null {
    if (held.renewing !== null) return { kind: 'renew', token: held.renewing };
    if (held.phase === 'done') return held.settle;
    if (held.leaseEndMs - latestNowMs > this.#leaseMs / 2) return null;
    held.renewing = renewedToken(held.token, latestNowMs + this.#leaseMs);
    return { kind: 'renew', token: held.renewing };
  }

  #leave(held: Held, phase: Phase, isUncalled = phase === 'done'): void {
    if (held.phase === 'unstarted') {
      this.#unstarted--;
      if (held.rank !== undefined) this.#unsent--;
      if (isUncalled) this.#uncalled[held.rank === undefined ? 'reads' : 'creates']++;
    }
    held.phase = phase;
  }
}
