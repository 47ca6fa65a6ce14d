import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { ListPosition } from '../ports.ts';
import { attempt } from './attempt.ts';
import type { Item } from './item-fields.ts';

/* One page of an index each. What they find may be slightly stale. They reject with a JobStoreError. */

interface Page<Position> {
  items: Item[];
  /** How many entries were read, those that a filter left out included. */
  scanned: number;
  /** Where the next page starts; null at the end. */
  next: Position | null;
}

/** What a partition of an index is asked for. `state`: only entries in it. */
export interface IndexQuery {
  limit?: number;
  state?: string | undefined;
}

/** Of everything under `owner`, newest first. */
export async function queryByOwner(
  client: DynamoDBClient,
  table: string,
  owner: string,
  query: IndexQuery & { after?: ListPosition | undefined },
): Promise<Page<ListPosition>> {
  const start = query.after && {
    id: { S: query.after.id },
    owner: { S: owner },
    created_at_ms: { N: String(query.after.createdAtMs) },
  };
  const command = queryOf(table, { index: 'by-owner', key: 'owner', value: owner, newestFirst: true }, query, start);
  return readPage(client, command, positionOf);
}

/** Of a batch's jobs, by id. */
export async function queryByBatch(
  client: DynamoDBClient,
  table: string,
  batchId: string,
  query: IndexQuery & { after?: string | undefined },
): Promise<Page<string>> {
  const start = query.after === undefined ? undefined : { id: { S: query.after }, batch_id: { S: batchId } };
  const command = queryOf(table, { index: 'by-batch', key: 'batch_id', value: batchId }, query, start);
  return readPage(client, command, idOf);
}

/** Of the ids in a partition of what is active, by id. */
export async function queryActive(
  client: DynamoDBClient,
  table: string,
  partition: string,
  after?: string,
): Promise<{ ids: string[]; next: string | null }> {
  const command = new QueryCommand({
    TableName: table,
    IndexName: 'active',
    KeyConditionExpression: after === undefined ? 'active = :shard' : 'active = :shard AND id > :after',
    ExpressionAttributeValues: {
      ':shard': { S: partition },
      ...(after === undefined ? {} : { ':after': { S: after } }),
    },
  });
  const { items, next } = await readPage(client, command, idOf);
  return { ids: items.map(idOf), next };
}

/** Of an entry in the index of owners. */
export function positionOf(item: Item): ListPosition {
  return { id: idOf(item), createdAtMs: Number(item.created_at_ms?.N) };
}

export function idOf(item: Item): string {
  return item.id?.S ?? '';
}

interface Partition {
  index: string;
  key: string;
  value: string;
  newestFirst?: boolean;
}

function queryOf(
  table: string,
  { index, key, value, newestFirst = false }: Partition,
  { limit, state }: IndexQuery,
  start: Item | undefined,
): QueryCommand {
  return new QueryCommand({
    TableName: table,
    IndexName: index,
    KeyConditionExpression: '#key = :key',
    ExpressionAttributeNames: { '#key': key, ...(state === undefined ? {} : { '#state': 'state' }) },
    ExpressionAttributeValues: { ':key': { S: value }, ...(state === undefined ? {} : { ':state': { S: state } }) },
    ...(state === undefined ? {} : { FilterExpression: '#state = :state' }),
    ScanIndexForward: !newestFirst,
    ...(limit === undefined ? {} : { Limit: limit }),
    ...(start === undefined ? {} : { ExclusiveStartKey: start }),
  });
}

async function readPage<Position>(
  client: DynamoDBClient,
  command: QueryCommand,
  position: (item: Item) => Position,
): Promise<Page<Position>> {
  const { Items = [], ScannedCount = 0, LastEvaluatedKey: last } = await attempt(() => client.send(command));
  const more = last !== undefined && Object.keys(last).length > 0;
  return { items: Items, scanned: ScannedCount, next: more ? position(last) : null };
}
