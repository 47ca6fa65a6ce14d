import { exchangeMax, type LeaseSettings } from '../../lib/due-set/upstash-due-set.ts';
import type {
  BreakerState,
  Claim,
  DueSet,
  Entry,
  ExchangeReply,
  ExchangeRequest,
  Settlement,
} from '../../lib/ports.ts';

/** Beyond any score that is ever written: the year 2100. */
const scoreMaxMs = 4_102_444_800_000;
/** How long a drain that was just woken has to show itself. */
const wakeGraceMs = 5_000;

/** All that Redis holds for a due set. */
export interface DueSetState {
  scores: ReadonlyMap<string, number>;
  /** When the awake mark ends, ms on the set's clock, and what it says. */
  awakeUntilMs: number;
  mark: string;
  breaker: MemoryBreaker | null;
}

/** What the breaker's key holds: `atMs` is the next probe, or the time up to which claims are paid. */
export interface MemoryBreaker {
  state: 'open' | 'recovering';
  atMs: number;
  perMs: number;
  probes: number;
}

/** What `load` takes to lose everything. */
export const emptySet: DueSetState = { scores: new Map(), awakeUntilMs: 0, mark: '', breaker: null };

/** The due set in memory: what exchange.lua (with its parts) and schedule.lua do, in the same order. Passes the same contract. */
export class MemoryDueSet implements DueSet {
  readonly #nowMs: () => number;
  readonly #lease: LeaseSettings;
  #scores = new Map<string, number>();
  #awakeUntilMs = 0;
  #mark = '';
  #breaker: MemoryBreaker | null = null;

  constructor(nowMs: () => number, lease: LeaseSettings) {
    this.#nowMs = nowMs;
    this.#lease = lease;
  }

  get state(): DueSetState {
    return {
      scores: this.#scores,
      awakeUntilMs: this.#awakeUntilMs,
      mark: this.#mark,
      breaker: this.#breaker,
    };
  }

  load(state: DueSetState): void {
    this.#scores = new Map(state.scores);
    this.#awakeUntilMs = state.awakeUntilMs;
    this.#mark = state.mark;
    this.#breaker = state.breaker;
  }

  async exchange(request: ExchangeRequest): Promise<ExchangeReply> {
    if (request.settlements.length > exchangeMax) {
      throw new RangeError(`An exchange takes at most ${exchangeMax} settlements, not ${request.settlements.length}.`);
    }
    const nowMs = this.#nowMs();
    const windowMs = Math.max(0, Math.floor(request.windowMs));
    const stale = request.settlements.filter((settlement) => !this.#settle(settlement)).map(({ id }) => id);
    // An empty set has nothing to hold back.
    const guarded = this.#scores.size > 0;
    const limit = guarded ? this.#allowed(request, nowMs) : Math.min(request.claimMax, exchangeMax);
    const claim = this.#claim(nowMs, limit, windowMs);
    const { claimed } = claim;
    const breaker = guarded ? this.#passed(claimed.length, limit, nowMs) : null;
    const heldBack = breaker?.state === 'open' && claim.nextDueAtMs !== null;
    const nextDueAtMs = heldBack ? Math.max(claim.nextDueAtMs ?? 0, Math.ceil(breaker.atMs)) : claim.nextDueAtMs;
    if (guarded) this.#breaker = breaker;
    const idle = windowMs > 0 && claimed.length === 0 && request.inHand === 0;
    const nothingComes = nextDueAtMs === null || nextDueAtMs > nowMs + windowMs;
    const role = idle && nothingComes ? this.#leave(request.role) : this.#stay(request.role, idle, nowMs, windowMs);
    return { nowMs, claimed, stale, role, nextDueAtMs, breaker: shown(breaker) };
  }

  async schedule(entries: readonly Entry[], mode?: 'pull'): Promise<{ added: number; wake: boolean }> {
    if (entries.length === 0) return { added: 0, wake: false };
    const nowMs = this.#nowMs();
    const before = this.#scores.size;
    for (const { id, delayMs } of entries) {
      const dueAtMs = nowMs + Math.max(0, Math.ceil(delayMs));
      const score = this.#scores.get(id);
      const isLater = score !== undefined && score % 1 === 0 && score > dueAtMs;
      if (score === undefined || (mode === 'pull' && isLater)) this.#scores.set(id, dueAtMs);
    }
    const wake = this.#awakeUntilMs <= nowMs;
    if (wake) {
      this.#awakeUntilMs = nowMs + wakeGraceMs;
      this.#mark = '1';
    }
    return { added: this.#scores.size - before, wake };
  }

  async nowMs(): Promise<number> {
    return this.#nowMs();
  }

  async absent(ids: readonly string[]): Promise<string[]> {
    for (const id of ids) if ((this.#scores.get(id) ?? 0) > scoreMaxMs) this.#scores.delete(id);
    return ids.filter((id) => !this.#scores.has(id));
  }

  /** False when the token no longer holds. A settlement that was made before is made. */
  #settle({ id, token, to }: Settlement): boolean {
    const score = this.#scores.get(id);
    const target = to.kind === 'remove' ? undefined : to.kind === 'due' ? Math.ceil(to.atMs) : Number(to.token);
    if (score === undefined || score !== Number(token)) return score === target;
    if (target === undefined) this.#scores.delete(id);
    else this.#scores.set(id, target);
    return true;
  }

  #leave(role: ExchangeRequest['role']): 'leave' {
    if (role === 'first') this.#awakeUntilMs = 0;
    return 'leave';
  }

  #stay(role: ExchangeRequest['role'], idle: boolean, nowMs: number, windowMs: number): ExchangeReply['role'] {
    if (role === 'helper' || windowMs === 0) return role === 'new' ? 'further ' : role;
    const mark = role !== 'first' && this.#awakeUntilMs > nowMs ? this.#mark : '';
    if (Number(mark.split(' ')[0]) >= nowMs + windowMs - this.#lease.aheadMs) {
      const firstTicks = role !== 'new' && role !== `further ${mark}`;
      if (idle && firstTicks) return 'covered';
      return role === 'new' ? `further ${mark}` : role;
    }
    this.#mark = `${nowMs + windowMs} ${nowMs}`;
    this.#awakeUntilMs = nowMs + Math.max(Math.floor(Math.min(2 * this.#lease.aheadMs, windowMs)), 1);
    return 'first';
  }

  /** How many claims the breaker lets through, after what the caller has told. */
  #allowed({ claimMax, provider }: ExchangeRequest, nowMs: number): number {
    const limit = Math.min(claimMax, exchangeMax);
    const told = provider === undefined ? 0 : this.#scores.size / Math.max(1, Math.round(provider.meanGapMs));
    const steadyPerMs = Math.max(told, this.#breaker?.perMs ?? 0.001);
    if (this.#breaker !== null) this.#breaker = { ...this.#breaker, perMs: steadyPerMs };
    if (provider?.kind === 'fails' && this.#breaker?.state !== 'open') {
      this.#breaker = { state: 'open', atMs: nowMs + 1_000, perMs: steadyPerMs, probes: 0 };
    } else if (provider?.kind === 'works' && this.#breaker?.state === 'open') {
      this.#breaker = { ...this.#breaker, state: 'recovering', atMs: nowMs, probes: 0 };
    }
    if (this.#breaker === null) return limit;
    const { state, atMs, perMs } = this.#breaker;
    if (state === 'open') {
      this.#breaker = { ...this.#breaker, atMs: Math.min(atMs, nowMs + 30_000) };
      return Math.min(limit, nowMs < this.#breaker.atMs ? 0 : 2);
    }
    this.#breaker = { ...this.#breaker, atMs: Math.max(Math.min(atMs, nowMs), nowMs - 2_000) };
    return Math.min(limit, Math.floor((nowMs - this.#breaker.atMs) * perMs * 1.5));
  }

  /** The breaker after so many claims. */
  #passed(claims: number, limit: number, nowMs: number): MemoryBreaker | null {
    const breaker = this.#breaker;
    if (breaker === null) return null;
    if (breaker.state === 'open') {
      if (claims === 0) return breaker;
      const probes = breaker.probes + 1;
      return { ...breaker, atMs: nowMs + Math.min(1_000 * 2 ** probes, 30_000), probes: Math.min(probes, 9) };
    }
    return claims < limit ? null : { ...breaker, atMs: breaker.atMs + claims / (breaker.perMs * 1.5) };
  }

  #claim(nowMs: number, limit: number, windowMs: number): { claimed: Claim[]; nextDueAtMs: number | null } {
    const reachMs = nowMs + Math.min(this.#lease.aheadMs, windowMs);
    const claimed: Claim[] = [];
    let nextDueAtMs: number | null = null;
    for (const [id, score] of this.#oldest(limit + 65)) {
      const claims = claimsOf(score);
      if (score <= (claims > 0 ? nowMs : reachMs) && claimed.length < limit) {
        const row = Math.min(claims + 1, 15);
        const token = nowMs + this.#lease.leaseMs + row / 16;
        this.#scores.set(id, token);
        claimed.push({ id, dueAtMs: Math.max(Math.floor(score), 0), token: String(token), claims: row });
      } else {
        nextDueAtMs ??= Math.ceil(score);
      }
    }
    return { claimed, nextDueAtMs };
  }

  #oldest(count: number): [string, number][] {
    const byScore = (a: [string, number], b: [string, number]) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1);
    return [...this.#scores].sort(byScore).slice(0, count);
  }
}

function shown(breaker: MemoryBreaker | null): BreakerState {
  if (breaker === null) return { kind: 'closed' };
  return breaker.state === 'open' ? { kind: 'open' } : { kind: 'recovering', gapMs: 1 / (breaker.perMs * 1.5) };
}

/** Claims in a row, from the fraction; 0 for a due time, and for an infinite score, which no release of ours writes. */
function claimsOf(score: number): number {
  const claims = Math.floor((score - Math.floor(score)) * 16);
  return Number.isNaN(claims) ? 0 : claims;
}
