import { setMaxListeners } from 'node:events';
import { AdmissionHold } from './admission-hold.ts';
import type { Breaker } from './breaker.ts';
import { messageOf } from './errors.ts';
import type { Hand, Held } from './hand.ts';
import { jobIdPattern } from './identify.ts';
import { isActive, type Job, needsCreate } from './job.ts';
import { KnownJobs } from './known-jobs.ts';
import { Lanes } from './lanes.ts';
import { endangeredBelowMs } from './lease.ts';
import type { Log } from './log.ts';
import type { Call, Claim, Clock, JobStore, Provider, Random } from './ports.ts';
import type { SetClock } from './set-clock.ts';
import { type StepPorts, step } from './step.ts';
import { stepSuspect, suspectClaims } from './suspect.ts';

/*
 * Where a drain works on what it holds, between the claim and the settlement:
 *
 *   claimed ──▶ record read ──▶ its time comes ──▶ a lane is free ──▶ step (one call) ──▶ done, to be settled
 *                   └ no record: to be removed
 */

export interface WorkbenchPorts {
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
}

/** What was done with the claims so far. */
export interface WorkCounts {
  steps: number;
  lostLeases: number;
  orphans: number;
  broken: number;
  parked: number;
}

const knownJobsMax = 20_000;
const brokenDelayMs = 3_600_000;
const storeRetryMs = 5_000;
/**
 * Of the record, after a provider's answer. At DynamoDB's few ms each that is about a thousand a second; what more there is
 * waits in hand, its lease renewed, and leaves the processor to the reads.
 */
const writesAtATime = 6;
/** Of creates at first, and again after one that was not admitted: all that are under way then are refused too. */
const firstCreateLanes = 4;
/** A longer wait that only the record knows of is not waited for in hand. */
const toldWaitMaxMs = 3_000;
/** A wait is noted on the clock that its run read at its first claims: so much may two clocks part in a minute and a half. */
const noteSlackMs = 10;

export class Workbench {
  readonly counts: WorkCounts = { steps: 0, lostLeases: 0, orphans: 0, broken: 0, parked: 0 };
  readonly #ports: WorkbenchPorts;
  readonly #hand: Hand;
  readonly #setClock: SetClock;
  readonly #breaker: Breaker;
  readonly #onStep: (readMs?: number) => void;
  readonly #reads: Lanes<Held>;
  readonly #creates: Lanes<Held>;
  readonly #createLanesMax: number;
  readonly #endangeredBelowMs: number;
  readonly #suspects: Lanes<Held>;
  readonly #writes = new Lanes<() => Promise<void>>(writesAtATime, (write) => write());
  readonly #stepPorts: StepPorts;
  readonly #known = new KnownJobs(knownJobsMax);
  /** Due times that this run made, by job id: on Redis' clock, and on our monotonic one. */
  readonly #ownDue = new Map<string, { dueAtMs: number; localMs: number }>();
  readonly #end = new AbortController();
  /**
   * What steps call now, minus our monotonic clock: Redis' time, as it was known when the first claims came, and then
   * left alone, so that a wait decided on by a step is exactly that long.
   */
  #stepOffsetMs = Number.NaN;

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
    this.#creates = new Lanes(Math.min(firstCreateLanes, settings.createConcurrency), (held, free) =>
      this.#work(held, free),
    );
    this.#createLanesMax = settings.createConcurrency;
    this.#endangeredBelowMs = endangeredBelowMs(settings);
    this.#suspects = new Lanes(1, (held, free) => this.#work(held, free));
    const { store, random, log } = ports;
    const heard = breaker.listenTo(ports.provider);
    const provider: Provider = {
      create: (job, call) => heard.create(job, this.#checked(job, call)),
      read: (job, call) => heard.read(job, this.#checked(job, call)),
    };
    const nowMs = () => Math.ceil(ports.clock.monotonicMs() + this.#stepOffsetMs);
    const inTurn = <T>(write: () => Promise<T>) => this.#inTurn(write);
    this.#stepPorts = { store, provider, random, log, hold: new AdmissionHold(), inTurn, nowMs };
    // Every job that waits for its time listens to the end: hundreds are no leak.
    setMaxListeners(0, this.#end.signal);
  }

  /** Steps under way. */
  get running(): number {
    return this.#reads.running + this.#creates.running + this.#suspects.running;
  }

  take(claims: readonly Claim[]): void {
    if (Number.isNaN(this.#stepOffsetMs)) {
      this.#stepOffsetMs = this.#setClock.latestNowMs() - this.#ports.clock.monotonicMs();
    }
    const unknown: Held[] = [];
    const { gapMs } = this.#breaker;
    const nowMs = this.#ports.clock.monotonicMs();
    for (const [place, claim] of claims.entries()) {
      const held = this.#hand.take(claim, nowMs + place * gapMs);
      if (held === null) continue;
      if (!jobIdPattern.test(held.id)) {
        // Nothing of ours: asking for its record could spoil the read of all the others.
        this.counts.orphans++;
        this.#finish(held, { kind: 'remove' });
        continue;
      }
      // Claimed before and not settled: whoever had it may have written what our copy does not say.
      const job = held.claims > 1 ? undefined : this.#known.get(held.id);
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
      for (const held of unknown) this.#finish(held, this.#dueIn(storeRetryMs));
    }
  }

  /** The record is known: the step is due at its time, or there is none. */
  #arm(held: Held | undefined, job: Job): void {
    if (held === undefined || held.phase !== 'unstarted') return;
    const { notBeforeMs = 0 } = job;
    const nowMs = this.#ports.clock.monotonicMs();
    const waitMs = Math.max(this.#untilDue(held, notBeforeMs), held.startAtMs - nowMs);
    held.job = job;
    if (!isActive(job.state)) {
      this.#finish(held, { kind: 'remove' });
    } else if (notBeforeMs - this.#stepPorts.nowMs() > toldWaitMaxMs) {
      // The drain that heard of this wait died before it could settle: the record knows better than the set.
      // It is no due time of this run's own making: whoever comes to it waits for it on Redis' clock.
      this.#hand.finish(held, { kind: 'due', atMs: notBeforeMs + noteSlackMs });
    } else if (waitMs > 0) {
      void this.#armLater(held, job, waitMs);
    } else {
      this.#lanesFor(held, job).push(held);
    }
  }

  /**
   * Ms until the held job's time, 0 or less when it has come. A due time that this run made itself is known on our own
   * clock, to the microsecond; any other, and a wait noted in the record, only as closely as Redis' clock is.
   */
  #untilDue(held: Held, notBeforeMs: number): number {
    const own = this.#ownDue.get(held.id);
    if (own?.dueAtMs === held.dueAtMs) return own.localMs - this.#ports.clock.monotonicMs();
    return Math.max(held.dueAtMs, notBeforeMs + noteSlackMs) - this.#setClock.earliestNowMs();
  }

  #lanesFor(held: Held, job: Job): Lanes<Held> {
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
    this.#hand.start(held);
    const { monotonicMs } = this.#ports.clock;
    const startedAtMs = monotonicMs();
    const lanes = this.#lanesFor(held, held.job);
    const isRead = lanes === this.#reads;
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
    if (lanes === this.#creates) this.#tuneCreates(job !== null && !needsCreate(job));
    this.#finish(held, settle);
    this.#onStep(readMs);
  }

  /** Each create that is taken opens one more lane; so a backlog is sent in seconds, and a full provider is hardly tried. */
  #tuneCreates(taken: boolean): void {
    const isHeld = this.#stepPorts.hold.remainingMs(this.#stepPorts.nowMs()) > 0;
    if (isHeld) this.#creates.width = Math.min(firstCreateLanes, this.#createLanesMax);
    else if (taken) this.#creates.width = Math.min(this.#creates.width + 1, this.#createLanesMax);
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

  /** Null when the run has ended meanwhile: nothing of it goes on in the next one. */
  #inTurn<T>(write: () => Promise<T>): Promise<T | null> {
    return new Promise((resolve, reject) => {
      this.#writes.push(async () => {
        if (this.#end.signal.aborted) return resolve(null);
        await write().then(resolve, reject);
      });
    });
  }

  #finish(held: Held | undefined, settle: NonNullable<Held['settle']>): void {
    if (held === undefined || !this.#hand.holds(held)) return;
    this.#ownDue.delete(held.id);
    if (settle.kind === 'remove') {
      this.#hand.finish(held, settle);
      return;
    }
    const localMs = settle.atMs - this.#stepOffsetMs;
    const waitMs = localMs - this.#ports.clock.monotonicMs();
    // Whole ms: it is the score that the next claim of this id will be compared with.
    const dueAtMs = Math.ceil(this.#setClock.latestNowMs() + waitMs);
    this.#ownDue.set(held.id, { dueAtMs, localMs });
    this.#hand.finish(held, { kind: 'due', atMs: dueAtMs });
  }

  #dueIn(delayMs: number): NonNullable<Held['settle']> {
    return { kind: 'due', atMs: this.#stepPorts.nowMs() + delayMs * (1 + 0.1 * this.#ports.random()) };
  }
}
