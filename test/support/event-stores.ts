import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { DynamoBatches } from '../../lib/job-store/dynamo-batches.ts';
import { DynamoDeliveries } from '../../lib/job-store/dynamo-deliveries.ts';
import { DynamoEndpoints } from '../../lib/job-store/dynamo-endpoints.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import type { Item } from '../../lib/job-store/item-fields.ts';
import type { Log, LogFields } from '../../lib/log.ts';
import { startTestDynamo, type TestDynamo, testClock } from './dynamo.ts';

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
