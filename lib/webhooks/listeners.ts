import type { EventType } from '../event.ts';
import type { EndpointStore } from '../event-ports.ts';
import { busId } from './delivery.ts';
import { type Endpoint, hears } from './endpoint.ts';
import { ensureJobEndpoint, type JobEndpointPorts } from './job-endpoint.ts';

export interface ListenersPorts extends JobEndpointPorts {
  endpoints: JobEndpointPorts['endpoints'] & Pick<EndpointStore, 'list'>;
  /** An event bus is configured. */
  bus: boolean;
}

/** Where an event goes. `closed`: it is known to be disabled, and nothing is sent there. */
export interface Listener {
  endpointId: string;
  closed: boolean;
}

/** Who is to get an event, as it is known during one look: many events of one owner read its endpoints once. */
export class Listeners {
  readonly #ports: ListenersPorts;
  readonly #registered = new Map<string, Promise<Endpoint[]>>();
  readonly #own = new Map<string, Promise<Endpoint>>();

  constructor(ports: ListenersPorts) {
    this.#ports = ports;
  }

  /** `url`: of the job or the batch itself, if it wants this event there. Rejects with a JobStoreError. */
  async of(owner: string, type: EventType, url: string | undefined): Promise<Listener[]> {
    const [own, registered] = await Promise.all([
      url === undefined ? null : this.#jobEndpoint(owner, url),
      this.#registeredOf(owner),
    ]);
    return [
      ...(own === null ? [] : [{ endpointId: own.id, closed: own.state === 'disabled' }]),
      ...registered.filter((endpoint) => hears(endpoint, type)).map(({ id }) => ({ endpointId: id, closed: false })),
      ...(this.#ports.bus ? [{ endpointId: busId, closed: false }] : []),
    ];
  }

  #registeredOf(owner: string): Promise<Endpoint[]> {
    return remembered(this.#registered, owner, () => this.#ports.endpoints.list(owner, 'registered'));
  }

  #jobEndpoint(owner: string, url: string): Promise<Endpoint> {
    return remembered(this.#own, `${owner} ${url}`, () => ensureJobEndpoint(this.#ports, owner, url));
  }
}

function remembered<T>(known: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  const value = known.get(key) ?? read();
  known.set(key, value);
  return value;
}
