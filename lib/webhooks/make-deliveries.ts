import type { EventType } from '../event.ts';
import type { DeliveryStore } from '../event-ports.ts';
import { deliveryIdFor } from '../identify.ts';
import type { Clock } from '../ports.ts';
import type { Delivery } from './delivery.ts';
import type { Listener, Listeners, ListenersPorts } from './listeners.ts';

export interface MakeDeliveriesPorts extends ListenersPorts {
  deliveries: Pick<DeliveryStore, 'create'>;
  /** Wall time or Redis', ms since 1970. */
  clock: Pick<Clock, 'nowMs'>;
}

/** An event that is to be delivered. */
export interface Told {
  owner: string;
  /** Of the job or the batch. */
  subjectId: string;
  eventId: string;
  type: EventType;
  /** The endpoint that the job or the batch itself wants it to go to. */
  url: string | undefined;
  body: () => string;
}

/**
 * Makes out the event's deliveries, one for each that listens; may be repeated, also by two at once: there is one item for each
 * event and endpoint. `due`: those that are to be attempted. Rejects with a JobStoreError.
 */
export async function makeDeliveries(
  { deliveries, clock }: MakeDeliveriesPorts,
  listeners: Listeners,
  told: Told,
): Promise<{ ids: string[]; due: string[] }> {
  const found = await listeners.of(told.owner, told.type, told.url);
  if (found.length === 0) return { ids: [], due: [] };
  const body = told.body();
  const nowMs = clock.nowMs();
  const made = found.map((listener) => deliveryTo(listener, told, body, nowMs));
  await Promise.all(made.map((delivery) => deliveries.create(delivery)));
  const due = made.filter(({ state }) => state === 'pending');
  return { ids: made.map(({ id }) => id), due: due.map(({ id }) => id) };
}

/** To one that is closed it is kept as canceled: its owner can see why nothing came. */
function deliveryTo({ endpointId, closed }: Listener, told: Told, body: string, nowMs: number): Delivery {
  const { owner, subjectId, eventId, type } = told;
  return {
    id: deliveryIdFor(eventId, endpointId),
    ...{ owner, subjectId, eventId, type, endpointId, body },
    state: closed ? 'canceled' : 'pending',
    attempts: 0,
    nextAtMs: nowMs,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...(closed ? { endedAtMs: nowMs } : {}),
    log: [],
    revision: 1,
  };
}
