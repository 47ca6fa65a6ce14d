import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { enter } from '../../lib/job.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import type { JobStore } from '../../lib/ports.ts';
import {
  dynamoClient,
  type LossyProxy,
  startLossyProxy,
  startTestDynamo,
  type TestDynamo,
  testClock,
  testJob,
  testNowMs,
} from '../support/dynamo.ts';

/* The database did it, and its answer never came: the real AWS client repeats the call behind a proxy that loses answers. */

describe('a reply lost after the write was carried out', () => {
  let dynamo: TestDynamo;
  let proxy: LossyProxy;
  let client: DynamoDBClient;
  let store: JobStore;
  let direct: JobStore;
  let jobs = 0;

  beforeAll(async () => {
    dynamo = await startTestDynamo();
    const table = await dynamo.createTable();
    proxy = await startLossyProxy(dynamo.url);
    client = dynamoClient(proxy.url);
    store = new DynamoJobStore(client, table, testClock());
    direct = new DynamoJobStore(dynamo.client, table, testClock());
  });
  afterAll(async () => {
    client.destroy();
    await proxy.close();
    await dynamo.close();
  });
  const newJob = () => testJob({ id: `job_${++jobs}` });

  /** The act with its first replies lost; each of them was sent and executed. */
  async function losing<T>(count: number, act: () => Promise<T>): Promise<T> {
    const before = proxy.lost();
    proxy.loseReplies(count);
    const result = await act();
    expect(proxy.lost() - before).toBe(count);
    return result;
  }

  test.each([1, 2])('T71 %i times over, a create recognises its own write', async (count) => {
    const job = newJob();
    expect(await losing(count, () => store.create(job))).toEqual({ kind: 'created' });
    expect(await direct.get(job.id)).toEqual(job);
  });

  test('T71 a create still tells the job of another', async () => {
    const other = newJob();
    await direct.create(other);
    const mine = { ...other, createdAtMs: testNowMs + 1, fingerprint: 'e'.repeat(64) };
    expect(await losing(1, () => store.create(mine))).toEqual({ kind: 'exists', job: other });
  });

  test.each([1, 2])('T71 %i times over, an update recognises its own write', async (count) => {
    const job = newJob();
    await direct.create(job);
    const next = enter(
      { ...job, providerJobId: 'p1', usage: { capturedMicros: 7 } },
      'queued',
      testNowMs + 5,
      'queued',
    );
    expect(await losing(count, () => store.update(next))).toEqual({ kind: 'updated', job: { ...next, revision: 2 } });
    expect(await direct.get(job.id)).toEqual({ ...next, revision: 2 });
  });

  test('T71 the update that ends a job recognises its own write', async () => {
    const job = newJob();
    await direct.create(job);
    const ended = enter(
      { ...job, result: { value: { url: 'https://a/🎬' }, truncated: false } },
      'completed',
      testNowMs,
    );
    expect(await losing(1, () => store.update(ended))).toMatchObject({ kind: 'updated' });
  });

  test('T71 an update does not take the write of another for its own', async () => {
    const job = newJob();
    await direct.create(job);
    const theirs = await direct.update(enter(job, 'canceled', testNowMs + 5));
    expect(await losing(1, () => store.update(enter(job, 'submitting', testNowMs + 5)))).toEqual({ kind: 'stale' });
    expect(theirs).toEqual({ kind: 'updated', job: await direct.get(job.id) });
  });

  test('every reply lost: the create rejects, and its repeat by the caller meets its own record', async () => {
    const job = newJob();
    await expect(losing(4, () => store.create(job))).rejects.toThrow(JobStoreError);
    expect(await store.create({ ...job, createdAtMs: testNowMs + 900 })).toEqual({ kind: 'exists', job });
  });
});
