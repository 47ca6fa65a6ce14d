import type { EventType, JobEvent } from './event.ts';
import type { DeliveryStore, EndpointStore, EventQueue } from './event-ports.ts';
import type { Job } from './job.ts';
import type { News } from './news.ts';
import type { Clock, JobStore } from './ports.ts';
import { busId, type Delivery } from './webhooks/delivery.ts';
import { hears } from './webhooks/endpoint.ts';

/*
 * An owner asks for news again: the same event, with the same id and the same bytes. Its deliveries begin anew, whatever
 * became of them; an event that nobody listened to is made out once more, for who listens now.
 */

export interface RedeliverPorts {
  store: Pick<JobStore, 'get' | 'update'>;
  deliveries: Pick<DeliveryStore, 'getMany' | 'update'>;
  endpoints: Pick<EndpointStore, 'get' | 'list'>;
  eventQueue: EventQueue;
  news: News;
  clock: Pick<Clock, 'nowMs'>;
}

type RedeliverRefusal = { kind: 'endpoint_disabled' | 'endpoint_removed'; endpointId: string } | { kind: 'raced' };
export type RedeliverResult = { kind: 'due'; delivery: Delivery } | RedeliverRefusal;

/** `no_event`: nothing is told of the job yet. `nobody`: there is news, and nobody listens. `due`: none while they are made out. */
export type RedeliverJobResult =
  | { kind: 'due'; deliveries: Delivery[] }
  | { kind: 'no_event' | 'nobody' }
  | RedeliverRefusal;

const lostRacesMax = 3;

/** Rejects with a JobStoreError or a DueSetError; may be repeated. */
export async function redeliver(ports: RedeliverPorts, delivery: Delivery): Promise<RedeliverResult> {
  const result = await begunAnew(ports, delivery);
  if (result.kind === 'due') await makeDue(ports.eventQueue, [result.delivery]);
  return result;
}

/** The newest event of the job. One endpoint that takes none now does not keep it from the others. Rejects like `redeliver`. */
export async function redeliverJob(ports: RedeliverPorts, job: Job): Promise<RedeliverJobResult> {
  const event = job.events.at(-1);
  if (event === undefined) return { kind: 'no_event' };
  const known = await ports.deliveries.getMany(event.deliveries ?? []);
  if (known.length === 0) return makeOutAgain(ports, job, event);
  const results = await Promise.all(known.map((delivery) => begunAnew(ports, delivery)));
  const deliveries = results.flatMap((result) => (result.kind === 'due' ? [result.delivery] : []));
  const refusal = results.find((result) => result.kind !== 'due');
  if (deliveries.length === 0 && refusal !== undefined) return refusal;
  await makeDue(ports.eventQueue, deliveries);
  return { kind: 'due', deliveries };
}

async function begunAnew(ports: RedeliverPorts, found: Delivery): Promise<RedeliverResult> {
  const { endpointId } = found;
  const endpoint = endpointId === busId ? null : await ports.endpoints.get(endpointId);
  if (endpointId !== busId && endpoint === null) return { kind: 'endpoint_removed', endpointId };
  if (endpoint?.state === 'disabled') return { kind: 'endpoint_disabled', endpointId };
  let delivery: Delivery | undefined = found;
  for (let tries = 1; delivery !== undefined && tries <= lostRacesMax; tries++) {
    const nowMs = ports.clock.nowMs();
    const { endedAtMs: _, ...rest } = delivery;
    const next: Delivery = { ...rest, state: 'pending', attempts: 0, nextAtMs: nowMs, updatedAtMs: nowMs };
    const written = await ports.deliveries.update(next);
    if (written.kind === 'updated') return { kind: 'due', delivery: written.delivery };
    [delivery] = await ports.deliveries.getMany([found.id]);
  }
  return { kind: 'raced' };
}

async function makeOutAgain(ports: RedeliverPorts, found: Job, { id, type }: JobEvent): Promise<RedeliverJobResult> {
  let job: Job | null = found;
  for (let tries = 1; job !== null && tries <= lostRacesMax; tries++) {
    const wanted: Job = { ...job, events: job.events.map((event) => pendingIf(id, event)) };
    const addressed = await ports.news.address(wanted);
    const isHeard = addressed.events.find((event) => event.id === id)?.pending === true;
    // What the audience knows may be a minute old, and whoever asks may just have registered an endpoint for this.
    if (!isHeard && !(await isHeardBySomebodyNew(ports, job.owner, type))) return { kind: 'nobody' };
    const written = await ports.store.update(isHeard ? addressed : wanted);
    if (written.kind === 'updated') {
      await ports.news.announce(written.job);
      return { kind: 'due', deliveries: [] };
    }
    job = await ports.store.get(found.id);
  }
  return { kind: 'raced' };
}

async function isHeardBySomebodyNew({ endpoints }: RedeliverPorts, owner: string, type: EventType): Promise<boolean> {
  return (await endpoints.list(owner, 'registered')).some((endpoint) => hears(endpoint, type));
}

function pendingIf(id: string, event: JobEvent): JobEvent {
  if (event.id !== id) return event;
  const { deliveries: _, ...rest } = event;
  return { ...rest, pending: true };
}

async function makeDue({ dueSet, waker }: EventQueue, deliveries: readonly Delivery[]): Promise<void> {
  const { wake } = await dueSet.schedule(
    deliveries.map(({ id }) => ({ id, delayMs: 0 })),
    'pull',
  );
  if (wake) await waker.wake();
}
