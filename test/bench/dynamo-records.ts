import { type AttributeValue, BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ensureTable } from '../../infra/local/dynamo/ensure-table.ts';
import { toItem } from '../../lib/job-store/job-item.ts';
import { benchRegion, benchTable } from './bench-names.ts';
import { runningJob } from './running-job.ts';

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const batchMax = 25;
const batchesAtATime = 4;

export async function startDynamoTable(endpoint: string): Promise<void> {
  await ensureTable({ endpoint, tableName: benchTable, region: benchRegion, credentials, emulated: true });
}

/** Writes the records of jobs 0 to `jobs` - 1, over whatever was there. */
export async function writeRunningJobs(endpoint: string, jobs: number): Promise<void> {
  const client = new DynamoDBClient({ endpoint, region: benchRegion, credentials });
  const nowMs = Date.now();
  let next = 0;
  const lane = async () => {
    while (next < jobs) {
      const first = next;
      next += batchMax;
      const items: Record<string, AttributeValue>[] = [];
      for (let job = first; job < Math.min(next, jobs); job++) items.push(toItem(runningJob(job, nowMs)));
      await writeAll(client, items);
    }
  };
  await Promise.all(Array.from({ length: batchesAtATime }, lane));
  client.destroy();
}

async function writeAll(client: DynamoDBClient, items: Record<string, AttributeValue>[]): Promise<void> {
  const requests = items.map((Item) => ({ PutRequest: { Item } }));
  const { UnprocessedItems } = await client.send(
    new BatchWriteItemCommand({ RequestItems: { [benchTable]: requests } }),
  );
  const left = UnprocessedItems?.[benchTable]?.length ?? 0;
  if (left > 0) throw new Error(`The DynamoDB stand-in left ${left} of ${items.length} records unwritten.`);
}
