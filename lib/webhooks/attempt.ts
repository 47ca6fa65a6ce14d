import { JobStoreError, messageOf } from '../errors.ts';
import type { DeliveryStore } from '../event-ports.ts';
import type { Log } from '../log.ts';
import type { Random } from '../ports.ts';
import { busId, type Delivery } from './delivery.ts';
import { type DisableGonePorts, disableGone } from './disable-gone.ts';
import { signingSecrets } from './endpoint.ts';
import type { EndpointBook } from './endpoint-book.ts';
import type { EventBus } from './event-bus.ts';
import { afterAttempt, ended, type SendResult, saysGone } from './retry.ts';
import type { WebhookMessage } from './send.ts';

/*
 * One attempt of a delivery: send it, write down what came of it, say how to settle. In this order, so that whoever is
 * killed in between leaves a claim that runs out, and the same event is sent again: at least once, never lost.
 */

/** One signed request to a receiver. Never rejects: trouble is a fault of the result. */
type Send = (message: WebhookMessage) => Promise<SendResult>;

export interface AttemptPorts extends DisableGonePorts {
  deliveries: Pick<DeliveryStore, 'getMany' | 'update' | 'list'>;
  book: Pick<EndpointBook, 'find' | 'forget'>;
  send: Send;
  /** Absent where no bus is configured. */
  bus?: Pick<EventBus, 'put'>;
  random: Random;
  log: Log;
}

export interface AttemptResult {
  settle: { kind: 'due'; atMs: number } | { kind: 'remove' };
  /** `unknown`: whether it arrived is not written down; it is tried again. */
  outcome: 'delivered' | 'failed' | 'dead' | 'canceled' | 'unknown';
  /** The receiver did not answer in time. */
  hung: boolean;
  /** Something was sent. */
  sent: boolean;
}

/** After a write that failed. */
const storeRetryMs = 15_000;
/** After a fault of our own, or with an endpoint whose record can't be read. */
const crashRetryMs = 600_000;
const lostRacesMax = 3;

/** The delivery is pending and its time has come. Never rejects. */
export async function attempt(ports: AttemptPorts, delivery: Delivery): Promise<AttemptResult> {
  let sent: SendResult | null = null;
  try {
    const target = await targetOf(ports, delivery);
    if (target === null) return resultOf(await write(ports, delivery, (now) => canceled(ports, now)), null);
    sent = await target.send();
    const told = sent;
    const goneUrl = saysGone(told) ? target.url : null;
    const hasMoved = goneUrl !== null && (await leadsElsewhere(ports, delivery.endpointId, goneUrl));
    const change = (now: Delivery) => afterAttempt(now, told, ports.nowMs(), ports.random, hasMoved);
    const written = await write(ports, delivery, change);
    if (goneUrl !== null && !hasMoved) await disableGone(ports, delivery.endpointId, goneUrl);
    if (goneUrl !== null) ports.book.forget(delivery.endpointId);
    return resultOf(written, told);
  } catch (error) {
    const isStore = error instanceof JobStoreError;
    ports.log.error(isStore ? 'delivery_unwritten' : 'attempt_crashed', {
      deliveryId: delivery.id,
      error: messageOf(error),
    });
    const delayMs = (isStore && !error.broken ? storeRetryMs : crashRetryMs) * (1 + ports.random() / 10);
    // A receiver's wish to wait is kept to, though it could not be written down.
    const settle = { kind: 'due' as const, atMs: ports.nowMs() + Math.max(delayMs, sent?.retryAfterMs ?? 0) };
    return { settle, outcome: 'unknown', hung: hangs(sent), sent: sent !== null };
  }
}

interface Target {
  /** Null: the bus. */
  url: string | null;
  send: () => Promise<SendResult>;
}

/** Where and how it is sent; null when nobody receives it any more. */
async function targetOf(ports: AttemptPorts, delivery: Delivery): Promise<Target | null> {
  const { bus } = ports;
  if (delivery.endpointId === busId) return bus === undefined ? null : { url: null, send: () => bus.put(delivery) };
  const endpoint = await ports.book.find(delivery.endpointId);
  if (endpoint === null || endpoint.state === 'disabled') return null;
  const { url } = endpoint;
  const secrets = signingSecrets(endpoint, ports.nowMs());
  const { eventId, body } = delivery;
  return { url, send: () => ports.send({ url, secrets, eventId, body }) };
}

/** Its owner has given the endpoint another URL since: who is gone is not who receives now. Throws a JobStoreError. */
async function leadsElsewhere({ endpoints }: AttemptPorts, id: string, url: string): Promise<boolean> {
  const endpoint = await endpoints.get(id);
  return endpoint !== null && endpoint.url !== url;
}

function canceled(ports: AttemptPorts, delivery: Delivery): Delivery {
  return delivery.state === 'pending' ? ended(delivery, 'canceled', ports.nowMs()) : delivery;
}

/** On what is stored now, when somebody else wrote it meanwhile. Null when it is gone. Throws a JobStoreError. */
async function write(
  { deliveries }: AttemptPorts,
  delivery: Delivery,
  change: (current: Delivery) => Delivery,
): Promise<Delivery | null> {
  let current = delivery;
  for (let tries = 1; ; tries++) {
    const written = await deliveries.update(change(current));
    if (written.kind === 'updated') return written.delivery;
    const [stored] = await deliveries.getMany([delivery.id]);
    if (stored === undefined) return null;
    if (tries === lostRacesMax) throw new JobStoreError('The delivery was written by others again and again.');
    current = stored;
  }
}

function resultOf(written: Delivery | null, sent: SendResult | null): AttemptResult {
  const rest = { hung: hangs(sent), sent: sent !== null };
  if (written === null) return { settle: { kind: 'remove' }, outcome: 'canceled', ...rest };
  if (written.state !== 'pending') return { settle: { kind: 'remove' }, outcome: written.state, ...rest };
  return { settle: { kind: 'due', atMs: written.nextAtMs }, outcome: 'failed', ...rest };
}

function hangs(sent: SendResult | null): boolean {
  return sent?.fault === 'timeout';
}
