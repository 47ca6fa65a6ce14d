import type { JobPlace } from '../../lib/account-view.ts';
import type { CancelPorts } from '../../lib/cancel.ts';
import type { DrainPorts } from '../../lib/drain.ts';
import { unnotedWaitMs } from '../../lib/due.ts';
import { JobStoreError } from '../../lib/errors.ts';
import type { Job } from '../../lib/job.ts';
import type { Log } from '../../lib/log.ts';
import type { Outcome } from '../../lib/outcome.ts';
import type {
  Call,
  CancelOutcome,
  DueSet,
  Entry,
  JobStore,
  Provider,
  Random,
  UpdateResult,
  WaitingEntry,
  Waker,
} from '../../lib/ports.ts';
import type { SubmitPorts } from '../../lib/submit.ts';
import type { SweepPorts } from '../../lib/sweep.ts';
import type { DeliverPorts } from '../../lib/webhooks/deliver.ts';
import { noEvents } from '../support/no-events.ts';
import { memoryNotes } from '../support/no-notes.ts';
import { noPauses } from '../support/no-pauses.ts';
import type { CallWatch } from './call-watch.ts';
import { askRedis, askStore, type SendCall } from './calls.ts';
import type { CancelWatch } from './cancel-watch.ts';
import type { Dice } from './dice.ts';
import type { DueSetWatch } from './due-set-watch.ts';
import { EventDoors, type Telling } from './event-doors.ts';
import type { Lambda } from './lambda.ts';
import { faultOf } from './lies.ts';
import { type Sent, send } from './network.ts';
import type { ProviderSide } from './provider-side.ts';
import type { Referee } from './referee.ts';
import type { Scheduler } from './scheduler.ts';
import type { StoreWatch } from './store-watch.ts';
import type { Route, Weather } from './weather.ts';

/** Nobody looks at the set in the simulation: a job that a drain holds is pulled all the same, which then does nothing. */
const unseen = { due: null } as JobPlace;

/** How long the adapters' clients wait for one call, ms: the repeats of the AWS client included. */
const patienceMs: Readonly<Record<Route, number>> = {
  dueSet: 2_500,
  storeRead: 9_000,
  storeWrite: 9_000,
  create: 15_000,
  read: 15_000,
  wake: 4_000,
  events: 2_500,
  cancel: 15_000,
  webhook: 10_000,
};

type ProviderRoute = 'create' | 'read' | 'cancel';

/** In bad weather the process that calls the provider for such a job mostly dies of it. */
export const deadlyModel = 'too-much-for-any-process';

/** Every call for such a job takes long, in any weather: longer than half a lease, not as long as a call may take. */
const slowModel = 'takes-its-time';
const slowMs = 9_000;

export interface Outside {
  scheduler: Scheduler;
  weather: Weather;
  referee: Referee;
  dice: Dice;
  /** Redis' clock, ms. */
  setNowMs: () => number;
  set: DueSetWatch;
  store: StoreWatch;
  provider: ProviderSide;
  calls: CallWatch;
  cancels: CancelWatch;
  /** Null: nobody listens to anything. */
  telling: Telling | null;
  wake(as?: 'helper'): void;
}

/** The ports of one process. Every call leaves through here: it takes its time, and may fail in every way there is. */
export class Doors {
  readonly #outside: Outside;
  readonly #by: Lambda;

  constructor(outside: Outside, by: Lambda) {
    this.#outside = outside;
    this.#by = by;
  }

  get ports(): DrainPorts & SubmitPorts & SweepPorts & CancelPorts {
    const queue = { dueSet: this.#dueSet(), waker: this.#waker() };
    const events = this.#events;
    return {
      ...queue,
      ...memoryNotes(),
      ...noPauses,
      view: { ...noPauses.view, look: async () => unseen },
      ...(events === null ? noEvents : { news: events.news, events: events.queue, deliveries: events.deliveries }),
      queues: new Map([['sume', queue]]),
      store: this.#store(),
      provider: this.#provider(),
      clock: this.#by.clock,
      random: this.#random,
      log: this.#log(),
    };
  }

  /** Null where nobody listens. */
  get deliverPorts(): DeliverPorts | null {
    return this.#events?.deliverPorts({ store: this.#store(), random: this.#random }) ?? null;
  }

  get #random(): Random {
    return this.#outside.dice.fork(this.#by.name).roll;
  }

  get #events(): EventDoors | null {
    const { telling, weather } = this.#outside;
    return telling && new EventDoors(telling, this.#by, this.#call, { weather, log: this.#log() });
  }

  #dueSet(): DueSet {
    const { set, weather } = this.#outside;
    const call = askRedis(this.#call, 'dueSet', weather);
    return {
      exchange: (request) => call('exchange', () => set.exchange(this.#by, request)),
      schedule: (entries, mode) => call('schedule', () => this.#schedule(entries, mode)),
      enqueue: (entries) => call('enqueue', () => this.#enqueue(entries)),
      tidy: () => call('tidy', () => set.tidy()),
      absent: (ids) => call('absent', () => set.absent(ids)),
      workload: () => call('workload', () => set.workload()),
      nowMs: () => call('nowMs', () => set.nowMs()),
    };
  }

  #schedule(entries: readonly Entry[], mode?: 'pull'): Promise<{ added: number; wake: boolean }> {
    const { calls, set, store, setNowMs } = this.#outside;
    for (const { id, delayMs } of entries) {
      // Put in as unsent: a job that was found sent waits for longer.
      if (delayMs < unnotedWaitMs) calls.resubmitted(id);
      if (mode !== 'pull') continue;
      const { cancelAskedAtMs, cancelSentAtMs } = store.all.get(id) ?? {};
      const isOwed = cancelAskedAtMs !== undefined && cancelSentAtMs === undefined;
      if (!isOwed || set.isLaterThan(id, setNowMs() + delayMs)) calls.pulled(id, isOwed);
    }
    return set.schedule(entries, mode);
  }

  /** A job that was found unsent, and may be sent by now, is in line again as if it were new. */
  #enqueue(entries: readonly WaitingEntry[]): Promise<{ added: number; wake: boolean }> {
    const { calls, set } = this.#outside;
    for (const { id } of entries) calls.resubmitted(id);
    return set.enqueue(entries);
  }

  #store(): JobStore {
    const { store } = this.#outside;
    const [read, write] = [askStore(this.#call, 'storeRead'), askStore(this.#call, 'storeWrite')];
    return {
      create: (job) => write(`create ${job.id}`, () => store.create(job)),
      get: (id) => read(`get ${id}`, () => store.get(id)),
      getMany: (ids) => read(`get ${ids.length}`, () => store.getMany(ids)),
      update: (job) => this.#update(job, () => write(`update ${job.id}`, () => this.#written(job))),
      list: () => Promise.reject(new JobStoreError('The simulation lists nothing.')),
      activeIds: (shard, after) => read(`shard ${shard}`, () => store.activeIds(shard, after)),
    };
  }

  async #update(job: Job, update: () => Promise<UpdateResult>): Promise<UpdateResult> {
    try {
      return await update();
    } catch (error) {
      this.#outside.calls.unwritten(this.#by, job.id);
      throw error;
    }
  }

  async #written(job: Job): Promise<UpdateResult> {
    const result = await this.#outside.store.update(this.#by, job);
    if (result.kind === 'updated') this.#outside.calls.written(job);
    return result;
  }

  #provider(): Provider {
    const { provider, cancels } = this.#outside;
    const arrives = <T>(route: ProviderRoute, job: Job, answer: (job: Job) => T) => {
      cancels.calls(route, job);
      return answer(job);
    };
    return {
      create: (job, call) =>
        this.#ask('create', job, call, () => arrives('create', job, (one) => provider.create(one))),
      read: (job, call) => this.#ask('read', job, call, () => provider.read(job)),
      cancel: (job, call) => this.#ask('cancel', job, call, () => provider.cancel(job)),
    };
  }

  async #ask<O extends Outcome | CancelOutcome>(
    route: ProviderRoute,
    job: Job,
    call: Call = {},
    answer: () => O,
  ): Promise<O | Extract<O, { kind: 'trouble' }>> {
    const { calls } = this.#outside;
    const nothing = { kind: 'trouble', fault: faultOf('timeout'), retryAfterMs: null } as Extract<
      O,
      { kind: 'trouble' }
    >;
    const isLost = () => call.lost === true;
    if (isLost() || this.#by.isDead) return nothing;
    const flight = calls.begin(this.#by, job, route);
    const longerMs = job.input.model === slowModel ? slowMs : 0;
    const sent = this.#send(route, `${route} ${job.id}`, async () => answer(), longerMs);
    if (job.input.model === deadlyModel && this.#outside.weather.kills()) this.#by.kill();
    call.abort = sent.abort;
    const reply = await sent.reply;
    calls.end(flight, reply.kind === 'value' ? reply.value : null);
    if (reply.kind === 'value' && reply.value.kind === 'completed' && !isLost()) {
      calls.fetches(flight);
      call.requests = 2;
    }
    return reply.kind === 'value' ? reply.value : nothing;
  }

  #waker(): Waker {
    return {
      wake: async (as) => {
        await this.#send('wake', 'wake', async () => this.#outside.wake(as)).reply;
      },
    };
  }

  #log(): Log {
    const line = (event: string) => {
      if (this.#by.isDead) return;
      this.#outside.referee.saw(event);
      this.#outside.referee.note(`${this.#by.name} log ${event}`);
    };
    return { info: line, warn: line, error: line };
  }

  readonly #call: SendCall = (route, what, execute) => this.#send(route, what, execute).reply;

  #send<T>(route: Route, what: string, execute: () => Promise<T>, longerMs = 0): Sent<T> {
    const { scheduler, weather, referee } = this.#outside;
    const noted = async () => {
      referee.note(`${this.#by.name} ${what}`);
      return execute();
    };
    if (weather.strikes('stall', route)) this.#by.stall(weather.stallMs());
    const trip = weather.trip(this.#by, route, patienceMs[route]);
    if (trip.outMs !== null) trip.outMs += longerMs;
    return send(scheduler, this.#by, trip, patienceMs[route], noted);
  }
}
