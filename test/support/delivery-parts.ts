import { eventsSetId } from '../../lib/due-set/keys.ts';
import { connectUpstash, exchangeMax, UpstashDueSet } from '../../lib/due-set/upstash-due-set.ts';
import { DynamoBatches } from '../../lib/job-store/dynamo-batches.ts';
import { DynamoDeliveries } from '../../lib/job-store/dynamo-deliveries.ts';
import { DynamoEndpoints } from '../../lib/job-store/dynamo-endpoints.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import type { Log, LogFields } from '../../lib/log.ts';
import { type DeliverPorts, type DeliverSettings, deliver } from '../../lib/webhooks/deliver.ts';
import type { DeliverReport } from '../../lib/webhooks/deliver-report.ts';
import type { Delivery } from '../../lib/webhooks/delivery.ts';
import type { Endpoint } from '../../lib/webhooks/endpoint.ts';
import { systemResolve } from '../../lib/webhooks/resolve.ts';
import { sendWebhook } from '../../lib/webhooks/send.ts';
import { testDelivery, testEndpoint, testSecret } from './deliveries.ts';
import { startTestDynamo } from './dynamo.ts';
import { FastClock } from './fast-clock.ts';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';
import { membersOf, startTestUpstash } from './upstash.ts';

const eventsKey = `pk:{test}:due:${eventsSetId}`;
const leaseMs = 10_000;

/** All that deliver works with, real, on the machine's own speed and a clock that can jump; receivers are scripted. */
export async function startDeliveryParts() {
  const [upstash, dynamo] = await Promise.all([startTestUpstash(), startTestDynamo()]);
  const table = await dynamo.createTable();
  const clock = new FastClock(1);
  const { nowMs } = clock;
  const logged: { event: string; fields: LogFields | undefined }[] = [];
  const note = (event: string, fields?: LogFields) => void logged.push({ event, fields });
  const log: Log = { info: note, warn: note, error: note };
  const { url, token } = upstash;
  const lease = { leaseMs, aheadMs: 315 };
  const dueSet = new UpstashDueSet(connectUpstash({ url, token, timeoutMs: 1_000 }), {
    ...{ stage: 'test', account: eventsSetId, url, token, lease, nowMs },
  });
  const stores = {
    store: new DynamoJobStore(dynamo.client, table, clock),
    endpoints: new DynamoEndpoints(dynamo.client, table, clock, log),
    deliveries: new DynamoDeliveries(dynamo.client, table, clock, log),
    batches: new DynamoBatches(dynamo.client, table, clock, log),
  };
  const webhooks = { allowLocal: true, ports: [], timeoutMs: 1_000 };
  const ports: DeliverPorts = {
    ...{ ...stores, dueSet, clock, log, random: () => 0.5, seenOpen: new Map<string, string>() },
    newSecret: () => testSecret,
    send: (message) => sendWebhook(message, webhooks, { clock, resolve: systemResolve }),
  };
  const settings: DeliverSettings = {
    ...{ concurrency: 100, tickMs: 250, leaseMs, windowMs: 3_000, stepMs: 2_000, exchangeMax },
  };
  const receivers: { server: ScriptedServer; endpoint: Endpoint }[] = [];
  // A port may come again in a later test, and with it the ids of what was sent there.
  let paths = 0;
  return {
    ...{ upstash, dynamo, table, clock, logged, ports, stores, dueSet, settings, webhooks },
    /** A receiver and acme's endpoint for it. */
    async receiver(given: Partial<Endpoint> = {}): Promise<{ server: ScriptedServer; endpoint: Endpoint }> {
      const server = await startScriptedServer();
      const endpoint = testEndpoint({ url: `${server.url}/hook-${++paths}`, ...given });
      await stores.endpoints.create(endpoint);
      receivers.push({ server, endpoint });
      return { server, endpoint };
    },
    /** So many deliveries to the endpoint, written down and due now. */
    async put(endpointId: string, count: number, given: Partial<Delivery> = {}): Promise<Delivery[]> {
      const atMs = nowMs();
      const times = { createdAtMs: atMs, updatedAtMs: atMs, nextAtMs: atMs };
      const all = Array.from({ length: count }, (_, i) => {
        const job = String(i).replace(/\d/g, (digit) => 'bcdefghijk'.charAt(Number(digit)));
        return testDelivery({ job, ...times, endpointId, ...given });
      });
      await Promise.all(all.map((delivery) => stores.deliveries.create(delivery)));
      await dueSet.schedule(all.map(({ id }) => ({ id, delayMs: 0 })));
      return all;
    },
    /** One run; it ends when nothing is due within its window. */
    run(given: Partial<DeliverPorts> = {}, changed: Partial<DeliverSettings> = {}): Promise<DeliverReport> {
      const endsAtMs = clock.monotonicMs() + 60_000;
      return deliver({ ...ports, ...given }, { ...settings, ...changed }, () => endsAtMs - clock.monotonicMs());
    },
    /** As it is stored now. */
    async stored({ id }: { id: string }): Promise<Delivery> {
      const [delivery] = await stores.deliveries.getMany([id]);
      if (delivery === undefined) throw new Error(`There is no ${id}.`);
      return delivery;
    },
    /** Ids and scores in the set of events. */
    dueIds: () => membersOf(upstash, eventsKey),
    async fresh() {
      await upstash.fresh();
      logged.length = 0;
      const before = receivers.splice(0);
      await Promise.all(before.map(({ server }) => server.close()));
      await Promise.all(before.map(({ endpoint }) => stores.endpoints.remove(endpoint.id)));
    },
    async close() {
      await Promise.all(receivers.map(({ server }) => server.close()));
      await Promise.all([upstash.close(), dynamo.close()]);
    },
  };
}

export type DeliveryParts = Awaited<ReturnType<typeof startDeliveryParts>>;
