import type { AccountLimits } from '../../lib/accounts.ts';
import type { LeaseSettings } from '../../lib/due-set/upstash-due-set.ts';
import type { BreakerState, Claim, ExchangeReply, ExchangeRequest, Settlement } from '../../lib/ports.ts';
import { climbEveryMs, MemoryAdmission } from './memory-admission.ts';
import { MemoryBreaker } from './memory-breaker.ts';
import { memoryBudget } from './memory-budget.ts';
import type { MemorySets } from './memory-sets.ts';

const slotForMs = 1_800_000;
const awakeMaxMs = 30_000;
const dayMs = 86_400_000;

/** One tick of a drain in memory: what exchange.lua with its parts does, in the same order. */
export class MemoryExchange {
  readonly #sets: MemorySets;
  readonly #request: ExchangeRequest;
  readonly #nowMs: number;
  readonly #windowMs: number;
  readonly #lease: LeaseSettings;
  readonly #limits: AccountLimits;

  constructor(
    sets: MemorySets,
    request: ExchangeRequest,
    given: { nowMs: number; lease: LeaseSettings; limits: AccountLimits },
  ) {
    this.#sets = sets;
    this.#request = request;
    this.#nowMs = given.nowMs;
    this.#windowMs = Math.max(0, Math.floor(request.windowMs));
    this.#lease = given.lease;
    this.#limits = given.limits;
  }

  run(claimMax: number): ExchangeReply {
    const { settlements, told: newlyTold, extraCalls = { reads: 0, creates: 0 } } = this.#request;
    const [sets, nowMs] = [this.#sets, this.#nowMs];
    const { maxInFlight } = this.#limits;
    const results = settlements.map((settlement) => ({ settlement, result: this.#settle(settlement) }));
    const stale = results.flatMap(({ settlement, result }) => (result === 'stale' ? [settlement.id] : []));
    const newcomers = results.some(({ result }) => result === 'newcomer');
    const putBack = results.some(({ result }) => result === 'back' || result === 'newcomer');
    const reached = Math.max((newcomers ? 0 : claimMax) + 64, maxInFlight ?? 0, sets.field('slots') === '' ? 0 : 3_000);
    const range = this.#oldest(1 + reached);
    const breaker = new MemoryBreaker(sets, {
      ...{ news: this.#request.provider, extra: extraCalls.reads + extraCalls.creates, nowMs },
      ...{ sizeNow: putBack ? range.length : sets.scores.size, guarded: range.length > 0 },
    });
    const paused = sets.field('paused');
    const isPaused = paused.startsWith('all');
    const passable = isPaused ? 0 : breaker.limit(newcomers ? 0 : claimMax);
    let limit = newcomers ? 0 : passable;

    const told = readTold(sets.field('told'));
    for (const [index, kind] of (['reads', 'creates'] as const).entries()) {
      const news = newlyTold?.[kind];
      if (news !== undefined) {
        told[2 * index] = Math.max(0, news.left);
        told[2 * index + 1] = nowMs + Math.max(0, Math.ceil(news.forMs));
      }
      const tillMs = told[2 * index + 1] ?? null;
      if (tillMs !== null) told[2 * index + 1] = Math.min(tillMs, nowMs + dayMs);
    }
    const leases = range.filter(([, score]) => score % 1 !== 0 && score > nowMs).length;
    const inUse = range.filter(([, score]) => score <= nowMs + slotForMs).length;
    const reads = memoryBudget({
      ...{ field: sets.field('reads'), nowMs, spoken: leases, perCall: 2, extra: extraCalls.reads },
      ...{ minuteMax: this.#limits.readsPerMinute, dayMax: this.#limits.readsPerDay },
      told: [told[0] ?? null, told[1] ?? null],
    });
    limit = Math.max(Math.min(limit, reads.may), 0);
    const { claimed, nextDueAtMs } = this.#claim(range, limit);
    sets.setField('reads', reads.spent(claimed.length));
    if (typeof told[0] === 'number') told[0] = Math.max(told[0] - 2 * claimed.length, 0);

    const creates = memoryBudget({
      ...{ field: sets.field('creates'), nowMs, spoken: 0, perCall: 1, extra: extraCalls.creates },
      ...{ minuteMax: this.#limits.createsPerMinute, dayMax: this.#limits.createsPerDay },
      told: [told[2] ?? null, told[3] ?? null],
    });
    const admission = new MemoryAdmission(sets, {
      ...{ nowMs, maxInFlight, inUse, news: this.#request.creates },
      counted: range.length <= reached,
      isDue: (id) => range.some(([other]) => other === id),
    });
    const held = paused !== '' || breaker.state === 'recovering' || putBack || (range.length > 0 && breaker.heard);
    const room = admission.room({
      held,
      mayCreate: creates.may,
      admitMax: this.#request.admitMax ?? 0,
      made: claimed.length,
    });
    const most = breaker.isShut ? Math.min(room, Math.max(limit - claimed.length, 0)) : room;
    const admitted = admission.admit(most, this.#lease.leaseMs);
    sets.setField('creates', creates.spent(admitted.length));
    if (typeof told[2] === 'number') told[2] = Math.max(told[2] - admitted.length, 0);

    breaker.passed(claimed.length, passable, admitted.length);
    const backAtMs = Math.max(breaker.isShut ? Math.ceil(breaker.atMs) : 0, claimed.length === 0 ? reads.againAtMs : 0);
    let nextMs = nextDueAtMs === null ? null : Math.max(nextDueAtMs, Math.ceil(backAtMs));
    if (isPaused) nextMs = null;
    const noneInUse = inUse + admitted.length === 0;
    const slotAtMs = admission.free - admitted.length >= 1 ? nowMs : noneInUse ? nowMs + climbEveryMs : null;
    if (sets.field('queued') !== '' && paused === '' && slotAtMs !== null) {
      const budgetAtMs = creates.may - admitted.length < 1 ? creates.againAtMs : 0;
      const admitAtMs = Math.max(admission.holdTillMs, budgetAtMs, breaker.isShut ? breaker.atMs : 0, slotAtMs);
      if (nextMs === null || admitAtMs < nextMs) nextMs = Math.ceil(admitAtMs);
    }
    const all = [...claimed, ...admitted];
    const role = this.#role(all.length, nextMs);
    const saysMore = [told[1], told[3]].some((tillMs) => typeof tillMs === 'number' && tillMs > nowMs);
    sets.setField('told', saysMore ? [0, 1, 2, 3].map((index) => told[index] ?? '-').join(' ') : '');
    if (sets.field('busy') !== '' && role === 'leave' && range.length === 0 && sets.field('queued') === '') {
      sets.busy = false;
      sets.setField('busy', '');
    }
    return { nowMs, claimed: all, stale, role, nextDueAtMs: nextMs, breaker: shown(breaker) };
  }

  /** `stale`: the token no longer holds. A settlement that was made before is made. */
  #settle({ id, token, to }: Settlement): 'done' | 'stale' | 'back' | 'newcomer' {
    const { scores, waiting, deadlines } = this.#sets;
    const score = scores.get(id);
    const target = to.kind === 'due' ? Math.ceil(to.atMs) : to.kind === 'renew' ? Number(to.token) : undefined;
    if (score === undefined || score !== Number(token)) return score === target ? 'done' : 'stale';
    if (target !== undefined) scores.set(id, target);
    else scores.delete(id);
    if (to.kind !== 'wait') return 'done';
    waiting.set(id, Number(to.rank));
    this.#sets.setField('queued', '1');
    if (to.newcomer === undefined) return 'back';
    const { deadlineAtMs, priority, owner } = to.newcomer;
    deadlines.set(`${id} ${9 - priority} ${owner}`, deadlineAtMs);
    return 'newcomer';
  }

  #claim(range: readonly [string, number][], limit: number): { claimed: Claim[]; nextDueAtMs: number | null } {
    const nowMs = this.#nowMs;
    const reachMs = nowMs + Math.min(this.#lease.aheadMs, this.#windowMs);
    const claimed: Claim[] = [];
    let nextDueAtMs: number | null = null;
    for (const [id, score] of range) {
      const claims = claimsOf(score);
      if (score <= (claims > 0 ? nowMs : reachMs) && claimed.length < limit) {
        const row = Math.min(claims + 1, 15);
        const token = nowMs + this.#lease.leaseMs + row / 16;
        this.#sets.scores.set(id, token);
        claimed.push({ id, dueAtMs: Math.max(Math.floor(score), 0), token: String(token), claims: row });
      } else {
        nextDueAtMs ??= Math.ceil(score);
      }
    }
    return { claimed, nextDueAtMs };
  }

  #role(made: number, nextMs: number | null): ExchangeReply['role'] {
    const { role, inHand } = this.#request;
    const [nowMs, windowMs] = [this.#nowMs, this.#windowMs];
    const idle = windowMs > 0 && made === 0 && inHand === 0;
    if (idle && (nextMs === null || nextMs > nowMs + windowMs)) {
      if (role === 'first') this.#sets.setField('awake', '');
      return 'leave';
    }
    if (role === 'helper' || windowMs === 0) return role === 'new' ? 'further ' : role;
    const [till = '', ...rest] = role === 'first' ? [] : this.#sets.field('awake').split(' ');
    const counts = Number(till) > nowMs && Number(till) <= nowMs + awakeMaxMs;
    const mark = counts ? rest.join(' ') : '';
    if (Number(mark.split(' ')[0]) < nowMs + windowMs - this.#lease.aheadMs) {
      const lastsMs = Math.max(Math.floor(Math.min(2 * this.#lease.aheadMs, windowMs)), 1);
      this.#sets.setField('awake', `${nowMs + lastsMs} ${nowMs + windowMs} ${nowMs}`);
      return 'first';
    }
    if (idle && role !== 'new' && role !== `further ${mark}`) return 'covered';
    return role === 'new' ? `further ${mark}` : role;
  }

  #oldest(count: number): [string, number][] {
    const byScore = (a: [string, number], b: [string, number]) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1);
    return [...this.#sets.scores].sort(byScore).slice(0, count);
  }
}

function readTold(text: string): (number | null)[] {
  return text.split(' ').map((word) => (word === '' || word === '-' ? null : Number(word)));
}

function shown(breaker: MemoryBreaker): BreakerState {
  const { state } = breaker;
  if (state === null) return { kind: 'closed' };
  return state === 'recovering' ? { kind: 'recovering', gapMs: 1 / breaker.rate } : { kind: state };
}

/** Claims in a row, from the fraction; 0 for a due time, and for an infinite score, which no release of ours writes. */
function claimsOf(score: number): number {
  const claims = Math.floor((score - Math.floor(score)) * 16);
  return Number.isNaN(claims) ? 0 : claims;
}
