import type { ProviderNews } from '../../lib/ports.ts';
import type { MemorySets } from './memory-sets.ts';

type State = 'open' | 'held' | 'denied' | 'recovering';

const probesAtOnce = 2;
const firstProbeMs = 1_000;
const probeMaxMs = 30_000;
const steadyShare = 1.5;
const backlogMaxMs = 2_000;
const deniedEveryMs = 20_000;
const heldMaxMs = 3_960_000;
const forgottenMs = 3_600_000;

interface Given {
  news: ProviderNews | undefined;
  /** How many ids the set holds, or were looked at where it is not counted. */
  sizeNow: number;
  /** Calls beyond those that were counted. */
  extra: number;
  guarded: boolean;
  nowMs: number;
}

/** What breaker.lua does, on the field of the same name. An empty set has nothing to hold back. */
export class MemoryBreaker {
  /** The caller has told something. */
  readonly heard: boolean;
  readonly #sets: MemorySets;
  readonly #guarded: boolean;
  readonly #sizeNow: number;
  readonly #nowMs: number;
  state: State | null = null;
  atMs = 0;
  #perMs = 0;
  #probes = 0;

  constructor(sets: MemorySets, { news, sizeNow, extra, guarded, nowMs }: Given) {
    this.#sets = sets;
    this.#guarded = guarded;
    this.#nowMs = nowMs;
    this.heard = news !== undefined;
    this.#sizeNow = sizeNow;
    if (!guarded) return;
    this.#read();
    if (news !== undefined) this.#hear(news);
    if (this.isShut && this.#probes > 0 && extra < 0) this.atMs = nowMs;
    if (this.isShut) this.atMs = Math.min(this.atMs, nowMs + (this.state === 'held' ? heldMaxMs : probeMaxMs));
    else if (this.state !== null) this.atMs = Math.max(Math.min(this.atMs, nowMs), nowMs - backlogMaxMs);
  }

  get isShut(): boolean {
    return this.state !== null && this.state !== 'recovering';
  }

  get rate(): number {
    return this.#perMs * steadyShare;
  }

  limit(claimMax: number): number {
    if (this.state === null) return claimMax;
    if (this.state === 'recovering') return Math.min(claimMax, Math.floor((this.#nowMs - this.atMs) * this.rate));
    const probes = this.state === 'denied' ? 1 : probesAtOnce;
    return Math.min(claimMax, this.#nowMs < this.atMs ? 0 : probes);
  }

  /** So many claims went through, of so many, and so many were admitted. */
  passed(claims: number, limit: number, admitted: number): void {
    if (this.isShut && claims + admitted > 0) {
      const backoffMs = Math.min(firstProbeMs * 2 ** (this.#probes + 1), probeMaxMs);
      this.atMs = this.#nowMs + (this.state === 'denied' ? deniedEveryMs : backoffMs);
      this.#probes = Math.min(this.#probes + 1, 9);
    } else if (this.state === 'recovering') {
      if (claims < limit) this.state = null;
      else this.atMs += claims / this.rate;
    }
    if (!this.#guarded) return;
    this.#sets.setField(
      'breaker',
      this.state === null ? '' : `${this.state} ${this.atMs} ${this.#perMs} ${this.#probes}`,
    );
  }

  #read(): void {
    const [state = '', at = '', per = '', probes = ''] = this.#sets.field('breaker').split(' ');
    const [atMs, perMs] = [Number(at || Number.NaN), Number(per || Number.NaN)];
    const isState = ['open', 'held', 'denied', 'recovering'].includes(state);
    if (!isState || !(perMs > 0 && perMs < 1e6) || !(this.#nowMs - atMs < forgottenMs) || !/^\d+$/.test(probes)) return;
    this.state = state as State;
    this.atMs = atMs;
    this.#perMs = perMs;
    this.#probes = Number(probes);
  }

  #hear({ kind, meanGapMs, waitMs = 0 }: ProviderNews): void {
    const nowMs = this.#nowMs;
    const closes = kind === 'fails' || kind === 'held' || kind === 'denied';
    const known = this.state === null ? 0.001 : this.#perMs;
    if (closes || this.state !== null) {
      this.#perMs = Math.max(this.#sizeNow / Math.max(1, Math.round(meanGapMs)), known);
    }
    if (kind === 'held') {
      const tillMs = nowMs + Math.min(Math.ceil(waitMs), heldMaxMs);
      this.#enter('held', Math.max(tillMs, this.state === 'held' ? this.atMs : 0));
    } else if (kind === 'denied' && this.state !== 'denied' && this.state !== 'held') {
      this.#enter('denied', nowMs + deniedEveryMs);
    } else if (kind === 'fails' && !this.isShut) {
      this.#enter('open', nowMs + firstProbeMs);
    } else if (kind === 'works' && this.isShut && !(this.state === 'held' && this.#probes === 0)) {
      this.#enter('recovering', nowMs);
    }
  }

  #enter(state: State, atMs: number): void {
    this.state = state;
    this.atMs = atMs;
    this.#probes = 0;
  }
}
