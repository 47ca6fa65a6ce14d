import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { BatchWriteItemCommand, DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { startDynamo } from '../../infra/local/dynamo/dynamo.ts';
import { ensureTable } from '../../infra/local/dynamo/ensure-table.ts';
import { acceptedJob, type Job } from '../../lib/job.ts';
import { toItem } from '../../lib/job-store/job-item.ts';

const region = process.env.AWS_REGION ?? 'us-east-1';
const credentials = {
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? 'local',
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? 'local',
};

/** The product's table, but free to be deleted. */
const template = readFileSync(new URL('../../infra/table.yml', import.meta.url), 'utf8').replace(
  'DeletionProtectionEnabled: true',
  'DeletionProtectionEnabled: false',
);

export interface TestDynamo {
  url: string;
  client: DynamoDBClient;
  /** A new, empty table of infra/table.yml's shape; its name. */
  createTable(): Promise<string>;
  close(): Promise<void>;
}

/** The DynamoDB at DYNAMODB_ENDPOINT, else dynalite in this process. Tables made there are deleted at the end. */
export async function startTestDynamo(): Promise<TestDynamo> {
  const given = process.env.DYNAMODB_ENDPOINT;
  const own = given === undefined || given === '' ? await startDynamo() : undefined;
  const url = own?.url ?? String(given);
  const client = dynamoClient(url);
  const tables: string[] = [];
  return {
    url,
    client,
    async createTable() {
      const tableName = `pollkeeper-test-${randomUUID()}`;
      await ensureTable({ endpoint: url, tableName, region, credentials, emulated: own !== undefined, template });
      tables.push(tableName);
      return tableName;
    },
    async close() {
      if (own === undefined)
        await Promise.all(tables.map((TableName) => client.send(new DeleteTableCommand({ TableName }))));
      client.destroy();
      await own?.close();
    },
  };
}

/** The real client with the limits that the product sets; `requestTimeoutMs` bounds one try. */
export function dynamoClient(endpoint: string, maxAttempts = 4, requestTimeoutMs = 3_000): DynamoDBClient {
  const requestHandler = { connectionTimeout: 1_000, requestTimeout: requestTimeoutMs, throwOnRequestTimeout: true };
  return new DynamoDBClient({ endpoint, region, credentials, requestHandler, maxAttempts });
}

/** Writes records as they are, past the store, a few batches at a time: many are quickly there. */
export async function putJobs(client: DynamoDBClient, table: string, jobs: readonly Job[]): Promise<void> {
  for (let start = 0; start < jobs.length; start += 100) {
    const batches = [0, 25, 50, 75].map((offset) => jobs.slice(start + offset, start + offset + 25));
    const writes = batches.map(async (batch) => {
      if (batch.length === 0) return;
      const puts = batch.map((job) => ({ PutRequest: { Item: toItem(job) } }));
      const reply = await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: puts } }));
      const undone = reply.UnprocessedItems?.[table]?.length ?? 0;
      if (undone > 0) throw new Error(`DynamoDB left ${undone} writes undone`);
    });
    await Promise.all(writes);
  }
}

export interface LossyProxy {
  url: string;
  /** The next answers, this many, are thrown away after the database has given them; their connections die. */
  loseReplies(count: number): void;
  lost(): number;
  close(): Promise<void>;
}

/** A TCP proxy in front of a database: what is lost on it has been carried out. */
export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let toLose = 0;
  let lost = 0;
  const listener = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.on('data', (chunk) => {
      if (near.destroyed) return;
      if (toLose === 0) return void near.write(chunk);
      toLose--;
      lost++;
      near.resetAndDestroy();
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    loseReplies(count) {
      toLose = count;
    },
    lost: () => lost,
    async close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}

/** The time of every test that sets none, ms since 1970. */
export const testNowMs = 1_800_000_000_000;

export function testClock(nowMs = testNowMs) {
  const clock = {
    ms: nowMs,
    /** Every wait that was asked for, ms. */
    slept: [] as number[],
    nowMs: () => clock.ms,
    monotonicMs: () => clock.ms,
    sleep: async (delayMs: number) => void clock.slept.push(delayMs),
  };
  return clock;
}

/** A waiting job, one hour before its deadline. */
export function testJob(given: Partial<Job> & { id: string }): Job {
  const fresh = acceptedJob(
    {
      id: given.id,
      owner: 'acme',
      account: 'sume',
      input: { model: 'seedance-2-mini', prompt: 'a lighthouse' },
      fingerprint: 'f'.repeat(64),
      metadata: {},
      deadlineAtMs: testNowMs + 3_600_000,
    },
    testNowMs,
  );
  return { ...fresh, ...given };
}
