import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import type { Job } from '../../lib/job.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import { toItem } from '../../lib/job-store/job-item.ts';
import type { JobStore } from '../../lib/ports.ts';
import { dynamoClient, testClock, testJob, testNowMs } from '../support/dynamo.ts';
import {
  type Answer,
  answer,
  hang,
  json,
  type Received,
  rawThenClose,
  reset,
  type ScriptedServer,
  startScriptedServer,
} from '../support/scripted-server.ts';

/* What the store does when DynamoDB, or the way to it, fails: the real AWS client against a server that follows a script. */

const errorType = 'com.amazonaws.dynamodb.v20120810#';
const failure = (type: string, more = {}) => json({ __type: `${errorType}${type}`, message: 'scripted', ...more }, 400);

describe('scripted answers', () => {
  let server: ScriptedServer;
  let client: DynamoDBClient;
  let clock: ReturnType<typeof testClock>;
  let store: JobStore;

  beforeAll(async () => {
    server = await startScriptedServer();
    client = dynamoClient(server.url, 2, 200);
  });
  afterAll(async () => {
    client.destroy();
    await server.close();
  });
  beforeEach(() => {
    clock = testClock();
    store = new DynamoJobStore(client, 'scripted', clock);
  });

  const job = testJob({ id: 'job_1' });
  const asked = (nth: number) => JSON.parse(server.received[nth]?.body ?? 'null');
  const keysOf = (request: Received): { id: { S: string } }[] => JSON.parse(request.body).RequestItems.scripted.Keys;

  /** A batch read that does `take` of its keys and leaves the rest. */
  function doing(take: (keys: { id: { S: string } }[]) => number): (request: Received) => Answer {
    return (request) => {
      const keys = keysOf(request);
      const done = take(keys);
      const items = keys.slice(0, done).map(({ id }) => toItem(testJob({ id: id.S })));
      const left = keys.slice(done);
      const UnprocessedKeys = left.length === 0 ? {} : { scripted: { Keys: left, ConsistentRead: true } };
      return json({ Responses: { scripted: items }, UnprocessedKeys });
    };
  }

  const ids = Array.from({ length: 150 }, (_, n) => `job_${n}`);

  test('T79 reads left undone are asked for again, after growing waits, to the end: none is absent', async () => {
    server.received = [];
    server.reply = doing((keys) => Math.ceil(keys.length / 3));
    const read = await store.getMany(ids.slice(0, 12));
    expect(read).toMatchObject({ broken: [], absent: [] });
    expect(read.jobs.map(({ id }) => id).sort()).toEqual(ids.slice(0, 12).sort());
    expect(server.received.map((request) => keysOf(request).length)).toEqual([12, 8, 5, 3, 2, 1]);
    expect(clock.slept).toEqual([...clock.slept].sort((a, b) => a - b));
    expect(clock.slept).toHaveLength(5);
    for (const request of server.received)
      expect(JSON.parse(request.body).RequestItems.scripted.ConsistentRead).toBe(true);
  });

  test('T79 reads left undone for ever end in a JobStoreError, not in absence', async () => {
    server.received = [];
    server.reply = doing(() => 0);
    await expect(store.getMany(ids.slice(0, 100))).rejects.toThrow(JobStoreError);
    expect(server.received.length).toBe(8);
  });

  test('T79 a hundred keys at most go into one batch', async () => {
    server.received = [];
    server.reply = doing((keys) => keys.length);
    expect((await store.getMany(ids)).jobs).toHaveLength(150);
    expect(server.received.map((request) => keysOf(request).length).sort()).toEqual([100, 50].sort());
  });

  const entry = (n: number) => ({
    id: { S: `job_${n}` },
    owner: { S: 'acme' },
    created_at_ms: { N: String(testNowMs - n) },
  });

  test('T77 list goes on over empty pages that carry a key, and ends on an empty key', async () => {
    const pages = [
      { Items: [], ScannedCount: 250, LastEvaluatedKey: entry(1) },
      { Items: [], ScannedCount: 250, LastEvaluatedKey: entry(2) },
      { Items: [entry(3)], ScannedCount: 250, LastEvaluatedKey: {} },
    ];
    server.received = [];
    server.reply = (request, nth) => {
      if (request.headers['x-amz-target']?.endsWith('.Query')) return json(pages[nth - 1]);
      return json({ Responses: { scripted: [toItem({ ...job, id: 'job_3', state: 'failed' })] } });
    };
    const page = await store.list('acme', { state: 'failed', limit: 5 });
    expect(page).toMatchObject({ jobs: [{ id: 'job_3' }], next: null });
    expect([asked(0).ExclusiveStartKey, asked(1).ExclusiveStartKey, asked(2).ExclusiveStartKey]).toEqual([
      undefined,
      entry(1),
      entry(2),
    ]);
  });

  test('T77 list hands back where to go on when it has read enough without a find', async () => {
    server.received = [];
    server.reply = (_, nth) => json({ Items: [], ScannedCount: 250, LastEvaluatedKey: entry(nth) });
    const page = await store.list('acme', { state: 'failed', limit: 5 });
    expect(page).toEqual({ jobs: [], next: { id: 'job_4', createdAtMs: testNowMs - 4 } });
  });

  test('T77 active ids: an empty page with a key is not the end, an empty key is', async () => {
    const LastEvaluatedKey = { id: { S: 'job_5' }, active: { S: '3' } };
    server.script(
      json({ Items: [], LastEvaluatedKey }),
      json({ Items: [{ id: { S: 'job_6' } }], LastEvaluatedKey: {} }),
    );
    expect(await store.activeIds(3)).toEqual({ ids: [], next: 'job_5' });
    expect(await store.activeIds(3, 'job_5')).toEqual({ ids: ['job_6'], next: null });
    expect(asked(1).ExpressionAttributeValues).toEqual({ ':shard': { S: '3' }, ':after': { S: 'job_5' } });
  });

  test('the item on the exception spares a read: create and update tell what is stored', async () => {
    const other = { ...job, createdAtMs: testNowMs - 1 };
    server.script(failure('ConditionalCheckFailedException', { Item: toItem(other) }));
    expect(await store.create(job)).toEqual({ kind: 'exists', job: other });
    expect(asked(0).ReturnValuesOnConditionCheckFailure).toBe('ALL_OLD');
    expect(await store.update(job)).toEqual({ kind: 'stale' });
    server.script(failure('ConditionalCheckFailedException', { Item: toItem(job) }));
    expect(await store.create(job)).toEqual({ kind: 'created' });
    expect(server.received).toHaveLength(1);
    server.script(failure('ConditionalCheckFailedException', { Item: toItem({ ...job, revision: 2 }) }));
    expect(await store.update(job)).toEqual({ kind: 'updated', job: { ...job, revision: 2 } });
  });

  test('a record that vanished between the failed condition and the read rejects, to be tried again', async () => {
    server.script(failure('ConditionalCheckFailedException'), json({}));
    await expect(store.create(job)).rejects.toThrow(JobStoreError);
    server.script(failure('ConditionalCheckFailedException'), json({}));
    expect(await store.update(job)).toEqual({ kind: 'stale' });
  });

  const calls: [string, (store: JobStore, job: Job) => Promise<unknown>][] = [
    ['create', (s, j) => s.create(j)],
    ['update', (s, j) => s.update(j)],
    ['get', (s, j) => s.get(j.id)],
    ['getMany', (s, j) => s.getMany([j.id])],
    ['list', (s, j) => s.list(j.owner, { limit: 5 })],
    ['activeIds', (s) => s.activeIds(0)],
  ];

  test.each(calls)(
    '%s: throttling, an error of the server, a hang, a reset and nonsense all end in a JobStoreError',
    async (_, call) => {
      const faults: [Answer, number][] = [
        [failure('ProvisionedThroughputExceededException'), 2],
        [failure('ThrottlingException'), 2],
        [json({ message: 'oh' }, 503), 2],
        [hang, 2],
        [reset, 2],
        [rawThenClose('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"Item'), 2],
        [answer(200, '<html>'), 1],
        [failure('ResourceNotFoundException'), 1],
        [failure('AccessDeniedException'), 1],
      ];
      await Promise.all(
        faults.map(async ([fault, triesMax]) => {
          const own = await startScriptedServer();
          const ownClient = dynamoClient(own.url, 2, 200);
          own.script(fault);
          const startedAtMs = performance.now();
          await expect(call(new DynamoJobStore(ownClient, 'scripted', clock), job)).rejects.toThrow(JobStoreError);
          expect(performance.now() - startedAtMs).toBeLessThan(5_000);
          expect(own.received.length).toBeGreaterThanOrEqual(1);
          expect(own.received.length).toBeLessThanOrEqual(triesMax);
          ownClient.destroy();
          await own.close();
        }),
      );
    },
  );

  test('T68 nobody listens: a JobStoreError at once', async () => {
    const gone = await startScriptedServer();
    await gone.close();
    const ownClient = dynamoClient(gone.url, 2);
    await expect(new DynamoJobStore(ownClient, 'scripted', clock).get('job_1')).rejects.toThrow(JobStoreError);
    ownClient.destroy();
  });

  test('no message of the store carries the job: what it says may be logged', async () => {
    server.script(failure('ValidationException'));
    const secret = { ...job, input: { prompt: 'secret prompt' } };
    const told = await store.create(secret).catch((error: unknown) => String(error));
    expect(told).toContain('ValidationException');
    expect(told).not.toContain('secret prompt');
  });
});
