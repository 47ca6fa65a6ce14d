import { endpointIdFor } from '../identify.ts';
import type { Clock } from '../ports.ts';
import type { Refusal } from '../refusal.ts';
import type { Endpoint } from './endpoint.ts';
import type { CheckWebhookUrl } from './register.ts';

export interface RememberedEndpointsPorts {
  /** The endpoint of the owner's jobs with this URL, made if there is none yet. Rejects with a JobStoreError. */
  ensure: (owner: string, url: string) => Promise<Pick<Endpoint, 'id' | 'state'>>;
  checkWebhookUrl: CheckWebhookUrl;
  clock: Pick<Clock, 'nowMs'>;
}

/** So long an endpoint that was found ready is not looked at again: five hundred submits read it once. */
const rememberedMs = 60_000;
const rememberedMax = 1_000;

interface Look {
  atMs: number;
  refusal: Promise<Refusal | null>;
}

/** The endpoints that jobs bring along by their `webhook_url`, as one process knows them. */
export class RememberedEndpoints {
  readonly #ports: RememberedEndpointsPorts;
  readonly #looks = new Map<string, Look>();

  constructor(ports: RememberedEndpointsPorts) {
    this.#ports = ports;
  }

  /** Null: events may be sent there, and the endpoint is there. Rejects with a JobStoreError. */
  ready(owner: string, url: string): Promise<Refusal | null> {
    const id = endpointIdFor(owner, url);
    const nowMs = this.#ports.clock.nowMs();
    const known = this.#looks.get(id);
    // A clock that has stepped back must not keep it for longer.
    if (known !== undefined && Math.abs(nowMs - known.atMs) < rememberedMs) return known.refusal;
    if (this.#looks.size >= rememberedMax) this.#looks.clear();
    const look = { atMs: nowMs, refusal: this.#look(owner, url) };
    this.#looks.set(id, look);
    const forget = () => {
      if (this.#looks.get(id) === look) this.#looks.delete(id);
    };
    // What was refused may be put right at any moment.
    look.refusal.then((refusal) => refusal !== null && forget(), forget);
    return look.refusal;
  }

  async #look(owner: string, url: string): Promise<Refusal | null> {
    const reason = await this.#ports.checkWebhookUrl(url);
    if (reason !== null) return { kind: 'webhook_refused', reason };
    const { id, state } = await this.#ports.ensure(owner, url);
    return state === 'disabled' ? { kind: 'webhook_disabled', endpointId: id } : null;
  }
}
