import { JobStoreError } from '../../lib/errors.ts';
import type { DeliveryStore, EndpointStore } from '../../lib/event-ports.ts';
import { shardOf } from '../../lib/job-store/job-item.ts';
import type { Delivery } from '../../lib/webhooks/delivery.ts';
import type { Endpoint } from '../../lib/webhooks/endpoint.ts';

/** Deliveries in memory, with the conditions of the DynamoDB ones. Nothing lists them. */
export class MemoryDeliveries implements DeliveryStore {
  readonly #deliveries = new Map<string, Delivery>();
  readonly #pageMax: number;

  constructor(pageMax: number) {
    this.#pageMax = pageMax;
  }

  get all(): ReadonlyMap<string, Delivery> {
    return this.#deliveries;
  }

  async create(delivery: Delivery): Promise<void> {
    if (!this.#deliveries.has(delivery.id)) this.#deliveries.set(delivery.id, frozen(delivery));
  }

  async getMany(ids: readonly string[]): Promise<Delivery[]> {
    return [...new Set(ids)].flatMap((id) => this.#deliveries.get(id) ?? []);
  }

  async update(delivery: Delivery): Promise<{ kind: 'updated'; delivery: Delivery } | { kind: 'stale' }> {
    const stored = this.#deliveries.get(delivery.id);
    const next = frozen({ ...delivery, revision: delivery.revision + 1 });
    if (stored === undefined) return { kind: 'stale' };
    // Else the first reply was lost, not the race.
    if (stored.revision === delivery.revision) this.#deliveries.set(delivery.id, next);
    else if (JSON.stringify(stored) !== JSON.stringify(next)) return { kind: 'stale' };
    return { kind: 'updated', delivery: next };
  }

  async pendingIds(shard: number, after = ''): Promise<{ ids: string[]; next: string | null }> {
    const ids = [...this.#deliveries.values()]
      .filter(({ id, state }) => state === 'pending' && shardOf(id) === shard && id > after)
      .map(({ id }) => id)
      .sort();
    const page = ids.slice(0, this.#pageMax);
    return { ids: page, next: page.length < ids.length ? (page.at(-1) ?? null) : null };
  }

  list(): Promise<never> {
    return Promise.reject(new JobStoreError('The simulation lists nothing.'));
  }
}

/** Endpoints in memory. */
export class MemoryEndpoints implements EndpointStore {
  readonly #endpoints = new Map<string, Endpoint>();

  constructor(endpoints: readonly Endpoint[]) {
    for (const endpoint of endpoints) this.#endpoints.set(endpoint.id, frozen(endpoint));
  }

  async create(endpoint: Endpoint): Promise<{ kind: 'created' } | { kind: 'exists'; endpoint: Endpoint }> {
    const stored = this.#endpoints.get(endpoint.id);
    if (stored !== undefined) return { kind: 'exists', endpoint: stored };
    this.#endpoints.set(endpoint.id, frozen(endpoint));
    return { kind: 'created' };
  }

  async get(id: string): Promise<Endpoint | null> {
    return this.#endpoints.get(id) ?? null;
  }

  update(): Promise<never> {
    return Promise.reject(new JobStoreError('No endpoint is changed in the simulation.'));
  }

  remove(): Promise<never> {
    return this.update();
  }

  async list(owner: string, kind?: Endpoint['kind']): Promise<Endpoint[]> {
    const all = [...this.#endpoints.values()];
    return all.filter((endpoint) => endpoint.owner === owner && (kind === undefined || endpoint.kind === kind));
  }
}

function frozen<T>(value: T): T {
  return Object.freeze(JSON.parse(JSON.stringify(value)));
}
