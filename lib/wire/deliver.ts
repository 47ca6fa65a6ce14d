import { randomBytes } from 'node:crypto';
import {
  type Environment,
  type EventBusConfig,
  readDeliverConfig,
  readEventBusConfig,
  readRecordConfig,
} from '../config.ts';
import { exchangeMax } from '../due-set/upstash-due-set.ts';
import { oncePerProcess } from '../once.ts';
import type { DeliverPorts, DeliverSettings } from '../webhooks/deliver.ts';
import { EventBus } from '../webhooks/event-bus.ts';
import { dnsResolve, systemResolve } from '../webhooks/resolve.ts';
import { sendWebhook } from '../webhooks/send.ts';
import { newSecret } from '../webhooks/sign.ts';
import { readWebhookConfig } from '../webhooks/webhook-config.ts';
import { connectEventsSet, connectTable } from './adapters.ts';
import { fillSecrets } from './fill-secrets.ts';
import { clock, log, random } from './process.ts';

/** For the record's write and the last exchange after a receiver's answer. */
const settleMarginMs = 3_000;

export async function wireDeliver(
  given: Environment,
): Promise<{ ports: DeliverPorts; settings: DeliverSettings; stage: string }> {
  const environment = await fillSecrets(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN']);
  const record = readRecordConfig(environment);
  const webhooks = readWebhookConfig(environment);
  const busConfig = readEventBusConfig(environment);
  const resolve = webhooks.allowLocal ? systemResolve : dnsResolve();
  const { store, endpoints, deliveries, batches } = connectTable(record, 4);
  const ports: DeliverPorts = {
    ...{ store, endpoints, deliveries, batches, clock, random, log },
    dueSet: connectEventsSet(environment, record.stage),
    send: (message) => sendWebhook(message, webhooks, { clock, resolve }),
    newSecret: () => newSecret(randomBytes),
    seenOpen: new Map(),
    ...(busConfig === null ? {} : { bus: connectEventBus(busConfig, record.stage) }),
  };
  const stepMs = webhooks.timeoutMs + settleMarginMs;
  return { ports, settings: { ...readDeliverConfig(environment), stepMs, exchangeMax }, stage: record.stage };
}

/** Its client is loaded with the first event for it. */
function connectEventBus(config: EventBusConfig, stage: string): EventBus {
  const put = oncePerProcess(async () => (await import('../aws/event-bridge.ts')).eventBridge(config, stage));
  return new EventBus(async (entries) => (await put())(entries), clock);
}
