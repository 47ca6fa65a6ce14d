import { JobStoreError, messageOf } from '../errors.ts';
import type { DeliveryStore, EndpointStore } from '../event-ports.ts';
import type { Log } from '../log.ts';
import type { ListPosition } from '../ports.ts';
import { ended } from './retry.ts';

export interface DisableGonePorts {
  endpoints: Pick<EndpointStore, 'get' | 'update'>;
  deliveries: Pick<DeliveryStore, 'list' | 'update'>;
  nowMs: () => number;
  log: Log;
}

const lostRacesMax = 3;
const pageSize = 100;
/** What is left after so many is canceled one by one, as it comes due. */
const pagesMax = 10;

/** The receiver at `url` said that it is gone: nothing more is sent there, and what waits for it is canceled. Never rejects. */
export async function disableGone(ports: DisableGonePorts, endpointId: string, url: string): Promise<void> {
  try {
    if (!(await disable(ports, endpointId, url))) return;
    const canceled = await cancelPending(ports, endpointId);
    ports.log.warn('endpoint_gone', { endpointId, canceled });
  } catch (error) {
    if (!(error instanceof JobStoreError)) throw error;
    // The next event will be told the same.
    ports.log.error('endpoint_not_disabled', { endpointId, error: messageOf(error) });
  }
}

/** False when the endpoint leads elsewhere by now: then nothing was said of it. */
async function disable({ endpoints, nowMs }: DisableGonePorts, id: string, url: string): Promise<boolean> {
  for (let tries = 0; tries < lostRacesMax; tries++) {
    const endpoint = await endpoints.get(id);
    if (endpoint === null || endpoint.state === 'disabled') return true;
    if (endpoint.url !== url) return false;
    const atMs = nowMs();
    const gone = { state: 'disabled', disabledBy: 'gone', disabledAtMs: atMs, updatedAtMs: atMs } as const;
    const { kind } = await endpoints.update({ ...endpoint, ...gone });
    if (kind === 'updated') return true;
  }
  return false;
}

async function cancelPending({ deliveries, nowMs }: DisableGonePorts, pendingAt: string): Promise<number> {
  let canceled = 0;
  let after: ListPosition | undefined;
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await deliveries.list({ pendingAt }, { limit: pageSize, ...(after === undefined ? {} : { after }) });
    const pending = page.deliveries.filter(({ state }) => state === 'pending');
    const written = await Promise.all(
      pending.map((delivery) => deliveries.update(ended(delivery, 'canceled', nowMs()))),
    );
    // One that was written meanwhile is under way, or will find the endpoint disabled.
    canceled += written.filter(({ kind }) => kind === 'updated').length;
    if (page.next === null) break;
    after = page.next;
  }
  return canceled;
}
