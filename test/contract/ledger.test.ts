import { type DynamoDBClient, GetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CostEntry } from '../../lib/cost.ts';
import { JobStoreError } from '../../lib/errors.ts';
import { DynamoLedger } from '../../lib/job-store/dynamo-ledger.ts';
import { dynamoClient, startTestDynamo, type TestDynamo, testClock } from '../support/dynamo.ts';
import { json, type Received, type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

const entryOf = (given: Partial<CostEntry>): CostEntry => ({
  ...{
    day: '2026-10-01',
    account: 'sume',
    owner: 'acme',
    jobs: 1,
    estimatedMicros: 1_512_000,
    billedMicros: 1_500_000,
  },
  ...given,
});
const amounts = (jobs: number) => ({ jobs, estimatedMicros: jobs * 1_512_000, billedMicros: jobs * 1_500_000 });

describe('the ledger in DynamoDB', () => {
  let dynamo: TestDynamo;
  let table: string;
  let ledger: DynamoLedger;
  beforeAll(async () => {
    dynamo = await startTestDynamo();
  });
  afterAll(() => dynamo.close());
  const fresh = async () => {
    table = await dynamo.createTable();
    ledger = new DynamoLedger(dynamo.client, table, testClock());
  };

  test('adds entries to the totals of their owner and of all owners, day by day', async () => {
    await fresh();
    await ledger.add([
      entryOf({}),
      entryOf({ owner: 'globex' }),
      entryOf({ account: 'studio' }),
      entryOf({ day: '2026-10-02' }),
    ]);
    await ledger.add([entryOf({})]);
    const days = ['2026-10-01', '2026-10-02', '2026-10-03'];
    const all = { owner: null };
    expect(await ledger.read(days, ['sume', 'studio', 'unused'], null)).toEqual([
      { day: '2026-10-01', account: 'sume', ...all, ...amounts(3) },
      { day: '2026-10-01', account: 'studio', ...all, ...amounts(1) },
      { day: '2026-10-02', account: 'sume', ...all, ...amounts(1) },
    ]);
    expect(await ledger.read(days, ['sume'], 'acme')).toEqual([
      { day: '2026-10-01', account: 'sume', owner: 'acme', ...amounts(2) },
      { day: '2026-10-02', account: 'sume', owner: 'acme', ...amounts(1) },
    ]);
    expect(await ledger.read(days, ['sume'], 'nobody')).toEqual([]);
    expect(await ledger.read([], ['sume'], null)).toEqual([]);
  });

  test('loses nothing to drains that add at the same time', async () => {
    await fresh();
    const owners = Array.from({ length: 60 }, (_, n) => entryOf({ owner: `owner-${n}` }));
    await Promise.all(Array.from({ length: 5 }, () => ledger.add(owners)));
    expect(await ledger.read(['2026-10-01'], ['sume'], null)).toMatchObject([amounts(300)]);
    expect(await ledger.read(['2026-10-01'], ['sume'], 'owner-59')).toMatchObject([amounts(5)]);
  });

  test('keeps an owner apart whose name looks like another key', async () => {
    await fresh();
    await ledger.add([entryOf({ owner: 'a_b' }), entryOf({ owner: 'a' }), entryOf({ owner: 'a' })]);
    expect(await ledger.read(['2026-10-01'], ['sume'], 'a_b')).toMatchObject([amounts(1)]);
    expect(await ledger.read(['2026-10-01'], ['sume'], 'a')).toMatchObject([amounts(2)]);
  });

  test('is in none of the indexes, and gone after 400 days', async () => {
    await fresh();
    await ledger.add([entryOf({})]);
    const key = { id: { S: 'cost_2026-10-01_sume_acme' } };
    const { Item: item = {} } = await dynamo.client.send(new GetItemCommand({ TableName: table, Key: key }));
    expect(Object.keys(item).sort()).toEqual(['billed_micros', 'estimated_micros', 'expires_at', 'id', 'job_count']);
    expect(new Date(Number(item.expires_at?.N) * 1000).toISOString()).toBe('2027-11-06T00:00:00.000Z');
    const list = new QueryCommand({
      TableName: table,
      IndexName: 'by-owner',
      KeyConditionExpression: '#owner = :owner',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: { ':owner': { S: 'acme' } },
    });
    expect((await dynamo.client.send(list)).Count).toBe(0);
  });

  test('reads more than a hundred days and accounts', async () => {
    await fresh();
    const days = Array.from({ length: 31 }, (_, n) => `2026-10-${String(n + 1).padStart(2, '0')}`);
    const accounts = ['a', 'b', 'c', 'd', 'e'];
    await ledger.add(days.map((day, n) => entryOf({ day, account: accounts[n % 5] as string })));
    expect(await ledger.read(days, accounts, null)).toHaveLength(31);
  });
});

describe('the ledger when DynamoDB fails', () => {
  let server: ScriptedServer;
  let client: DynamoDBClient;
  let clock: ReturnType<typeof testClock>;
  let ledger: DynamoLedger;
  beforeAll(async () => {
    server = await startScriptedServer();
    client = dynamoClient(server.url, 1, 300);
    clock = testClock();
    ledger = new DynamoLedger(client, 'scripted', clock);
  });
  afterAll(async () => {
    client.destroy();
    await server.close();
  });
  const keysOf = (request: Received): { id: { S: string } }[] => JSON.parse(request.body).RequestItems.scripted.Keys;

  test('asks again for what was left undone, after growing waits, and gives up in the end', async () => {
    const days = Array.from({ length: 9 }, (_, n) => `2026-10-0${n + 1}`);
    server.reply = (request) => {
      const [first, ...left] = keysOf(request);
      const UnprocessedKeys = left.length === 0 ? {} : { scripted: { Keys: left } };
      return json({ Responses: { scripted: [{ ...first, job_count: { N: '2' } }] }, UnprocessedKeys });
    };
    const read = await ledger.read(days.slice(0, 4), ['sume'], null);
    expect(read.map(({ day, jobs }) => [day, jobs])).toEqual(days.slice(0, 4).map((day) => [day, 2]));
    expect(clock.slept).toEqual([50, 100, 200]);
    await expect(ledger.read(days, ['sume'], null)).rejects.toThrow(JobStoreError);
    server.reply = () => json({});
    await expect(ledger.read(days, ['sume'], null)).rejects.toThrow('with nothing');
  });

  test('shows an amount that is none as nothing', async () => {
    server.reply = (request) =>
      json({
        Responses: { scripted: [{ ...keysOf(request)[0], job_count: { S: 'x' }, billed_micros: { N: '1e300' } }] },
      });
    expect(await ledger.read(['2026-10-01'], ['sume'], null)).toMatchObject([{ jobs: 0, billedMicros: 0 }]);
  });

  test('writes the others when one write fails, and then says so', async () => {
    server.received = [];
    server.reply = (request) =>
      request.body.includes('_globex') ? json({ __type: 'x#ValidationException', message: 'no' }, 400) : json({});
    const added = ledger.add([entryOf({ owner: 'globex' }), entryOf({}), entryOf({ account: 'studio' })]);
    await expect(added).rejects.toThrow(JobStoreError);
    expect(server.received).toHaveLength(5);
  });
});
