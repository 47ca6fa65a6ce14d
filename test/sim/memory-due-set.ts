import { exchangeMax, type LeaseSettings } from '../../lib/due-set/upstash-due-set.ts';
import type { Claim, DueSet, ExchangeReply, ExchangeRequest, Settlement } from '../../lib/ports.ts';

/** How long a drain that was just woken has to show itself. */
const wakeGraceMs = 5_000;

/** All that Redis holds for a due set. */
export interface DueSetState {
  scores: ReadonlyMap<string, number>;
  /** When the awake mark ends, ms on the set's clock. */
  awakeUntilMs: number;
}

/** The due set in memory: what exchange.lua and schedule.lua do, in the same order. Passes the same contract. */
export class MemoryDueSet implements DueSet {
  readonly #nowMs: () => number;
  readonly #lease: LeaseSettings;
  #scores = new Map<string, number>();
  #awakeUntilMs = 0;

  constructor(nowMs: () => number, lease: LeaseSettings) {
    this.#nowMs = nowMs;
    this.#lease = lease;
  }

  get state(): DueSetState {
    return { scores: this.#scores, awakeUntilMs: this.#awakeUntilMs };
  }

  load(state: DueSetState): void {
    this.#scores = new Map(state.scores);
    this.#awakeUntilMs = state.awakeUntilMs;
  }

  async exchange(request: ExchangeRequest): Promise<ExchangeReply> {
    if (request.settlements.length > exchangeMax) {
      throw new RangeError(`An exchange takes at most ${exchangeMax} settlements, not ${request.settlements.length}.`);
    }
    const nowMs = this.#nowMs();
    const windowMs = Math.max(0, Math.floor(request.windowMs));
    const stale = request.settlements.filter((settlement) => !this.#settle(settlement)).map(({ id }) => id);
    const { claimed, nextDueAtMs } = this.#claim(nowMs, Math.min(request.claimMax, exchangeMax), windowMs);
    const quiet = nextDueAtMs === null || nextDueAtMs > nowMs + windowMs;
    const leave = windowMs > 0 && claimed.length === 0 && request.inHand === 0 && quiet;
    if (leave && !request.firstTick) this.#awakeUntilMs = 0;
    if (request.firstTick && !leave) this.#awakeUntilMs = nowMs + Math.max(windowMs, 1);
    return { nowMs, claimed, stale, leave, nextDueAtMs };
  }

  async schedule(entries: readonly { id: string; delayMs: number }[]): Promise<{ added: number; wake: boolean }> {
    if (entries.length === 0) return { added: 0, wake: false };
    const nowMs = this.#nowMs();
    const before = this.#scores.size;
    for (const { id, delayMs } of entries) {
      if (!this.#scores.has(id)) this.#scores.set(id, nowMs + Math.max(0, Math.ceil(delayMs)));
    }
    const wake = this.#awakeUntilMs <= nowMs;
    if (wake) this.#awakeUntilMs = nowMs + wakeGraceMs;
    return { added: this.#scores.size - before, wake };
  }

  async nowMs(): Promise<number> {
    return this.#nowMs();
  }

  async absent(ids: readonly string[]): Promise<string[]> {
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

/** Claims in a row, from the fraction; 0 for a due time, and for an infinite score, which no release of ours writes. */
function claimsOf(score: number): number {
  const claims = Math.floor((score - Math.floor(score)) * 16);
  return Number.isNaN(claims) ? 0 : claims;
}
