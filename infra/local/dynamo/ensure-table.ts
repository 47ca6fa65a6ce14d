import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  ResourceNotFoundException,
  type TableDescription,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { differences, readTableDefinition, type TableExtras } from './table-definition.ts';

export interface EnsureTableOptions {
  endpoint: string;
  tableName: string;
  region: string;
  /** Absent: those that the AWS SDK finds. */
  credentials?: { accessKeyId: string; secretAccessKey: string };
  /** Our own dynalite knows neither point-in-time recovery nor expiry: they are not asked of it. */
  emulated: boolean;
  /** Default infra/table.yml. */
  template?: string;
}

export interface EnsuredTable {
  created: boolean;
  /** What this DynamoDB can't do, in words; the jobs don't need it. */
  notes: string[];
}

const activeDeadlineMs = 60_000;

/** Creates the table of infra/table.yml if it is absent. Throws an error, one line, if the one there has another shape. */
export async function ensureTable(options: EnsureTableOptions): Promise<EnsuredTable> {
  const template = options.template ?? readFileSync(new URL('../../table.yml', import.meta.url), 'utf8');
  const { input, extras } = readTableDefinition(template, options.tableName);
  const client = new DynamoDBClient({
    endpoint: options.endpoint,
    region: options.region,
    ...(options.credentials && { credentials: options.credentials }),
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
  try {
    const found = await describe(client, options.tableName);
    if (found === undefined) await create(client, new CreateTableCommand(input));
    const table = await whenActive(client, options);
    const unlike = differences(input, table);
    if (unlike.length > 0) {
      throw new Error(`Table ${options.tableName} at ${options.endpoint} has another shape: ${unlike.join('; ')}.`);
    }
    const notes = found === undefined ? await addExtras(client, options, extras) : [];
    return { created: found === undefined, notes };
  } finally {
    client.destroy();
  }
}

async function describe(client: DynamoDBClient, tableName: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: tableName }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

async function create(client: DynamoDBClient, command: CreateTableCommand): Promise<void> {
  try {
    await client.send(command);
  } catch (error) {
    // Somebody else was quicker: theirs is checked like any other.
    if (!(error instanceof ResourceInUseException)) throw error;
  }
}

async function whenActive(
  client: DynamoDBClient,
  { tableName, endpoint }: EnsureTableOptions,
): Promise<TableDescription> {
  const deadlineMs = performance.now() + activeDeadlineMs;
  for (let waitMs = 10; performance.now() < deadlineMs; waitMs = Math.min(1_000, waitMs * 2)) {
    const table = await describe(client, tableName);
    if (table?.TableStatus === 'ACTIVE' || table?.TableStatus === 'UPDATING') return table;
    await sleep(waitMs);
  }
  throw new Error(`Table ${tableName} at ${endpoint} was not ready within ${activeDeadlineMs / 1000} s.`);
}

async function addExtras(
  client: DynamoDBClient,
  { tableName, emulated }: EnsureTableOptions,
  { pointInTimeRecovery, timeToLiveAttribute }: TableExtras,
): Promise<string[]> {
  const notes: string[] = [];
  const attempt = async (what: string, act: () => Promise<unknown>) => {
    try {
      if (!emulated) await act();
      else notes.push(`no ${what} (the emulator has none)`);
    } catch (error) {
      notes.push(`no ${what} (${error instanceof Error ? error.message || error.name : error})`);
    }
  };
  if (pointInTimeRecovery) {
    const specification = { PointInTimeRecoveryEnabled: true };
    await attempt('point-in-time recovery', () =>
      client.send(
        new UpdateContinuousBackupsCommand({ TableName: tableName, PointInTimeRecoverySpecification: specification }),
      ),
    );
  }
  if (timeToLiveAttribute !== undefined) {
    const specification = { AttributeName: timeToLiveAttribute, Enabled: true };
    await attempt('expiry of old items', () =>
      client.send(new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification: specification })),
    );
  }
  return notes;
}
