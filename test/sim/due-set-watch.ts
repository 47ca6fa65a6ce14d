import type { LeaseSettings } from '../../lib/due-set/upstash-due-set.ts';
import type { Claim, ExchangeReply, ExchangeRequest, Settlement } from '../../lib/ports.ts';
import type { Lambda } from './lambda.ts';
import type { DueSetState } from './memory-due-set.ts';
import type { Referee } from './referee.ts';
import type { SetSide } from './set-side.ts';

/** One claim, from the exchange that made it to the one that settles it, under whatever token. */
export interface ClaimRecord {
  readonly id: string;
  readonly by: Lambda;
  /** True time, ms. */
  readonly claimedAtMs: number;
  token: number;
  wins: number;
  /** What it was settled to, ms on the set's clock; null while it is not. */
  settledToMs: number | null;
  /** Redis lost it: nobody told its drain. */
  voided: boolean;
}

export interface SavedSet {
  state: DueSetState;
  holders: ReadonlyMap<string, ClaimRecord>;
}

/*
 * Stands before the due set at the moment at which a call is carried out, and compares what the set held before with what
 * it holds after. It knows who claimed what, which no score tells.
 */
export class DueSetWatch {
  readonly #side: SetSide;
  readonly #lease: LeaseSettings;
  readonly #referee: Referee;
  readonly #nowMs: () => number;
  readonly #trueMs: () => number;
  #holders = new Map<string, ClaimRecord>();
  readonly #claims = new Map<Lambda, Map<string, ClaimRecord>>();
  #largestTokens = new Map<string, number>();

  /** `nowMs` is the set's clock, `trueMs` the world's. */
  constructor(
    side: SetSide,
    lease: LeaseSettings,
    referee: Referee,
    clocks: { nowMs: () => number; trueMs: () => number },
  ) {
    this.#side = side;
    this.#lease = lease;
    this.#referee = referee;
    this.#nowMs = clocks.nowMs;
    this.#trueMs = clocks.trueMs;
  }

  get scores(): ReadonlyMap<string, number> {
    return this.#side.state.scores;
  }

  /** The last claim of the job that this process made. */
  claimOf(by: Lambda, id: string): ClaimRecord | undefined {
    return this.#claims.get(by)?.get(id);
  }

  /** True while the set itself says that this claim may work on its job. */
  isLive(claim: ClaimRecord): boolean {
    return this.scores.get(claim.id) === claim.token && this.#nowMs() < Math.floor(claim.token);
  }

  async exchange(by: Lambda, request: ExchangeRequest): Promise<ExchangeReply> {
    const before = new Map(this.scores);
    const reply = await this.#side.dueSet.exchange(request);
    const claimed = new Map(reply.claimed.map((claim) => [claim.id, claim]));
    const settled = new Map(before);
    for (const settlement of request.settlements) this.#settle(by, settlement, settled, reply);
    for (const claim of reply.claimed) this.#claim(by, claim, settled.get(claim.id));
    this.#compare(settled, claimed);
    return reply;
  }

  async schedule(entries: readonly { id: string; delayMs: number }[]): Promise<{ added: number; wake: boolean }> {
    const expected = new Map(this.scores);
    for (const { id, delayMs } of entries) {
      if (!expected.has(id)) expected.set(id, this.#nowMs() + Math.ceil(delayMs));
    }
    const reply = await this.#side.dueSet.schedule(entries);
    this.#compare(expected, new Map());
    return reply;
  }

  nowMs(): Promise<number> {
    return this.#side.dueSet.nowMs();
  }

  absent(ids: readonly string[]): Promise<string[]> {
    return this.#side.dueSet.absent(ids);
  }

  save(): SavedSet {
    const { scores, ...rest } = this.#side.state;
    const holders = new Map([...this.#holders].map(([id, claim]) => [id, { ...claim }]));
    return { state: { scores: new Map(scores), ...rest }, holders };
  }

  /** Redis loses all that it has had since: every claim made or changed since is void, and no drain is told. */
  async load({ state, holders }: SavedSet): Promise<void> {
    await this.#side.load(state);
    for (const claim of this.#holders.values()) claim.voided = true;
    this.#holders = new Map([...holders].map(([id, then]) => [id, this.#asThen(then)]));
    this.#largestTokens = new Map();
  }

  /** The claim itself if it is still as it was then, else a copy of what the set has for it now. */
  #asThen(then: ClaimRecord): ClaimRecord {
    const now = this.claimOf(then.by, then.id);
    const unchanged = now?.token === then.token && now.settledToMs === then.settledToMs;
    if (now === undefined || !unchanged) return { ...then, voided: true };
    now.voided = then.voided;
    return now;
  }

  #keep(claim: ClaimRecord): void {
    const own = this.#claims.get(claim.by) ?? new Map<string, ClaimRecord>();
    this.#claims.set(claim.by, own.set(claim.id, claim));
  }

  /** What a settlement must come to: `scores` moves on to what the set must hold after it. */
  #settle(by: Lambda, { id, token, to }: Settlement, scores: Map<string, number>, reply: ExchangeReply): void {
    const target = to.kind === 'remove' ? undefined : to.kind === 'due' ? Math.ceil(to.atMs) : Number(to.token);
    const score = scores.get(id);
    if (score !== Number(token)) {
      const wasDone = score === target;
      if (reply.stale.includes(id) === wasDone) {
        this.#referee.broken('a settlement is stale exactly when its token no longer holds', `${id} by ${by.name}`);
      }
      return;
    }
    const claim = this.#holders.get(id);
    if (claim === undefined || claim.by !== by || claim.token !== score) {
      this.#referee.broken('only who claimed a job settles it', `${id} was settled by ${by.name}`);
    } else if (to.kind === 'renew') {
      claim.token = Number(to.token);
    } else {
      claim.wins++;
      claim.settledToMs = target ?? Number.POSITIVE_INFINITY;
      if (claim.wins > 1) this.#referee.broken('at most one settlement wins per claim', `${id} at ${token}`);
    }
    if (target === undefined) scores.delete(id);
    else scores.set(id, target);
  }

  #claim(by: Lambda, { id, token }: Claim, score: number | undefined): void {
    const nowMs = this.#nowMs();
    const largest = this.#largestTokens.get(id) ?? 0;
    const isLeased = score !== undefined && score % 1 !== 0;
    if (score === undefined) this.#referee.broken('only what is in the set is claimed', `${id} by ${by.name}`);
    else if (isLeased && score > nowMs) {
      this.#referee.broken('a live lease is never taken', `${id} by ${by.name}, ${score - nowMs} ms before its end`);
    } else if (!isLeased && score > nowMs + this.#lease.aheadMs) {
      this.#referee.broken('nothing is claimed further ahead than agreed', `${id} by ${by.name}`);
    }
    if (Number(token) <= largest) {
      this.#referee.broken('a later claim has a larger token', `${id}: ${token} after ${largest}`);
    }
    this.#largestTokens.set(id, Number(token));
    const fresh = { wins: 0, settledToMs: null, voided: false };
    const claim = { id, by, claimedAtMs: this.#trueMs(), token: Number(token), ...fresh };
    this.#holders.set(id, claim);
    this.#keep(claim);
  }

  /** The set holds what it must: each claimed id under its token, all others as they were before or were settled to. */
  #compare(expected: Map<string, number>, claimed: ReadonlyMap<string, Claim>): void {
    const { scores } = this;
    for (const id of new Set([...expected.keys(), ...scores.keys()])) {
      const claim = claimed.get(id);
      const wanted = claim === undefined ? expected.get(id) : Number(claim.token);
      if (scores.get(id) === wanted) continue;
      const what = claim === undefined ? 'what is not settled under its token stays as it is' : 'a claim is leased';
      this.#referee.broken(what, `${id} has score ${scores.get(id)}, not ${wanted}`);
    }
  }
}
