import type { AccountLimits } from '../../lib/accounts.ts';
import type { LeaseSettings } from '../../lib/due-set/upstash-due-set.ts';
import type { Claim, Entry, ExchangeReply, ExchangeRequest, Settlement, WaitingEntry } from '../../lib/ports.ts';
import type { ClaimRecord } from './claim-record.ts';
import { compareSets, type Sets } from './compare-sets.ts';
import type { Lambda } from './lambda.ts';
import type { DueSetState } from './memory-sets.ts';
import type { Referee } from './referee.ts';
import type { SetSide } from './set-side.ts';
import { TurnWatch } from './turn-watch.ts';

/** An overdue job that is read once in hours holds no slot. */
const slotForMs = 1_800_000;

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
  readonly #limits: AccountLimits;
  readonly #referee: Referee;
  readonly #nowMs: () => number;
  readonly #trueMs: () => number;
  readonly #turns: TurnWatch;
  #holders = new Map<string, ClaimRecord>();
  readonly #claims = new Map<Lambda, Map<string, ClaimRecord>>();
  #largestTokens = new Map<string, number>();

  /** `nowMs` is the set's clock, `trueMs` the world's. */
  constructor(
    side: SetSide,
    { limits, ...lease }: LeaseSettings & { limits: AccountLimits },
    referee: Referee,
    clocks: { nowMs: () => number; trueMs: () => number },
  ) {
    this.#side = side;
    this.#lease = lease;
    this.#limits = limits;
    this.#referee = referee;
    this.#turns = new TurnWatch(referee);
    this.#nowMs = clocks.nowMs;
    this.#trueMs = clocks.trueMs;
  }

  get scores(): ReadonlyMap<string, number> {
    return this.#side.state.scores;
  }

  get waiting(): ReadonlyMap<string, number> {
    return this.#side.state.waiting;
  }

  /** True for a job that is due, leased or in line. */
  holds(id: string): boolean {
    return this.scores.has(id) || this.waiting.has(id);
  }

  get limits(): AccountLimits {
    return this.#limits;
  }

  /** A field of the account's state; '' where it is absent. */
  field(name: string): string {
    return this.#side.state.account.get(name) ?? '';
  }

  /** Jobs that hold a slot, as the set tells it. */
  get inFlight(): number {
    const untilMs = this.#nowMs() + slotForMs;
    return [...this.scores.values()].filter((score) => score <= untilMs).length;
  }

  /** As somebody does who stops the account: nothing is called, or nothing new is sent. */
  pause(what: 'all' | 'creates'): Promise<void> {
    return this.#setFields({ paused: `${what} ${this.#nowMs()}` });
  }

  resume(): Promise<void> {
    return this.#setFields({ paused: '', breaker: '', creates_hold: '' });
  }

  /** Nothing is lost by it: every claim stays what it is. */
  #setFields(fields: Record<string, string>): Promise<void> {
    const state = this.#side.save();
    return this.#side.load({ ...state, account: new Map([...state.account, ...Object.entries(fields)]) });
  }

  get ids(): string[] {
    return [...this.scores.keys(), ...this.waiting.keys()];
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
    const settled = new Map(this.scores);
    const line = new Map(this.waiting);
    const paused = this.field('paused');
    const reply = await this.#side.dueSet.exchange(request);
    this.#checkPaused(paused, reply);
    const claimed = new Map(reply.claimed.map((claim) => [claim.id, claim]));
    for (const settlement of request.settlements) this.#settle(by, settlement, { scores: settled, line }, reply);
    for (const claim of reply.claimed) {
      if (claim.rank === undefined) this.#checkDue(by, claim, settled.get(claim.id));
      else this.#checkAdmitted(by, claim, line);
      this.#claim(by, claim);
    }
    this.#compare(settled, line, claimed);
    return reply;
  }

  async enqueue(entries: readonly WaitingEntry[]): Promise<{ added: number; wake: boolean }> {
    const scores = new Map(this.scores);
    const line = new Map(this.waiting);
    const reply = await this.#side.dueSet.enqueue(entries);
    for (const entry of entries) {
      const { id } = entry;
      const rank = this.waiting.get(id);
      if (scores.has(id) || line.has(id) || rank === undefined) continue;
      this.#turns.enqueued(entry, line.keys());
      line.set(id, rank);
    }
    this.#compare(scores, line);
    return reply;
  }

  /** What waits past its deadline may become due; nothing else may change. */
  async tidy(): Promise<{ expired: number; wake: boolean }> {
    const scores = new Map(this.scores);
    const line = new Map(this.waiting);
    const reply = await this.#side.dueSet.tidy();
    for (const id of [...line.keys()]) {
      if (this.waiting.has(id)) continue;
      line.delete(id);
      this.#turns.expired(id);
      scores.set(id, this.#nowMs());
    }
    this.#compare(scores, line);
    return reply;
  }

  async schedule(entries: readonly Entry[], mode?: 'pull'): Promise<{ added: number; wake: boolean }> {
    const expected = new Map(this.scores);
    const line = new Map(this.waiting);
    for (const { id, delayMs, leaves } of entries) {
      const dueAtMs = this.#nowMs() + Math.ceil(delayMs);
      if (!expected.has(id) || (mode === 'pull' && this.isLaterThan(id, dueAtMs))) expected.set(id, dueAtMs);
      if (line.delete(id)) this.#turns[leaves === undefined ? 'cameBack' : 'expired'](id);
    }
    const reply = await this.#side.dueSet.schedule(entries, mode);
    this.#compare(expected, line);
    return reply;
  }

  /** True for a job that is due after that time, ms on the set's clock, and not leased. */
  isLaterThan(id: string, atMs: number): boolean {
    const score = this.scores.get(id);
    return score !== undefined && score % 1 === 0 && score > atMs;
  }

  workload(): Promise<{ jobs: number; paused: boolean }> {
    return this.#side.dueSet.workload();
  }

  nowMs(): Promise<number> {
    return this.#side.dueSet.nowMs();
  }

  absent(ids: readonly string[]): Promise<string[]> {
    return this.#side.dueSet.absent(ids);
  }

  save(): SavedSet {
    const holders = new Map([...this.#holders].map(([id, claim]) => [id, { ...claim }]));
    return { state: this.#side.save(), holders };
  }

  /** Redis loses all that it has had since: every claim made or changed since is void, and no drain is told. */
  async load({ state, holders }: SavedSet): Promise<void> {
    await this.#side.load(state);
    this.#turns.lost();
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
  #settle(
    by: Lambda,
    { id, token, to }: Settlement,
    { scores, line }: { scores: Map<string, number>; line: Map<string, number> },
    reply: ExchangeReply,
  ): void {
    const target = to.kind === 'due' ? Math.ceil(to.atMs) : to.kind === 'renew' ? Number(to.token) : undefined;
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
    if (to.kind !== 'wait') return;
    line.set(id, Number(to.rank));
    this.#turns.cameBack(id);
  }

  #checkPaused(paused: string, { claimed }: ExchangeReply): void {
    const called = paused === '' ? [] : claimed.filter(({ rank }) => paused.startsWith('all') || rank !== undefined);
    for (const { id } of called) this.#referee.broken('a paused account is left alone', `${id}, while ${paused}`);
  }

  /** Takes the job out of `line`. */
  #checkAdmitted(by: Lambda, { id }: Claim, line: Map<string, number>): void {
    const rank = line.get(id);
    if (rank === undefined) this.#referee.broken('only what is in line is admitted', `${id} by ${by.name}`);
    else if (rank > Math.min(...line.values())) this.#referee.broken('the first in line is admitted first', id);
    line.delete(id);
    this.#turns.admitted(id);
    const { maxInFlight } = this.#limits;
    const { inFlight } = this;
    if (maxInFlight !== null && inFlight > maxInFlight) {
      this.#referee.broken('no job is admitted without a slot', `${inFlight} in flight of ${maxInFlight}`);
    }
  }

  #checkDue(by: Lambda, { id }: Claim, score: number | undefined): void {
    const nowMs = this.#nowMs();
    const isLeased = score !== undefined && score % 1 !== 0;
    if (score === undefined) this.#referee.broken('only what is in the set is claimed', `${id} by ${by.name}`);
    else if (isLeased && score > nowMs) {
      this.#referee.broken('a live lease is never taken', `${id} by ${by.name}, ${score - nowMs} ms before its end`);
    } else if (!isLeased && score > nowMs + this.#lease.aheadMs) {
      this.#referee.broken('nothing is claimed further ahead than agreed', `${id} by ${by.name}`);
    }
  }

  #claim(by: Lambda, { id, token, rank }: Claim): void {
    const largest = this.#largestTokens.get(id) ?? 0;
    if (Number(token) <= largest) {
      this.#referee.broken('a later claim has a larger token', `${id}: ${token} after ${largest}`);
    }
    this.#largestTokens.set(id, Number(token));
    const fresh = { wins: 0, settledToMs: null, voided: false };
    const isAdmitted = rank !== undefined;
    const claim = { id, by, claimedAtMs: this.#trueMs(), isAdmitted, token: Number(token), ...fresh };
    this.#holders.set(id, claim);
    this.#keep(claim);
  }

  #compare(scores: Sets['scores'], waiting: Sets['waiting'], claimed: ReadonlyMap<string, Claim> = new Map()): void {
    compareSets(this.#referee, { scores, waiting }, this, claimed);
  }
}
