import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import {
  DeleteTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { startDynamo } from '../../infra/local/dynamo.ts';
import { ensureTable } from '../../infra/local/ensure-table.ts';
import { acceptedJob, type Job } from '../../lib/job.ts';

const region = process.env.AWS_REGION ?? 'us-east-1';
const credentials = {
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? 'local',
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? 'local',
};

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
      await ensureTable({ endpoint: url, tableName, region, credentials, emulated: own !== undefined });
      tables.push(tableName);
      return tableName;
    },
    async close() {
      if (own === undefined) await Promise.all(tables.map((table) => dropTable(client, table)));
      client.destroy();
      await own?.close();
    },
  };
}

/** The real client with every limit the product sets, only shorter. */
export function dynamoClient(endpoint: string, given: Pick<DynamoDBClientConfig, 'maxAttempts'> = {}): DynamoDBClient {
  const requestHandler = { connectionTimeout: 500, requestTimeout: 2_000, throwOnRequestTimeout: true };
  return new DynamoDBClient({ endpoint, region, credentials, requestHandler, maxAttempts: 3, ...given });
}

async function dropTable(client: DynamoDBClient, TableName: string): Promise<void> {
  await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
  await client.send(new DeleteTableCommand({ TableName }));
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
