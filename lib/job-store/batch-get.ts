import { BatchGetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { JobStoreError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { attempt } from './attempt.ts';
import type { Item } from './item-fields.ts';

const batchMax = 100;
const unprocessedTriesMax = 8;

/** Those of the items that there are, in any order. The ids are all different. Rejects with a JobStoreError. */
export async function batchGet(
  client: DynamoDBClient,
  table: string,
  ids: readonly string[],
  clock: Pick<Clock, 'sleep'>,
): Promise<Item[]> {
  const chunks: Item[][] = [];
  for (let start = 0; start < ids.length; start += batchMax) {
    chunks.push(ids.slice(start, start + batchMax).map((id) => ({ id: { S: id } })));
  }
  return (await Promise.all(chunks.map((keys) => getChunk(client, table, keys, clock)))).flat();
}

async function getChunk(
  client: DynamoDBClient,
  table: string,
  wanted: Item[],
  clock: Pick<Clock, 'sleep'>,
): Promise<Item[]> {
  const items: Item[] = [];
  let keys = wanted;
  for (let tries = 0; keys.length > 0; tries++) {
    if (tries === unprocessedTriesMax)
      throw new JobStoreError(`DynamoDB left ${keys.length} reads undone, again and again.`);
    if (tries > 0) await clock.sleep(25 * 2 ** tries);
    const request = { RequestItems: { [table]: { Keys: keys, ConsistentRead: true } } };
    const reply = await attempt(() => client.send(new BatchGetItemCommand(request)));
    // An answer without both says nothing of its keys: taking them for absent would drop live jobs.
    if (reply.Responses === undefined && reply.UnprocessedKeys === undefined) {
      throw new JobStoreError('DynamoDB answered a batch read with nothing.');
    }
    items.push(...(reply.Responses?.[table] ?? []));
    keys = reply.UnprocessedKeys?.[table]?.Keys ?? [];
  }
  return items;
}
