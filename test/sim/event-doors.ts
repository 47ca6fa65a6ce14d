import { Announcer } from '../../lib/announce.ts';
import { JobStoreError } from '../../lib/errors.ts';
import type { BatchStore, DeliveryStore, EndpointStore, EventQueue } from '../../lib/event-ports.ts';
import type { Log } from '../../lib/log.ts';
import type { News } from '../../lib/news.ts';
import type { JobStore, Random } from '../../lib/ports.ts';
import { EndpointAudience } from '../../lib/webhooks/audience.ts';
import type { DeliverPorts } from '../../lib/webhooks/deliver.ts';
import { askRedis, askStore, type SendCall } from './calls.ts';
import type { DueSetWatch } from './due-set-watch.ts';
import type { Lambda } from './lambda.ts';
import type { MemoryDeliveries, MemoryEndpoints } from './memory-event-stores.ts';
import type { NewsWatch } from './news-watch.ts';
import type { Weather } from './weather.ts';

/** Where what is told of jobs goes, in a history in which somebody listens. */
export interface Telling {
  /** That of events. */
  set: DueSetWatch;
  /** The adapter that the product uses, which keeps its deliveries in `memory`. */
  deliveries: DeliveryStore;
  memory: MemoryDeliveries;
  endpoints: MemoryEndpoints;
  watch: NewsWatch;
  /** One for each process, from its start to its end. */
  newsOf: WeakMap<Lambda, News>;
  /** Another news than the product's. */
  broken: (news: News) => News;
  wakeDeliver(): void;
}

/** The ports for events of one process: the same network, the same ways to fail. */
export class EventDoors {
  readonly #telling: Telling;
  readonly #by: Lambda;
  readonly #send: SendCall;
  readonly #weather: Weather;
  readonly #log: Log;

  constructor(telling: Telling, by: Lambda, send: SendCall, given: { weather: Weather; log: Log }) {
    this.#telling = telling;
    this.#by = by;
    this.#send = send;
    this.#weather = given.weather;
    this.#log = given.log;
  }

  get queue(): EventQueue {
    return { dueSet: this.#dueSet(), waker: { wake: () => this.#wake() } };
  }

  /** As it was made at the process' first run. */
  get news(): News {
    const { newsOf, broken } = this.#telling;
    const news = newsOf.get(this.#by) ?? broken(this.#made());
    newsOf.set(this.#by, news);
    return news;
  }

  get deliveries(): Pick<DeliveryStore, 'create' | 'getMany' | 'update' | 'list' | 'pendingIds'> {
    const { deliveries } = this.#telling;
    const [read, write] = [askStore(this.#send, 'storeRead'), askStore(this.#send, 'storeWrite')];
    return {
      create: (delivery) => write(`create ${delivery.id}`, () => this.#create(delivery)),
      getMany: (ids) => read(`get ${ids.length} deliveries`, () => deliveries.getMany(ids)),
      update: (delivery) => write(`update ${delivery.id}`, () => deliveries.update(delivery)),
      list: (of, query) => read('list deliveries', () => deliveries.list(of, query)),
      pendingIds: (shard, after) => read(`pending ${shard}`, () => deliveries.pendingIds(shard, after)),
    };
  }

  deliverPorts(given: { store: JobStore; random: Random }): DeliverPorts {
    return {
      ...given,
      dueSet: this.#dueSet(),
      deliveries: this.deliveries,
      endpoints: this.#endpoints(),
      batches: noBatches,
      seenOpen: new Map(),
      clock: this.#by.clock,
      log: this.#log,
      newSecret: () => 'whsec_',
      send: ({ eventId }) => this.#post(eventId),
    };
  }

  #made(): News {
    const { clock } = this.#by;
    const endpoints = { list: (owner: string, kind?: 'registered' | 'job') => this.#registered(owner, kind) };
    const audience = new EndpointAudience({ endpoints, clock, log: this.#log }, { bus: false });
    const announcer = new Announcer(this.queue, this.#log, clock);
    return { address: (job) => audience.address(job), announce: (job) => announcer.announce(job) };
  }

  async #registered(owner: string, kind?: 'registered' | 'job') {
    try {
      return await this.#endpoints().list(owner, kind);
    } catch (error) {
      this.#telling.watch.unread(this.#by, owner);
      throw error;
    }
  }

  #endpoints(): EndpointStore {
    const { endpoints } = this.#telling;
    const [read, write] = [askStore(this.#send, 'storeRead'), askStore(this.#send, 'storeWrite')];
    return {
      create: (endpoint) => write(`create ${endpoint.id}`, () => endpoints.create(endpoint)),
      get: (id) => read(`get ${id}`, () => endpoints.get(id)),
      list: (owner, kind) => read(`endpoints of ${owner}`, () => endpoints.list(owner, kind)),
      update: () => endpoints.update(),
      remove: () => endpoints.remove(),
    };
  }

  #dueSet(): EventQueue['dueSet'] & DeliverPorts['dueSet'] {
    const { set } = this.#telling;
    const ask = askRedis(this.#send, 'events', this.#weather);
    return {
      exchange: (request) => ask('exchange of events', () => set.exchange(this.#by, request)),
      schedule: (entries, mode) => ask(`${entries.length} due events`, () => set.schedule(entries, mode)),
      absent: async (ids) => (ids.length === 0 ? [] : ask('absent events', () => set.absent(ids))),
    };
  }

  async #create(delivery: Parameters<DeliveryStore['create']>[0]): Promise<void> {
    const { deliveries, memory, watch } = this.#telling;
    const known = new Set(memory.all.keys());
    await deliveries.create(delivery);
    for (const [id, made] of memory.all) if (!known.has(id)) watch.made(made);
  }

  async #post(eventId: string) {
    const startedAtMs = this.#by.clock.monotonicMs();
    const reply = await this.#send('webhook', `webhook ${eventId}`, async () => 204);
    const tookMs = this.#by.clock.monotonicMs() - startedAtMs;
    if (reply.kind === 'value') return { status: reply.value, fault: null, snippet: '', tookMs, retryAfterMs: null };
    return { status: null, fault: 'timeout', snippet: '', tookMs, retryAfterMs: null };
  }

  async #wake(): Promise<void> {
    await this.#send('events', 'wake deliver', async () => this.#telling.wakeDeliver());
  }
}

const unknown = () => Promise.reject(new JobStoreError('No job of the simulation is in a batch.'));
const noBatches: Pick<BatchStore, 'get' | 'jobs' | 'update'> = { get: unknown, jobs: unknown, update: unknown };
