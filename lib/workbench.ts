import { setMaxListeners } from 'node:events';
import { AdmissionHold } from './admission-hold.ts';
import type { Breaker } from './breaker.ts';
import { CallCount, counted } from './call-count.ts';
import { CreateDesk } from './create-desk.ts';
import { messageOf } from './errors.ts';
import type { Hand, Held } from './hand.ts';
import { jobIdPattern } from './identify.ts';
import { isActive, type Job, needsCreate } from './job.ts';
import { KnownJobs } from './known-jobs.ts';
import { Lanes } from './lanes.ts';
import { endangeredBelowMs } from './lease.ts';
import type { Log } from './log.ts';
import { type News, RunNews } from './news.ts';
import type { Call, Claim, Clock, ExchangeRequest, JobStore, Provider, Random } from './ports.ts';
import type { SetClock } from './set-clock.ts';
import { type StepPorts, type StepResult, step } from './step.ts';
import { noteSlackMs, StepClock } from './step-clock.ts';
import { stepSuspect, suspectClaims } from './suspect.ts';
import { belongsInLine, toFront } from './to-front.ts';
import { watchedProvider } from './watched-provider.ts';
import { noWork, type WorkCounts } from './work-counts.ts';
import { WriteTurns } from './write-turns.ts';

/*
 * Where a drain works on what it holds, between the claim and the settlement:
 *
 *   claimed ──▶ record read ──▶ its time comes ──▶ a lane is free ──▶ step (one call) ──▶ done, to be settled
 *                   └ no record: to be removed
 */

export interface WorkbenchPorts {
  notes: StepPorts['notes'];
  news: News;
  store: Pick<JobStore, 'get' | 'getMany' | 'update'>;
  provider: Provider;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface WorkbenchSettings {
  /** Status reads at a time. */
  concurrency: number;
  /** Create calls at a time at most. */
  createConcurrency: number;
  /** Between two exchanges. */
  tickMs: number;
  /** Of each claim and renewal. */
  leaseMs: number;
  /** The account has a budget of creates: each is to be counted by an admission before it is sent. */
  hasCreateBudget?: boolean;
}

type DueOrGone = Exclude<StepResult['settle'], { kind: 'wait' }>;

const knownJobsMax = 20_000;
const brokenDelayMs = 3_600_000;
const storeRetryMs = 5_000;
/** A longer wait that only the record knows of is not waited for in hand. */
const toldWaitMaxMs = 3_000;

export class Workbench {
  readonly counts: WorkCounts = { ...noWork };
  readonly #calls = new CallCount();
  readonly #creates: CreateDesk;
  readonly #ports: WorkbenchPorts;
  readonly #hand: Hand;
  readonly #setClock: SetClock;
  readonly #breaker: Breaker;
  readonly #onStep: (readMs?: number) => void;
  readonly #reads: Lanes<Held>;
  readonly #endangeredBelowMs: number;
  readonly #hasCreateBudget: boolean;
  readonly #suspects: Lanes<Held>;
  readonly #stepPorts: StepPorts;
  readonly #news: RunNews;
  readonly #stepClock: StepClock;
  readonly #known = new KnownJobs(knownJobsMax);
  readonly #end = new AbortController();

  /** `onStep` is called after each step, while it still counts as running; with the time that a read held its lane. */
  constructor(
    ports: WorkbenchPorts,
    settings: WorkbenchSettings,
    hand: Hand,
    setClock: SetClock,
    breaker: Breaker,
    onStep: (readMs?: number) => void,
  ) {
    this.#ports = ports;
    this.#hand = hand;
    this.#setClock = setClock;
    this.#breaker = breaker;
    this.#onStep = onStep;
    this.#reads = new Lanes(settings.concurrency, (held, free) => this.#work(held, free));
    const hold = new AdmissionHold();
    this.#creates = new CreateDesk(settings, hold, (held, free) => this.#work(held, free));
    this.#endangeredBelowMs = endangeredBelowMs(settings);
    this.#hasCreateBudget = settings.hasCreateBudget === true;
    this.#suspects = new Lanes(1, (held, free) => this.#work(held, free));
    const { store, random, log, notes } = ports;
    this.#stepClock = new StepClock(ports.clock, setClock);
    const nowMs = () => this.#stepClock.nowMs();
    const provider = watchedProvider(breaker.listenTo(ports.provider), {
      before: (job, call) => counted(this.#checked(job, call)),
      created: (outcome, call, tookMs) => this.#creates.heard(outcome, call, tookMs, nowMs()),
      monotonicMs: ports.clock.monotonicMs,
    });
    const turns = new WriteTurns(this.#end.signal);
    const inTurn = <T>(write: () => Promise<T>) => turns.take(write);
    this.#news = new RunNews(ports.news);
    this.#stepPorts = { store, provider, random, log, notes, news: this.#news, hold, inTurn, nowMs };
    // Every job that waits for its time listens to the end: hundreds are no leak.
    setMaxListeners(0, this.#end.signal);
  }

  /** Steps under way. */
  get running(): number {
    return this.#reads.running + this.#creates.running + this.#suspects.running;
  }

  /** What the next exchange tells the account of calls and creates. Monotonic ms. */
  news(nowMs: number): Pick<ExchangeRequest, 'extraCalls' | 'told' | 'creates'> {
    const { unstarted, unsent } = this.#hand;
    this.#calls.unmade(this.#hand.takeUncalled());
    const open = { reads: this.#reads.running + unstarted, creates: this.#creates.running + unsent };
    return { extraCalls: this.#calls.extra, told: this.#calls.told(open, nowMs), creates: this.#creates.news };
  }

  /** An exchange has told it. */
  told({ extraCalls, creates }: Pick<ExchangeRequest, 'extraCalls' | 'creates'>): void {
    if (extraCalls !== undefined) this.#calls.counted(extraCalls);
    this.#creates.told(creates);
  }

  /** How many new jobs it would take on now. */
  get admitMax(): number {
    return this.#creates.room(this.#hand.unsent, this.#stepClock.nowMs());
  }

  /** New jobs could be sent before the next tick. */
  get isLowOnCreates(): boolean {
    return this.admitMax > 0 && this.#creates.isLow(this.#hand.unsent);
  }

  /** An exchange that told it has failed. */
  untold({ extraCalls }: Pick<ExchangeRequest, 'extraCalls'>): void {
    if (extraCalls !== undefined) this.#calls.failed(extraCalls);
  }

  take(claims: readonly Claim[]): void {
    this.#stepClock.start();
    const unknown: Held[] = [];
    const nowMs = this.#ports.clock.monotonicMs();
    for (const [place, claim] of claims.entries()) {
      const held = this.#hand.take(claim, nowMs + place * this.#breaker.gapMs);
      if (held === null) continue;
      if (!jobIdPattern.test(held.id)) {
        // Nothing of ours: asking for its record could spoil the read of all the others.
        this.counts.orphans++;
        this.#finish(held, { kind: 'remove' });
        continue;
      }
      // Claimed before and not settled, or made due by somebody else: who did that may have written what our copy does not say.
      // It is of no use then for later claims either, should the record not be readable now.
      if (held.claims > 1 || !this.#stepClock.isOwnDue(held)) this.#known.remember(held.id, null);
      const job = this.#known.get(held.id);
      if (job === undefined) unknown.push(held);
      else this.#arm(held, job);
    }
    if (unknown.length > 0) void this.#load(unknown);
  }

  /** No timer survives this: a frozen process must not wake up into it. */
  end(): void {
    this.#end.abort();
  }

  async #load(unknown: readonly Held[]): Promise<void> {
    const { store, log } = this.#ports;
    const byId = new Map(unknown.map((held) => [held.id, held]));
    try {
      const { jobs, broken, absent } = await store.getMany([...byId.keys()]);
      for (const { id, reason } of broken) {
        log.error('record_broken', { jobId: id, reason });
        this.#finish(byId.get(id), this.#dueIn(brokenDelayMs));
      }
      for (const id of absent) this.#finish(byId.get(id), { kind: 'remove' });
      this.counts.broken += broken.length;
      this.counts.orphans += absent.length;
      for (const job of jobs) this.#arm(byId.get(job.id), job);
    } catch (error) {
      log.error('records_unread', { jobs: unknown.length, error: messageOf(error) });
      for (const held of unknown) this.#putOff(held);
    }
  }

  /** Not as a due time of this run's own making, which is kept to whatever the record says: that has not been read yet. */
  #putOff(held: Held): void {
    this.#stepClock.forget(held.id);
    if (!this.#hand.holds(held)) return;
    this.#hand.finish(held, { kind: 'due', atMs: Math.ceil(this.#dueIn(storeRetryMs).atMs) });
  }

  /** The record is known: the step is due at its time, or there is none. */
  #arm(held: Held | undefined, job: Job): void {
    if (held === undefined || held.phase !== 'unstarted') return;
    const { notBeforeMs = 0 } = job;
    const nowMs = this.#ports.clock.monotonicMs();
    const waitMs = Math.max(this.#stepClock.untilDue(held, notBeforeMs), held.startAtMs - nowMs);
    held.job = job;
    if (!isActive(job.state)) {
      void this.#tellThen(job, () => this.#finish(held, { kind: 'remove' }));
    } else if (this.#hasCreateBudget && belongsInLine(held, job, this.#stepPorts.nowMs())) {
      this.#hand.finish(held, toFront(job));
    } else if (notBeforeMs - this.#stepPorts.nowMs() > toldWaitMaxMs) {
      // Its drain died before it could settle. No due time of this run's own making: it is waited for on Redis' clock.
      const settle = { kind: 'due', atMs: notBeforeMs + noteSlackMs } as const;
      void this.#tellThen(job, () => this.#hand.holds(held) && this.#hand.finish(held, settle));
    } else if (waitMs > 0) {
      void this.#armLater(held, job, waitMs);
    } else {
      this.#lanesFor(held, job).push(held);
    }
  }

  /** It leaves without a step. Whoever wrote the record may have died before anybody was told of what is new in it. */
  async #tellThen(job: Job, settle: () => void): Promise<void> {
    if (this.#news.isUntold(job)) await this.#news.announce(job);
    settle();
  }

  #lanesFor(held: Held, job: Job): Lanes<Held> | CreateDesk {
    if (held.claims >= suspectClaims) return this.#suspects;
    return needsCreate(job) ? this.#creates : this.#reads;
  }

  async #armLater(held: Held, job: Job, waitMs: number): Promise<void> {
    await this.#ports.clock.sleep(waitMs, this.#end.signal);
    if (!this.#end.signal.aborted) this.#arm(held, job);
  }

  async #work(held: Held, free: () => void): Promise<void> {
    if (held.phase !== 'unstarted' || held.job === null || !this.#hand.holds(held)) return;
    if (this.#isEndangered(held)) {
      this.counts.lostLeases++;
      return this.#hand.drop(held);
    }
    // The provider has just asked to stay away, and the next exchange will tell the others.
    if (this.#breaker.isShutting) return this.#hand.giveBack(held);
    this.#hand.start(held);
    const { monotonicMs } = this.#ports.clock;
    const startedAtMs = monotonicMs();
    const isRead = this.#lanesFor(held, held.job) === this.#reads;
    const isCreate = needsCreate(held.job);
    let readMs: number | undefined;
    const answered = () => {
      if (isRead) readMs = monotonicMs() - startedAtMs;
      free();
    };
    const work = held.claims >= suspectClaims ? stepSuspect : step;
    const { settle, job, parked = false } = await work(this.#stepPorts, held.job, held.call, answered);
    this.counts[parked ? 'parked' : 'steps']++;
    // Not one that is still to be sent: another drain may send it meanwhile, and its create's hold must not delay a read.
    this.#known.remember(held.id, job !== null && needsCreate(job) ? null : job);
    this.#calls.add(isCreate ? 'creates' : 'reads', held.call, held.rank !== undefined, monotonicMs());
    this.#creates.note(held.call);
    if (settle.kind !== 'wait') this.#finish(held, settle);
    else if (held.rank === undefined) this.#hand.finish(held, toFront(held.job));
    else this.#hand.giveBack(held);
    this.#onStep(readMs);
  }

  /** The call, marked as lost when its lease is about to end: the writes before a call can take longer than was left of it. */
  #checked(job: Job, call: Call | undefined): Call | undefined {
    const held = this.#hand.find(job.id);
    const isLost = held?.call === call && held !== undefined && this.#isEndangered(held);
    if (isLost) {
      this.counts.lostLeases++;
      this.#hand.drop(held);
    }
    return call;
  }

  #isEndangered(held: Held): boolean {
    return held.leaseEndMs - this.#setClock.latestNowMs() < this.#endangeredBelowMs;
  }

  #finish(held: Held | undefined, settle: DueOrGone): void {
    if (held === undefined || !this.#hand.holds(held)) return;
    this.#stepClock.forget(held.id);
    if (settle.kind === 'remove') this.#hand.finish(held, settle);
    else this.#hand.finish(held, { kind: 'due', atMs: this.#stepClock.dueAt(held.id, settle.atMs) });
  }

  #dueIn(delayMs: number): { kind: 'due'; atMs: number } {
    return { kind: 'due', atMs: this.#stepPorts.nowMs() + delayMs * (1 + 0.1 * this.#ports.random()) };
  }
}
