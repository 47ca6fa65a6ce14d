import type { AdmissionHold } from './admission-hold.ts';
import { deniedDelayMs } from './due.ts';
import type { Held } from './hand.ts';
import { Lanes } from './lanes.ts';
import type { Outcome } from './outcome.ts';
import { Pace } from './pace.ts';
import type { Call, CreateNews } from './ports.ts';

/*
 * One drain's part in sending new jobs: how many it takes on, how many it sends at a time, and what it tells the account
 * of how they were received. Each create that is taken opens one more lane, so that a backlog is sent in seconds, and a
 * provider that is full is hardly tried.
 */

export interface DeskSettings {
  /** Create calls at a time at most. */
  createConcurrency: number;
  tickMs: number;
}

/** Of lanes at first, and again after one that was refused: all that are under way then are refused too. */
const firstLanes = 4;
/** More than this in hand at once would wait long should this drain die. */
const unsentMax = 500;
/** The gravest first: it is what the account must know. */
const gravity: readonly CreateNews['kind'][] = ['denied', 'no_credit', 'no_slot', 'created'];

export class CreateDesk {
  readonly #lanes: Lanes<Held>;
  readonly #max: number;
  readonly #pace: Pace;
  readonly #hold: AdmissionHold;
  readonly #heard = new WeakMap<Call, CreateNews>();
  #news: CreateNews | undefined;

  /** `hold` is shared with the steps, which send nothing under it. */
  constructor(settings: DeskSettings, hold: AdmissionHold, run: (held: Held, free: () => void) => Promise<void>) {
    const { createConcurrency, tickMs } = settings;
    this.#max = createConcurrency;
    this.#hold = hold;
    const lanes = Math.min(firstLanes, createConcurrency);
    this.#lanes = new Lanes(lanes, run);
    this.#pace = new Pace({ concurrency: lanes, tickMs, exchangeMax: unsentMax });
  }

  get running(): number {
    return this.#lanes.running;
  }

  push(held: Held): void {
    this.#lanes.push(held);
  }

  /** How many more new jobs are wanted beside `unsent` in hand; none under a hold. */
  room(unsent: number, nowMs: number): number {
    return this.#hold.remainingMs(nowMs) > 0 ? 0 : Math.max(0, this.#pace.wanted - unsent);
  }

  /** True when the lanes could run dry before the next tick. */
  isLow(unsent: number): boolean {
    return this.#pace.isLow(unsent);
  }

  /** What the next exchange tells the account. */
  get news(): CreateNews | undefined {
    return this.#news;
  }

  /** The exchange has told it. */
  told(news: CreateNews | undefined): void {
    if (this.#news === news) this.#news = undefined;
  }

  /** A create was answered. What that is news of is noted when its job is settled. */
  heard(outcome: Outcome, call: Call, tookMs: number, nowMs: number): void {
    this.#pace.finish(tookMs);
    const news = newsOf(outcome);
    if (news === undefined) return;
    this.#heard.set(call, news);
    if (news.kind !== 'created') {
      this.#hold.set(nowMs, news.waitMs);
      this.#widen(Math.min(firstLanes, this.#max));
    } else if (this.#hold.remainingMs(nowMs) === 0) {
      this.#widen(Math.min(this.#lanes.width + 1, this.#max));
    }
  }

  /** Only once its job is settled, so that a job which was refused does not count as one that is in flight. */
  note(call: Call): void {
    const news = this.#heard.get(call);
    if (news === undefined) return;
    const before = this.#news;
    const isGraver = before === undefined || gravity.indexOf(news.kind) <= gravity.indexOf(before.kind);
    const waitMs = Math.max(news.waitMs, before?.waitMs ?? 0);
    this.#news = { kind: isGraver ? news.kind : before.kind, waitMs };
  }

  #widen(lanes: number): void {
    this.#lanes.width = lanes;
    this.#pace.concurrency = lanes;
  }
}

function newsOf(outcome: Outcome): CreateNews | undefined {
  switch (outcome.kind) {
    case 'accepted':
    // No to this job, by a provider that takes our key and has room.
    case 'refused':
      return { kind: 'created', waitMs: 0 };
    case 'no_slot':
      return { kind: 'no_slot', waitMs: outcome.retryAfterMs ?? 0 };
    case 'denied':
      return { kind: outcome.noCredit === true ? 'no_credit' : 'denied', waitMs: deniedDelayMs };
    default:
      return undefined;
  }
}
