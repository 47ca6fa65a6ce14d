import { type AccountLimits, noLimits } from '../../lib/accounts.ts';
import { exchangeMax, type LeaseSettings } from '../../lib/due-set/upstash-due-set.ts';
import type { DueSet, Entry, ExchangeReply, ExchangeRequest, WaitingEntry } from '../../lib/ports.ts';
import { MemoryExchange } from './memory-exchange.ts';
import { type DueSetState, MemorySets } from './memory-sets.ts';

/** Beyond any score that is ever written: the year 2100. */
const scoreMaxMs = 4_102_444_800_000;
/** How long a drain that was just woken has to show itself. */
const wakeGraceMs = 5_000;
const awakeMaxMs = 30_000;

/** The due set in memory: what the scripts of lib/due-set do, in the same order. Passes the same contract. */
export class MemoryDueSet implements DueSet {
  readonly #nowMs: () => number;
  readonly #lease: LeaseSettings;
  readonly #limits: AccountLimits;
  readonly #sets = new MemorySets();

  constructor(nowMs: () => number, lease: LeaseSettings, limits: AccountLimits = noLimits) {
    this.#nowMs = nowMs;
    this.#lease = lease;
    this.#limits = limits;
  }

  /** Live: it changes with the next call. */
  get state(): DueSetState {
    return this.#sets;
  }

  save(): DueSetState {
    return this.#sets.save();
  }

  load(state: DueSetState): void {
    this.#sets.load(state);
  }

  async exchange(request: ExchangeRequest): Promise<ExchangeReply> {
    if (request.settlements.length > exchangeMax) {
      throw new RangeError(`An exchange takes at most ${exchangeMax} settlements, not ${request.settlements.length}.`);
    }
    const given = { nowMs: this.#nowMs(), lease: this.#lease, limits: this.#limits };
    return new MemoryExchange(this.#sets, request, given).run(Math.min(request.claimMax, exchangeMax));
  }

  async schedule(entries: readonly Entry[], mode?: 'pull'): Promise<{ added: number; wake: boolean }> {
    if (entries.length === 0) return { added: 0, wake: false };
    const nowMs = this.#nowMs();
    const { scores, waiting, owners } = this.#sets;
    const before = scores.size;
    for (const { id, delayMs, leaves } of entries) {
      const dueAtMs = nowMs + Math.max(0, Math.ceil(delayMs));
      const score = scores.get(id);
      const line = leaves && `${9 - leaves.priority} ${leaves.owner}`;
      if (waiting.delete(id) && line !== undefined) {
        owners.set(line, String(Math.max(Number(owners.get(line) ?? 0) - 1, 0)));
      }
      const isLater = score !== undefined && score % 1 === 0 && score > dueAtMs;
      if (score === undefined || (mode === 'pull' && isLater)) scores.set(id, dueAtMs);
    }
    return { added: scores.size - before, wake: this.#wake(nowMs) };
  }

  async enqueue(entries: readonly WaitingEntry[]): Promise<{ added: number; wake: boolean }> {
    if (entries.length === 0) return { added: 0, wake: false };
    const nowMs = this.#nowMs();
    const { scores, waiting, deadlines, owners } = this.#sets;
    const rounds = this.#sets.field('round').split(' ').map(Number);
    const fresh = entries.filter(({ id }) => !scores.has(id) && !waiting.has(id));
    const lines = new Map(
      entries.map(({ owner, priority }) => [
        `${9 - priority} ${owner}`,
        Number(owners.get(`${9 - priority} ${owner}`) ?? 0),
      ]),
    );
    let came = Number(owners.get('') ?? 0);
    for (const { id, owner, priority, expiresInMs } of fresh) {
      const name = `${9 - priority} ${owner}`;
      const round = Math.max(lines.get(name) ?? 0, rounds[9 - priority] ?? 0) + 1;
      lines.set(name, round);
      came++;
      waiting.set(id, (9 - priority) * 1e14 + round * 1e5 + (came % 1e5));
      deadlines.set(`${id} ${name}`, nowMs + Math.max(0, Math.ceil(expiresInMs)));
    }
    if (fresh.length > 0) {
      owners.set('', String(came));
      for (const [name, round] of lines) owners.set(name, String(round));
    }
    this.#sets.setField('queued', '1');
    return { added: fresh.length, wake: this.#wake(nowMs) };
  }

  async tidy(): Promise<{ expired: number; wake: boolean }> {
    const nowMs = this.#nowMs();
    const { scores, waiting, deadlines, owners } = this.#sets;
    const byTime = (a: [string, number], b: [string, number]) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1);
    const over = [...deadlines]
      .filter(([, atMs]) => atMs <= nowMs)
      .sort(byTime)
      .slice(0, 3_900);
    const left = new Map<string, number>();
    let expired = 0;
    for (const [member] of over) {
      const [id = '', ...rest] = member.split(' ');
      const line = rest.join(' ');
      if ((scores.get(id) ?? 0) % 1 === 0) deadlines.delete(member);
      else deadlines.set(member, nowMs + 60_000);
      if (!waiting.delete(id)) continue;
      expired++;
      left.set(line, (left.get(line) ?? 0) + 1);
      if (!scores.has(id)) scores.set(id, nowMs);
    }
    for (const [line, count] of left) owners.set(line, String(Math.max(Number(owners.get(line) ?? 0) - count, 0)));
    if (waiting.size > 0) this.#sets.setField('queued', '1');
    const wake = expired > 0 && this.#wake(nowMs);
    if (waiting.size > 0 || scores.size > 0) this.#setBusy();
    return { expired, wake };
  }

  async workload(): Promise<{ jobs: number; paused: boolean }> {
    const { scores, waiting } = this.#sets;
    return { jobs: scores.size + waiting.size, paused: this.#sets.field('paused') !== '' };
  }

  async nowMs(): Promise<number> {
    return this.#nowMs();
  }

  async absent(ids: readonly string[]): Promise<string[]> {
    const { scores } = this.#sets;
    for (const id of ids) if ((scores.get(id) ?? 0) > scoreMaxMs) scores.delete(id);
    return ids.filter((id) => !scores.has(id));
  }

  #wake(nowMs: number): boolean {
    const tillMs = Number(this.#sets.field('awake').split(' ')[0]);
    if (tillMs > nowMs && tillMs <= nowMs + awakeMaxMs) return false;
    this.#sets.setField('awake', `${nowMs + wakeGraceMs} 0 0`);
    this.#setBusy();
    return true;
  }

  #setBusy(): void {
    this.#sets.busy = true;
    this.#sets.setField('busy', '1');
  }
}
