import { type AccountLimits, noLimits } from '../../lib/accounts.ts';
import type { LeaseSettings } from '../../lib/due-set/upstash-due-set.ts';
import type { DeliveryStore } from '../../lib/event-ports.ts';
import { isActive, type Job } from '../../lib/job.ts';
import { shardCount } from '../../lib/job-store/job-item.ts';
import type { News } from '../../lib/news.ts';
import type { DueSet, JobStore } from '../../lib/ports.ts';
import { BudgetWatch } from './budget-watch.ts';
import { CallWatch } from './call-watch.ts';
import { CancelWatch } from './cancel-watch.ts';
import { type Cancel, Cancelers } from './cancelers.ts';
import { Clients } from './clients.ts';
import { Dice } from './dice.ts';
import { Disasters } from './disasters.ts';
import type { Outside } from './doors.ts';
import { DueSetWatch } from './due-set-watch.ts';
import { Fleet } from './fleet.ts';
import { Lies } from './lies.ts';
import type { MemoryDeliveries } from './memory-event-stores.ts';
import { MemoryJobStore } from './memory-job-store.ts';
import { ProviderSide } from './provider-side.ts';
import { Referee } from './referee.ts';
import { Schedule } from './schedule.ts';
import { Scheduler } from './scheduler.ts';
import { type MakeSetSide, memorySide, type SetSide } from './set-side.ts';
import { StepChecks } from './step-checks.ts';
import { StoreWatch } from './store-watch.ts';
import { tellingOf } from './telling.ts';
import { Trace } from './trace.ts';
import { Weather } from './weather.ts';

const sweepPeriodMs = 300_000;
const hourMs = 3_600_000;

/** Parts of the product made wrong on purpose, to see whether it is noticed. */
export interface Breaks {
  dueSet?: (side: SetSide) => DueSet;
  store?: (store: MemoryJobStore) => JobStore;
  outside?: (outside: Outside) => void;
  deliveries?: (store: MemoryDeliveries) => DeliveryStore;
  news?: (news: News) => News;
  cancel?: Cancel;
}

export interface WorldOptions {
  seed: number;
  makeSide: MakeSetSide;
  breaks?: Breaks;
  /** Nobody listens, and nobody cancels anything: as it was before there were events. */
  quiet?: boolean;
}

/** One seed's world: the product's processes, everything around them, and those who watch. */
export class World {
  readonly referee: Referee;
  readonly scheduler: Scheduler;
  readonly outside: Outside;
  readonly fleet: Fleet;
  readonly clients: Clients;
  readonly checks: StepChecks;
  readonly schedule: Schedule;
  readonly #cancelers: Cancelers;
  readonly #lies: Lies;
  readonly #disasters: Disasters;
  #calmAtMs = Number.POSITIVE_INFINITY;

  static async make({ seed, makeSide, breaks = {}, quiet = false }: WorldOptions): Promise<World> {
    const dice = new Dice(`seed ${seed}`);
    const scheduler = new Scheduler(dice.fork('order'));
    const referee = new Referee(scheduler, new Trace());
    // Redis' own clock is wrong too, and shows whole milliseconds.
    const offsetMs = dice.between(-60_000, 60_000);
    const setNowMs = () => Math.floor(scheduler.nowMs + offsetMs);
    const tickMs = dice.pick([1_000, 1_000, 2_000]);
    const lease = { leaseMs: dice.pick([8 * tickMs, 10_000 + tickMs]), aheadMs: 1.25 * tickMs };
    const limits = limitsOf(dice.fork('limits'));
    const side = await makeSide(setNowMs, { ...lease, limits }, (what) =>
      referee.broken('Redis does what memory does', what),
    );
    const dueSet = breaks.dueSet?.(side) ?? side.dueSet;
    const shown = Object.create(side, { dueSet: { value: dueSet } });
    const events = quiet ? null : await memorySide(setNowMs, { ...lease, limits: noLimits }, () => {});
    return new World({ dice, scheduler, referee, side: shown, events, setNowMs, lease, limits, tickMs }, breaks);
  }

  private constructor(
    given: {
      dice: Dice;
      scheduler: Scheduler;
      referee: Referee;
      side: SetSide;
      /** Null: nobody listens. */
      events: SetSide | null;
      setNowMs: () => number;
      lease: LeaseSettings;
      limits: AccountLimits;
      tickMs: number;
    },
    breaks: Breaks,
  ) {
    const { dice, scheduler, referee, side, events, setNowMs, lease, limits } = given;
    const trueMs = () => scheduler.nowMs;
    const clocks = { nowMs: setNowMs, trueMs };
    const weather = new Weather(dice.fork('weather'), trueMs);
    const set = new DueSetWatch(side, { ...lease, limits }, referee, clocks);
    const memory = new MemoryJobStore(trueMs, dice.whole(1, 4));
    const index = { lagMs: dice.pick([0, 0, 500, 3_000]), nowMs: trueMs };
    const store = new StoreWatch(breaks.store?.(memory) ?? memory, memory, referee, index);
    this.#lies = new Lies(dice.fork('lies'));
    const renders = { slots: dice.whole(1, 12), renderMinMs: 2_000, renderMaxMs: dice.spread(10_000, 300_000) };
    const provider = new ProviderSide(dice.fork('provider'), renders, this.#lies, trueMs);
    const budget = new BudgetWatch(limits, referee, { isLive: (claim) => set.isLive(claim), trueMs });
    const cancels = new CancelWatch(referee, trueMs);
    const calls = new CallWatch(set, { budget, cancels }, referee, clocks);
    const dueAtMs = (id: string) => {
      const score = set.scores.get(id);
      return score === undefined ? null : score - setNowMs() + trueMs();
    };
    const telling =
      events &&
      tellingOf(events, { ...given, breaks, clocks, store, dueAtMs, wake: () => this.schedule.invokeDeliver() });
    store.onChange((...change) => {
      cancels.changed(...change);
      calls.changed(...change);
      telling?.watch.changed(...change);
    });
    const wake = (as?: 'helper') => this.schedule.invokeDrain(as);
    this.outside = { scheduler, weather, referee, dice, setNowMs, set, store, provider, calls, cancels, telling, wake };
    breaks.outside?.(this.outside);
    this.referee = referee;
    this.scheduler = scheduler;
    this.fleet = new Fleet(this.outside, fleetSettings(dice.fork('settings'), lease.leaseMs, given.tickMs, limits));
    this.checks = new StepChecks(this.outside);
    this.#disasters = new Disasters(this.outside, this.fleet, this.checks);
    this.schedule = new Schedule(this.outside, this.fleet, this.checks, this.#disasters);
    this.clients = new Clients(this.outside, this.fleet);
    this.#cancelers = new Cancelers(this.outside, this.fleet, breaks.cancel);
  }

  start(): void {
    this.clients.start();
    this.#cancelers.start();
    this.schedule.start();
    this.#disasters.start();
  }

  async step(): Promise<void> {
    await this.scheduler.step();
    this.checks.check(this.clients);
  }

  /** The faults stop, for good. */
  calm(): void {
    this.referee.note('calm');
    this.#calmAtMs = this.scheduler.nowMs;
    this.outside.weather.calmDown();
    this.#lies.stop();
    this.checks.calm();
    // In a step of its own: a real Redis is waited for.
    this.scheduler.after(0, () => this.outside.set.resume());
    this.schedule.calm();
  }

  /** Every job has ended, nothing of them is left in the set, and whoever listens is to hear of it. */
  get isOver(): boolean {
    const { set, store, telling } = this.outside;
    if (!this.clients.done || set.ids.length > 0 || (telling?.watch.pendingJobs.size ?? 0) > 0) return false;
    return [...store.all.values()].every((job) => !isActive(job.state));
  }

  /** In fair weather every job ends: at the latest so long after its deadline as the README says, and mostly much sooner. */
  checkEnds(): void {
    const nowMs = this.scheduler.nowMs;
    for (const job of this.outside.store.all.values()) {
      if (!isActive(job.state) || nowMs <= this.#endsByMs(job)) continue;
      this.referee.broken('every job ends in time once the faults stop', `${job.id} is ${job.state}`);
    }
  }

  /** Two hours: a wait of an hour that was told in bad weather, and what a sweep and a spread come to. */
  #endsByMs(job: Job): number {
    const clip = this.outside.provider.clips.get(job.id);
    const hardMs = Math.max(job.deadlineAtMs + 78 * hourMs, this.#calmAtMs) + 2 * hourMs;
    const endsAtMs = clip === undefined || clip.forgottenAtMs < nowhereMs ? nowhereMs : clip.endsAtMs;
    const seenMs = Math.max(endsAtMs, this.#calmAtMs) + 2 * hourMs;
    // After the deadline two reads are up to 48 hours apart.
    const softMs = seenMs < job.deadlineAtMs ? seenMs : Math.max(seenMs, job.deadlineAtMs) + 48 * hourMs;
    return Math.min(hardMs, softMs);
  }
}

const nowhereMs = Number.POSITIVE_INFINITY;

/** Half of the accounts have limits, often tight ones. */
function limitsOf(dice: Dice): AccountLimits {
  if (dice.chance(0.5)) return noLimits;
  const sometimes = (limit: number) => (dice.chance(0.6) ? limit : null);
  return {
    maxInFlight: sometimes(dice.whole(1, 10)),
    readsPerMinute: sometimes(Math.round(dice.spread(6, 120))),
    readsPerDay: sometimes(dice.whole(2_000, 10_000)),
    createsPerMinute: sometimes(Math.round(dice.spread(2, 20))),
    createsPerDay: sometimes(dice.whole(100, 300)),
  };
}

function fleetSettings(dice: Dice, leaseMs: number, tickMs: number, limits: AccountLimits) {
  const drain = {
    concurrency: dice.whole(1, 8),
    createConcurrency: dice.whole(1, 4),
    tickMs,
    leaseMs,
    windowMs: 65_000,
    stepMs: 18_000,
    exchangeMax: dice.pick([2, 10, 3_900]),
    helpersMax: dice.whole(0, 3),
    adaptiveFirstRead: true,
    hasCreateBudget: limits.createsPerMinute !== null || limits.createsPerDay !== null,
  };
  const skewMaxMs = dice.pick([0, 500, 60_000, 300_000]);
  const windowMs = dice.fork('deliver').pick([3_000, 20_000, 40_000]);
  const deliver = { concurrency: 8, tickMs, leaseMs, windowMs, stepMs: 12_000, exchangeMax: drain.exchangeMax };
  return { drain, deliver, skewMaxMs, shardCount, sweepPeriodMs };
}
