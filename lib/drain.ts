import { setMaxListeners } from 'node:events';
import { AdmissionHold } from './admission-hold.ts';
import { DueSetError, messageOf } from './errors.ts';
import { Hand, type Held } from './hand.ts';
import { isActive, type Job } from './job.ts';
import { KnownJobs } from './known-jobs.ts';
import { Lanes } from './lanes.ts';
import type { Log } from './log.ts';
import { Pace } from './pace.ts';
import type { Claim, Clock, DueSet, ExchangeReply, JobStore, Provider, Random } from './ports.ts';
import { SetClock } from './set-clock.ts';
import { needsCreate, park, type StepPorts, step } from './step.ts';

/*
 * One run of the drain. Every tick is one exchange: it settles what finished since the last tick, renews the leases of
 * what is still in hand, and claims what falls due before the next one. Each claimed job's step starts from a local
 * timer at its due time, so the number of round trips depends on time, never on the number of jobs.
 *
 *   claimed ──▶ record read ──▶ its time comes ──▶ step (one call) ──▶ settled by the next exchange
 *                     │                                  │
 *                     └ no record: removed               └ the window ends first: given back, due as before
 *
 * When the process dies anywhere in here, the leases run out and the ids are due again within seconds.
 */

export interface DrainPorts {
  dueSet: Pick<DueSet, 'exchange'>;
  store: Pick<JobStore, 'get' | 'getMany' | 'update'>;
  provider: Provider;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface DrainSettings {
  /** Status reads at a time. */
  concurrency: number;
  /** Create calls at a time: few, since the first refusal holds the others. */
  createConcurrency: number;
  tickMs: number;
  leaseMs: number;
  /** The window is never longer than this. */
  windowMs: number;
  /** What one step and the last exchange may take: no claim is made with less time left. */
  stepMs: number;
  /** Most settlements and most claims of one exchange. */
  exchangeMax: number;
}

/** What a run did. Times in ms. */
export interface DrainReport {
  /** `idle`: nothing due in the window. `window`: its time was over. `no_time`: it never began. `limit`: the due set's plan is used up. */
  ended: 'idle' | 'window' | 'no_time' | 'limit';
  ticks: number;
  claims: number;
  steps: number;
  /** Now minus the oldest due time met, at most; the health of the whole. */
  dueLagMs: number;
  givenBack: number;
  lostLeases: number;
  orphans: number;
  broken: number;
  parked: number;
  failedExchanges: number;
}

const knownJobsMax = 20_000;
/** Claimed this often in a row and never settled: the job itself must be what kills its drain. */
const poisonousClaims = 5;
const brokenDelayMs = 3_600_000;
const storeRetryMs = 5_000;
/** Below this a step is not started on what is left of the lease. */
const leaseMarginMs = 500;

/** Runs until the window ends or nothing is due in it. `remainingMs` tells the time that the process has left. Never rejects on trouble outside. */
export function drain(ports: DrainPorts, settings: DrainSettings, remainingMs: () => number): Promise<DrainReport> {
  return new Drain(ports, settings, remainingMs).run();
}

class Drain {
  readonly #ports: DrainPorts;
  readonly #settings: DrainSettings;
  readonly #remainingMs: () => number;
  readonly #clock: SetClock;
  readonly #hand: Hand;
  readonly #reads: Lanes<Held>;
  readonly #creates: Lanes<Held>;
  readonly #stepPorts: StepPorts;
  readonly #known = new KnownJobs(knownJobsMax);
  readonly #pace: Pace;
  readonly #end = new AbortController();
  readonly #report: DrainReport;
  #bell = new AbortController();
  #windowEndsAtMs = 0;
  #claimedAll = true;

  constructor(ports: DrainPorts, settings: DrainSettings, remainingMs: () => number) {
    this.#ports = ports;
    this.#settings = settings;
    this.#remainingMs = remainingMs;
    this.#clock = new SetClock(ports.clock.monotonicMs);
    // Every job that waits for its time listens to the end: hundreds are no leak.
    setMaxListeners(0, this.#end.signal);
    this.#hand = new Hand(settings.leaseMs);
    this.#pace = new Pace(settings, ports.clock.monotonicMs());
    this.#reads = new Lanes(settings.concurrency, (held) => this.#work(held));
    this.#creates = new Lanes(settings.createConcurrency, (held) => this.#work(held));
    const { store, provider, random, log } = ports;
    this.#stepPorts = {
      store,
      provider,
      random,
      log,
      hold: new AdmissionHold(),
      nowMs: () => Math.ceil(this.#clock.latestNowMs()),
    };
    const nothing = { claims: 0, steps: 0, givenBack: 0, lostLeases: 0, orphans: 0, broken: 0, parked: 0 };
    this.#report = { ended: 'window', ticks: 0, dueLagMs: 0, failedExchanges: 0, ...nothing };
  }

  async run(): Promise<DrainReport> {
    const { windowMs, stepMs } = this.#settings;
    const nowMs = this.#ports.clock.monotonicMs();
    this.#windowEndsAtMs = nowMs + Math.min(windowMs, this.#remainingMs() - stepMs);
    if (this.#windowEndsAtMs <= nowMs) return { ...this.#report, ended: 'no_time' };
    try {
      this.#report.ended = await this.#tickUntilDone();
      await this.#quiet();
    } finally {
      // No timer of this run survives it: a frozen process must not wake up into it.
      this.#end.abort();
    }
    return this.#report;
  }

  async #tickUntilDone(): Promise<DrainReport['ended']> {
    for (;;) {
      this.#bell = new AbortController();
      const startedAtMs = this.#ports.clock.monotonicMs();
      const open = startedAtMs < this.#windowEndsAtMs && this.#remainingMs() > this.#settings.stepMs;
      if (!open) this.#report.givenBack += this.#hand.giveBack();
      const reply = await this.#exchange(open);
      if (reply === 'limit') {
        this.#hand.giveBack();
        return 'limit';
      }
      if (open && reply?.leave === true) return 'idle';
      if (!open && (this.#hand.size === 0 || this.#remainingMs() < 2 * this.#settings.tickMs)) return 'window';
      const restMs = startedAtMs + this.#settings.tickMs - this.#ports.clock.monotonicMs();
      if (restMs > 0) await this.#ports.clock.sleep(restMs, this.#bell.signal);
    }
  }

  /** Waits for steps under way, so that none goes on in a frozen process; as long as there is time. */
  async #quiet(): Promise<void> {
    this.#windowEndsAtMs = this.#ports.clock.monotonicMs();
    const { tickMs } = this.#settings;
    while (this.#reads.running + this.#creates.running > 0 && this.#remainingMs() > 2 * tickMs) {
      this.#bell = new AbortController();
      await this.#ports.clock.sleep(tickMs, this.#bell.signal);
    }
  }

  /** One round trip. Null when it failed: everything in hand is simply sent again with the next one. */
  async #exchange(open: boolean): Promise<ExchangeReply | 'limit' | null> {
    const { clock, dueSet, log } = this.#ports;
    const settlements = this.#hand.settlements(this.#clock.latestNowMs(), this.#settings.exchangeMax);
    const settled = settlements.filter(({ to }) => to.kind !== 'renew').length;
    const claimMax = open ? this.#claimMax() : 0;
    const sentAtMs = clock.monotonicMs();
    const windowMs = open ? this.#windowEndsAtMs - sentAtMs : 0;
    const request = {
      settlements,
      claimMax,
      windowMs,
      firstTick: this.#report.ticks === 0,
      inHand: this.#hand.size - settled,
    };
    try {
      const reply = await dueSet.exchange(request);
      this.#clock.observe(sentAtMs, clock.monotonicMs(), reply.nowMs);
      this.#report.ticks++;
      this.#report.lostLeases += this.#hand.confirm(settlements, new Set(reply.stale)).length;
      this.#claimedAll = reply.claimed.length < claimMax || claimMax === 0;
      this.#take(reply.claimed, reply.nowMs);
      return reply;
    } catch (error) {
      if (!(error instanceof DueSetError)) throw error;
      this.#report.failedExchanges++;
      log.error('exchange_failed', { code: error.code, error: messageOf(error) });
      return error.code === 'limit' ? 'limit' : null;
    }
  }

  #claimMax(): number {
    const wanted = Math.min(
      this.#pace.wanted(this.#ports.clock.monotonicMs()),
      this.#settings.exchangeMax - this.#hand.size,
    );
    return Math.max(0, wanted - this.#hand.unstarted);
  }

  #take(claims: readonly Claim[], nowMs: number): void {
    this.#report.claims += claims.length;
    const oldest = claims[0];
    if (oldest !== undefined) this.#report.dueLagMs = Math.max(this.#report.dueLagMs, nowMs - oldest.dueAtMs);
    const unknown: Held[] = [];
    for (const claim of claims) {
      const held = this.#hand.take(claim);
      if (held === null) continue;
      const job = this.#known.get(held.id);
      if (job === undefined) unknown.push(held);
      else this.#arm(held, job);
    }
    if (unknown.length > 0) void this.#load(unknown);
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
      this.#report.broken += broken.length;
      this.#report.orphans += absent.length;
      for (const job of jobs) this.#arm(byId.get(job.id), job);
    } catch (error) {
      log.error('records_unread', { jobs: unknown.length, error: messageOf(error) });
      for (const held of unknown) this.#finish(held, this.#dueIn(storeRetryMs));
    }
  }

  /** The record is known: the step is due at its time, or there is none. */
  #arm(held: Held | undefined, job: Job): void {
    if (held === undefined || held.phase !== 'unstarted') return;
    const waitMs = held.dueAtMs - this.#clock.earliestNowMs();
    held.job = job;
    if (!isActive(job.state)) {
      this.#finish(held, { kind: 'remove' });
    } else if (waitMs > 0) {
      void this.#armLater(held, job, waitMs);
    } else {
      const lanes = needsCreate(job) ? this.#creates : this.#reads;
      lanes.push(held);
    }
  }

  async #armLater(held: Held, job: Job, waitMs: number): Promise<void> {
    await this.#ports.clock.sleep(waitMs, this.#end.signal);
    if (!this.#end.signal.aborted) this.#arm(held, job);
  }

  async #work(held: Held): Promise<void> {
    if (held.phase !== 'unstarted' || held.job === null || !this.#hand.holds(held)) return;
    if (held.leaseEndMs - this.#clock.latestNowMs() < leaseMarginMs) {
      this.#report.lostLeases++;
      return this.#hand.drop(held);
    }
    this.#hand.start(held);
    const poisonous = held.claims >= poisonousClaims;
    const { settle, job } = await (poisonous ? park : step)(this.#stepPorts, held.job);
    if (poisonous) this.#report.parked++;
    else this.#report.steps++;
    this.#pace.finish();
    // Not one that is still to be sent: another drain may send it meanwhile, and its create's hold must not delay a read.
    this.#known.remember(held.id, job !== null && needsCreate(job) ? null : job);
    this.#finish(held, settle);
    const hungry = !this.#claimedAll && this.#hand.unstarted < this.#settings.concurrency;
    const lastOne = this.#reads.running + this.#creates.running === 1;
    const closing = this.#ports.clock.monotonicMs() >= this.#windowEndsAtMs;
    if (hungry || (closing && lastOne)) this.#bell.abort();
  }

  #finish(held: Held | undefined, settle: NonNullable<Held['settle']>): void {
    if (held !== undefined && this.#hand.holds(held)) this.#hand.finish(held, settle);
  }

  #dueIn(delayMs: number): NonNullable<Held['settle']> {
    return { kind: 'due', atMs: this.#clock.latestNowMs() + delayMs * (1 + 0.1 * this.#ports.random()) };
  }
}
