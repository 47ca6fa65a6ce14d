import type { EndpointStore } from '../event-ports.ts';
import type { Clock } from '../ports.ts';
import type { Endpoint } from './endpoint.ts';

const freshMs = 2_000;
const readsMax = 5_000;

/** Endpoints as they were read a moment ago: a burst for one receiver reads it once, and who removes it is soon obeyed. */
export class EndpointBook {
  readonly #store: Pick<EndpointStore, 'get'>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #reads = new Map<string, { atMs: number; endpoint: Promise<Endpoint | null> }>();

  constructor(store: Pick<EndpointStore, 'get'>, clock: Pick<Clock, 'monotonicMs'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Null when there is none. Rejects with a JobStoreError. */
  find(id: string): Promise<Endpoint | null> {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#reads.get(id);
    if (before !== undefined && nowMs - before.atMs < freshMs) return before.endpoint;
    if (this.#reads.size >= readsMax) this.#reads.clear();
    const endpoint = this.#store.get(id);
    this.#reads.set(id, { atMs: nowMs, endpoint });
    endpoint.catch(() => this.forget(id));
    return endpoint;
  }

  forget(id: string): void {
    this.#reads.delete(id);
  }
}
