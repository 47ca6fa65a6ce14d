import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { endpointIdFor } from '../../lib/identify.ts';
import { DynamoBatches } from '../../lib/job-store/dynamo-batches.ts';
import { DynamoDeliveries } from '../../lib/job-store/dynamo-deliveries.ts';
import { DynamoEndpoints } from '../../lib/job-store/dynamo-endpoints.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import type { Item } from '../../lib/job-store/item-fields.ts';
import type { Log, LogFields } from '../../lib/log.ts';
import type { Delivery } from '../../lib/webhooks/delivery.ts';
import type { Endpoint } from '../../lib/webhooks/endpoint.ts';
import { startTestDynamo, type TestDynamo, testClock, testNowMs } from './dynamo.ts';

/** The adapters, over one client. */
export function eventStoresOver(
  client: TestDynamo['client'],
  { table, clock, log }: { table: string; clock: ReturnType<typeof testClock>; log: Log },
) {
  return {
    store: new DynamoJobStore(client, table, clock),
    endpoints: new DynamoEndpoints(client, table, clock, log),
    deliveries: new DynamoDeliveries(client, table, clock, log),
    batches: new DynamoBatches(client, table, clock, log),
  };
}

/** All that is kept of events, in a new table; `clock` is theirs. */
export async function startEventStores() {
  const dynamo = await startTestDynamo();
  const table = await dynamo.createTable();
  const clock = testClock();
  const logged: { event: string; fields: LogFields | undefined }[] = [];
  const note = (event: string, fields?: LogFields) => void logged.push({ event, fields });
  const log: Log = { info: note, warn: note, error: note };
  return {
    ...{ dynamo, table, clock, log, logged },
    ...eventStoresOver(dynamo.client, { table, clock, log }),
    /** Every item whose id begins so, straight from the table. */
    async itemsOf(prefix: string): Promise<Item[]> {
      const items: Item[] = [];
      let start: Item | undefined;
      do {
        const page = await dynamo.client.send(
          new ScanCommand({
            TableName: table,
            FilterExpression: 'begins_with(id, :prefix)',
            ExpressionAttributeValues: { ':prefix': { S: prefix } },
            ...(start === undefined ? {} : { ExclusiveStartKey: start }),
          }),
        );
        items.push(...(page.Items ?? []));
        start = page.LastEvaluatedKey;
      } while (start !== undefined);
      return items;
    },
    close: () => dynamo.close(),
  };
}

export type EventStores = Awaited<ReturnType<typeof startEventStores>>;

export function testEndpoint(given: Partial<Endpoint> & { owner: string; url: string }): Endpoint {
  return {
    id: endpointIdFor(given.owner, given.url),
    kind: 'registered',
    events: null,
    description: '',
    state: 'enabled',
    secrets: [{ secret: `whsec_${'A'.repeat(43)}=`, createdAtMs: testNowMs }],
    createdAtMs: testNowMs,
    updatedAtMs: testNowMs,
    revision: 1,
    ...given,
  };
}

export function testDelivery(given: Partial<Delivery> & { id: string }): Delivery {
  return {
    owner: 'acme',
    subjectId: 'job_1',
    eventId: 'evt_1',
    type: 'job.completed',
    endpointId: 'whe_1',
    body: '{"type":"job.completed","data":{"text":"\u2028 🎬 0.30000000000000004"}}',
    state: 'pending',
    attempts: 0,
    nextAtMs: testNowMs,
    createdAtMs: testNowMs,
    updatedAtMs: testNowMs,
    log: [],
    revision: 1,
    ...given,
  };
}
