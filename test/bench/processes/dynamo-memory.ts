/**
 * DynamoDB reduced to the calls that the drain and the sweep make, kept in memory and answered at once: for what dynalite is too
 * slow for (a hundred thousand records; a thousand writes a second). It holds the records of jobs 0 to JOBS - 1 when it starts.
 * `GET /__counts` answers like dynalite's in infra/local/dynamo/dynamo.ts, and counts what a call reads of an index as well.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Item } from '../../../lib/job-store/item-fields.ts';
import { shardOf, toItem } from '../../../lib/job-store/job-item.ts';
import type { Ready } from '../../support/node-process.ts';
import { runningJob } from '../running-job.ts';

interface Call {
  Key?: { id: { S: string } };
  Item?: Item;
  RequestItems?: Record<string, { Keys?: { id: { S: string } }[] } | { PutRequest: { Item: Item } }[]>;
  UpdateExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
}

/** An index page ends at 1 MB; an entry of the index `active` (table key, index key) is billed at about this. */
const indexEntryBytes = 150;
const pageEntries = Math.floor((1024 * 1024) / indexEntryBytes);

const items = new Map<string, Item>();
const counts = { reads: 0, writes: 0, recordWrites: 0, indexReads: 0, indexPages: 0 };
for (let job = 0; job < Number(process.env.JOBS ?? 0); job++) put(toItem(runningJob(job, Date.now())));
const idsByShard = byShard([...items.keys()].sort());

function byShard(ids: readonly string[]): Map<number, string[]> {
  const shards = new Map<number, string[]>();
  for (const id of ids) shards.get(shardOf(id))?.push(id) ?? shards.set(shardOf(id), [id]);
  return shards;
}

function put(item: Item): void {
  items.set(item.id?.S ?? '', item);
}

const acts: Record<string, (call: Call) => object | 'condition failed'> = {
  GetItem: ({ Key }) => {
    counts.reads++;
    const item = items.get(Key?.id.S ?? '');
    return item === undefined ? {} : { Item: item };
  },
  BatchGetItem: ({ RequestItems = {} }) => {
    const [table = '', asked] = Object.entries(RequestItems)[0] ?? [];
    const keys = asked !== undefined && 'Keys' in asked ? (asked.Keys ?? []) : [];
    counts.reads += keys.length;
    return {
      Responses: { [table]: keys.map(({ id }) => items.get(id.S)).filter((item) => item !== undefined) },
      UnprocessedKeys: {},
    };
  },
  PutItem: ({ Item }) => {
    counts.writes++;
    counts.recordWrites++;
    if (Item !== undefined) put(Item);
    return {};
  },
  BatchWriteItem: ({ RequestItems = {} }) => {
    const requests = Object.values(RequestItems)[0];
    if (Array.isArray(requests)) for (const { PutRequest } of requests) put(PutRequest.Item);
    return { UnprocessedItems: {} };
  },
  UpdateItem: (call) => {
    counts.writes++;
    if (call.Key?.id.S.startsWith('job_') === true) counts.recordWrites++;
    const item = items.get(call.Key?.id.S ?? '');
    if (item?.revision?.N !== call.ExpressionAttributeValues?.[':expected']?.N) return 'condition failed';
    put(updated(item as Item, call));
    return {};
  },
  Query: ({ ExpressionAttributeValues = {} }) => {
    const ids = idsByShard.get(Number(ExpressionAttributeValues[':shard']?.S)) ?? [];
    const after = ExpressionAttributeValues[':after']?.S ?? '';
    const start = ids.findIndex((id) => id > after);
    const page = start < 0 ? [] : ids.slice(start, start + pageEntries);
    counts.indexPages++;
    counts.indexReads += page.length;
    const more = start >= 0 && start + pageEntries < ids.length;
    return {
      Items: page.map((id) => ({ id: { S: id } })),
      Count: page.length,
      ...(more && { LastEvaluatedKey: { id: { S: page.at(-1) ?? '' } } }),
    };
  },
};

/** Of an expression only what the job store writes: `SET #a = :a, … REMOVE #b, …`. */
function updated(item: Item, call: Call): Item {
  const [sets = '', removes = ''] = (call.UpdateExpression ?? '').replace(/^SET /, '').split(' REMOVE ');
  const named = (place: string) => call.ExpressionAttributeNames?.[place.trim()] ?? place.trim();
  const next = { ...item };
  for (const [place = '', value = ''] of sets.split(', ').map((set) => set.split(' = '))) {
    const given = call.ExpressionAttributeValues?.[value.trim()];
    if (given !== undefined) next[named(place)] = given;
  }
  for (const place of removes.split(', ')) delete next[named(place)];
  return next;
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method === 'GET') return void response.end(JSON.stringify(counts));
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const answer = acts[operation]?.(JSON.parse(Buffer.concat(chunks).toString()) as Call);
    response.setHeader('content-type', 'application/x-amz-json-1.0');
    if (answer === undefined || answer === 'condition failed') response.statusCode = 400;
    response.end(
      JSON.stringify(answer === undefined ? unknown(operation) : answer === 'condition failed' ? stale : answer),
    );
  });
});
server.keepAliveTimeout = 60_000;

const stale = {
  __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
  message: 'The conditional request failed',
};
const unknown = (operation: string) => ({
  __type: 'com.amazonaws.dynamodb.v20120810#ValidationException',
  message: `${operation} is not among the calls of this stand-in`,
});

process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ kind: 'ready', url: `http://127.0.0.1:${port}` } satisfies Ready);
});
