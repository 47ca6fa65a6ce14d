import type { Claim, CreateNews } from '../../lib/ports.ts';
import type { MemorySets } from './memory-sets.ts';

export const climbEveryMs = 10_000;
const heldMaxMs = 3_960_000;
const leastProbeMs = 3_000;
const exchangeMax = 3_900;

interface Given {
  nowMs: number;
  maxInFlight: number | null;
  inUse: number;
  /** All that is in use was counted. */
  counted: boolean;
  news: CreateNews | undefined;
  /** Whether an id was seen in the due set, as far as that was looked at. */
  isDue(id: string): boolean;
}

/** What admit.lua does. */
export class MemoryAdmission {
  readonly #sets: MemorySets;
  readonly #nowMs: number;
  /** Slots that are free. */
  readonly free: number;
  holdTillMs = 0;
  #reason: string | null = null;
  #holdForMs = 0;
  #probing = 0;
  readonly #isDue: (id: string) => boolean;

  constructor(sets: MemorySets, { nowMs, maxInFlight, inUse, counted, news, isDue }: Given) {
    this.#isDue = isDue;
    this.#sets = sets;
    this.#nowMs = nowMs;
    this.#readHold();
    const toldMs = Math.ceil(news?.waitMs ?? 0);
    const waitMs = news?.kind === 'no_slot' && !counted ? Math.max(toldMs, climbEveryMs) : toldMs;
    if (news?.kind === 'created' && (this.#probing > 0 || nowMs >= this.holdTillMs)) {
      this.#reason = null;
      this.holdTillMs = 0;
    } else if (news !== undefined && news.kind !== 'created' && (news.kind !== 'no_slot' || waitMs > 0)) {
      this.#reason = news.kind;
      this.holdTillMs = Math.max(nowMs + waitMs, this.holdTillMs);
      this.#holdForMs = waitMs;
      this.#probing = 0;
    }
    this.free = this.#slots(maxInFlight, inUse, counted, news);
  }

  room(given: { held: boolean; mayCreate: number; admitMax: number; made: number }): number {
    let room = Math.floor(Math.max(Math.min(this.free, given.mayCreate), 0));
    if (given.held || this.#nowMs < this.holdTillMs) room = 0;
    else if (this.#reason !== null) room = Math.min(room, 1);
    return Math.min(room, given.admitMax, exchangeMax - given.made);
  }

  admit(room: number, leaseMs: number): Claim[] {
    const { waiting, scores } = this.#sets;
    const nowMs = this.#nowMs;
    const byRank = (a: [string, number], b: [string, number]) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1);
    const first = this.#sets.field('queued') !== '' && room > 0 ? [...waiting].sort(byRank).slice(0, room) : [];
    const rounds = this.#sets
      .field('round')
      .split(' ')
      .filter((word) => word !== '')
      .map(Number);
    const claims = first.flatMap(([id, rank]) => {
      const known = rank >= 0 && rank < 1e15;
      const order = known ? Math.floor(rank / 1e14) : 9;
      while (rounds.length <= order) rounds.push(0);
      rounds[order] = Math.max(rounds[order] ?? 0, known ? Math.floor((rank % 1e14) / 1e5) : 0);
      const token = nowMs + leaseMs + 1 / 16;
      waiting.delete(id);
      if (this.#isDue(id)) return [];
      scores.set(id, token);
      return { id, dueAtMs: nowMs, token: String(token), claims: 1, rank: String(rank) };
    });
    if (claims.length > 0) this.#sets.setField('round', rounds.join(' '));
    if (room > 0 && first.length < room) this.#sets.setField('queued', '');
    if (this.#reason !== null && claims.length > 0) {
      this.holdTillMs = nowMs + Math.max(this.#holdForMs, leastProbeMs);
      this.#probing = 1;
    }
    const hold = `${this.#reason} ${this.holdTillMs} ${this.#holdForMs} ${this.#probing}`;
    this.#sets.setField('creates_hold', this.#reason === null ? '' : hold);
    return claims;
  }

  #readHold(): void {
    const [reason = '', till = '', holdFor = '', probing = ''] = this.#sets.field('creates_hold').split(' ');
    if (reason === '' || !/^\d+$/.test(probing)) return;
    this.#reason = reason;
    this.holdTillMs = Math.min(Number(till), this.#nowMs + heldMaxMs);
    this.#holdForMs = Number(holdFor);
    this.#probing = Number(probing);
  }

  /** How many are free, after what has become of creates. */
  #slots(maxInFlight: number | null, inUse: number, counted: boolean, news: CreateNews | undefined): number {
    const nowMs = this.#nowMs;
    const stored = this.#sets.field('slots').split(' ').map(Number);
    let [cap = 0, sinceMs = 0, refusedAt = 0] = stored;
    const known = stored.length === 3 && counted;
    if (known) sinceMs = Math.min(sinceMs, nowMs + heldMaxMs);
    const steps = Math.floor(Math.max(nowMs - sinceMs, 0) / climbEveryMs);
    let effective = known ? cap + (1 + cap / 20) * steps : null;
    if (news?.kind === 'no_slot' && counted) {
      cap = Math.min(effective ?? inUse, inUse);
      const waitMs = Math.ceil(news.waitMs);
      sinceMs = waitMs > 0 ? nowMs + Math.min(waitMs, heldMaxMs) - climbEveryMs : nowMs;
      refusedAt = inUse;
      effective = cap;
    } else if (news?.kind === 'created' && effective !== null && inUse > refusedAt) {
      cap = Math.max(effective, inUse * 1.25 + 1);
      sinceMs = nowMs;
      effective = cap;
    }
    const free = (maxInFlight ?? Number.POSITIVE_INFINITY) - inUse;
    if (effective === null || effective >= (maxInFlight ?? 4 * inUse + 100)) {
      this.#sets.setField('slots', '');
      return free;
    }
    this.#sets.setField('slots', `${cap} ${sinceMs} ${refusedAt}`);
    return Math.min(free, Math.floor(effective) - inUse);
  }
}
