import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { enter, type Job } from '../../lib/job.ts';
import type { Item } from '../../lib/job-store/item-fields.ts';
import { retentionMs, toItem } from '../../lib/job-store/job-item.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { JobStore } from '../../lib/ports.ts';
import { testJob, testNowMs } from '../support/dynamo.ts';
import { jobStores, useDynamoJobStore } from '../support/job-stores.ts';

/* The record's contract: writing it. */

let jobs = 0;
const newId = () => `job_${++jobs}`;

async function createdIn(store: JobStore, given: Partial<Job> = {}): Promise<Job> {
  const job = testJob({ id: newId(), ...given });
  expect(await store.create(job)).toEqual({ kind: 'created' });
  return job;
}

async function updatedIn(store: JobStore, job: Job): Promise<Job> {
  const result = await store.update(job);
  if (result.kind !== 'updated') throw new Error(`expected an update, not ${result.kind}`);
  return result.job;
}

const endedAtMs = testNowMs - retentionMs;

describe.each(jobStores)('the record $name', ({ use }) => {
  const on = use();
  const created = (given?: Partial<Job>) => createdIn(on.store, given);
  const updated = (job: Job) => updatedIn(on.store, job);

  describe('creating', () => {
    test('keeps the job as it is', async () => {
      const job = await created({ metadata: { order: '7' } });
      expect(await on.store.get(job.id)).toEqual(job);
    });

    test('of a job that is there changes nothing and tells the one there', async () => {
      const first = await created();
      const other = { createdAtMs: testNowMs + 1, input: { prompt: 'another' }, fingerprint: 'e'.repeat(64) };
      expect(await on.store.create({ ...first, ...other })).toEqual({ kind: 'exists', job: first });
      expect(await on.store.get(first.id)).toEqual(first);
    });

    test('of a job that has moved on tells it as it now is', async () => {
      const job = await created();
      const moved = await updated(enter(job, 'submitting', testNowMs + 5));
      expect(await on.store.create(job)).toEqual({ kind: 'exists', job: moved });
    });

    test('T60 by thirty at once leaves one record, and all agree on it', async () => {
      const id = newId();
      const tries = Array.from({ length: 30 }, (_, n) => testJob({ id, createdAtMs: testNowMs + n }));
      const results = await Promise.all(tries.map((job) => on.store.create(job)));
      const stored = await on.store.get(id);
      expect(results.filter(({ kind }) => kind === 'created')).toHaveLength(1);
      const told = results.flatMap((result) => (result.kind === 'exists' ? [result.job] : []));
      expect(told).toEqual(new Array(29).fill(stored));
    });

    test('of a job with a time that is no number is a JobStoreError', async () => {
      const job = testJob({ id: newId(), deadlineAtMs: Number.NaN });
      await expect(on.store.create(job)).rejects.toThrow(JobStoreError);
      expect(await on.store.get(job.id)).toBeNull();
    });

    test('T84 keeps odd values: undefined, empty text, long numbers, NUL, emoji, lone surrogates', async () => {
      const odd = {
        gone: undefined,
        nested: { gone: undefined, list: [null, '', [], {}] },
        long: Number('123456789012345678901234567890'),
        tiny: 5e-324,
        text: 'NUL \u0000, emoji 🎬, lone \ud800 and \udc00, separator \u2028, quote "',
        '': 'empty key',
        'key \u0000 🎬': 1,
      } as unknown as JsonObject;
      const job = await created({ input: odd, metadata: { 'k\u0000🎬\ud800': 'v\u0000🎬\udfff', empty: '' } });
      const ended = enter({ ...job, result: { value: odd, truncated: false } }, 'completed', testNowMs);
      await updated(ended);
      const read = await on.store.get(job.id);
      const kept = JSON.parse(JSON.stringify(odd)) as JsonObject;
      expect(read).toMatchObject({ input: kept, metadata: job.metadata, result: { value: kept, truncated: false } });
      expect(Object.keys(read?.input ?? {})).not.toContain('gone');
    });
  });

  describe('updating', () => {
    test('writes under the right revision and hands back the next', async () => {
      const job = await created();
      const next = await updated(enter(job, 'submitting', testNowMs + 5));
      expect(next).toMatchObject({ state: 'submitting', revision: 2, updatedAtMs: testNowMs + 5 });
      expect(await on.store.get(job.id)).toEqual(next);
    });

    test('under an old revision is stale and changes nothing', async () => {
      const job = await created();
      const next = await updated(enter(job, 'submitting', testNowMs + 5));
      expect(await on.store.update(enter(job, 'canceled', testNowMs + 6))).toEqual({ kind: 'stale' });
      expect(await on.store.get(job.id)).toEqual(next);
    });

    test('once more what was written is written: the first reply was lost, not the race', async () => {
      const job = await created();
      const next = enter({ ...job, providerJobId: 'p1', usage: { capturedMicros: 7 } }, 'queued', testNowMs + 5);
      const written = await updated(next);
      expect(await updated(next)).toEqual(written);
      expect(await on.store.get(job.id)).toEqual(written);
    });

    test('of a job that is not there is stale and creates nothing', async () => {
      const id = newId();
      expect(await on.store.update(testJob({ id }))).toEqual({ kind: 'stale' });
      expect(await on.store.get(id)).toBeNull();
    });

    test('T22 by twenty at once lets one through', async () => {
      const job = await created();
      const tries = Array.from({ length: 20 }, (_, n) => on.store.update(enter(job, 'submitting', testNowMs + n)));
      const kinds = (await Promise.all(tries)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'updated')).toHaveLength(1);
      expect(await on.store.get(job.id)).toMatchObject({ revision: 2 });
    });

    test('removes what the job no longer has', async () => {
      const job = await created({ missingReads: 2, missingSinceMs: testNowMs });
      const { missingSinceMs: _, ...rest } = job;
      await updated({ ...rest, missingReads: 0 });
      expect(await on.store.get(job.id)).not.toHaveProperty('missingSinceMs');
    });

    test('leaves what was written with the record as it is', async () => {
      const job = await created();
      await updated(enter({ ...job, owner: 'mallory', input: {}, createdAtMs: 1 }, 'failed', testNowMs));
      const { owner, input, createdAtMs } = job;
      expect(await on.store.get(job.id)).toMatchObject({ owner, input, createdAtMs, state: 'failed' });
    });
  });

  test('T88 an expired record is gone for get, getMany and list', async () => {
    const owner = 'expired-owner';
    const gone = await created({ owner, state: 'completed', finishedAtMs: endedAtMs });
    const kept = await created({ owner, state: 'completed', finishedAtMs: endedAtMs + 1_000 });
    expect(await on.store.get(gone.id)).toBeNull();
    expect(await on.store.getMany([gone.id, kept.id])).toEqual({ jobs: [kept], broken: [], absent: [gone.id] });
    expect((await on.store.list(owner, { limit: 10 })).jobs).toEqual([kept]);
    expect((await on.store.list(owner, { limit: 10, state: 'completed' })).jobs).toEqual([kept]);
  });

  test('T88 the same id can be created again over an expired record, whole, but not a second earlier', async () => {
    const old = await created({ state: 'completed', finishedAtMs: endedAtMs, providerJobId: 'old', revision: 9 });
    const again = testJob({ id: old.id, createdAtMs: testNowMs + 1 });
    on.clock.ms = testNowMs - 1;
    expect(await on.store.create(again)).toEqual({ kind: 'exists', job: old });
    on.clock.ms = testNowMs;
    expect(await on.store.create(again)).toEqual({ kind: 'created' });
    expect(await on.store.get(old.id)).toEqual(again);
  });
});

describe('the item in DynamoDB', () => {
  const on = useDynamoJobStore();
  const created = (given?: Partial<Job>) => createdIn(on.store, given);
  const updated = (job: Job) => updatedIn(on.store, job);
  const Key = (id: string) => ({ id: { S: id } });
  const put = (item: Item) => on.dynamo.client.send(new PutItemCommand({ TableName: on.table, Item: item }));

  async function itemOf(id: string): Promise<Item | undefined> {
    const command = new GetItemCommand({ TableName: on.table, Key: Key(id), ConsistentRead: true });
    return (await on.dynamo.client.send(command)).Item;
  }

  test('that is broken is left alone by a create, which rejects', async () => {
    const id = newId();
    await put({ ...Key(id), state: { S: 'waiting' } });
    await expect(on.store.create(testJob({ id }))).rejects.toThrow(JobStoreError);
    expect(await itemOf(id)).toEqual({ ...Key(id), state: { S: 'waiting' } });
  });

  test.each<[string, Partial<Job>]>([
    ['600 KB', { input: { prompt: 'x'.repeat(600_000) } }],
    ['an id that is too long', { id: 'x'.repeat(3_000) }],
    ['an empty id', { id: '' }],
  ])('with %s is refused by DynamoDB, and that is a JobStoreError', async (_, given) => {
    await expect(on.store.create(testJob({ id: newId(), ...given }))).rejects.toThrow(JobStoreError);
  });

  test('loses the attributes that the job no longer has', async () => {
    const job = await created({ missingReads: 2, missingSinceMs: testNowMs });
    const { missingSinceMs: _, ...rest } = job;
    await updated({ ...rest, missingReads: 0 });
    expect(await itemOf(job.id)).not.toHaveProperty('missing_since_ms');
  });

  test('T125 keeps attributes of a newer release, and the ones written once, through an update', async () => {
    const job = await created();
    const future: Item = { event: { M: { id: { S: 'evt_1' }, attempts: { N: '2' } } }, priority: { N: '5' } };
    await put({ ...toItem(job), ...future });
    await updated(enter({ ...job, owner: 'mallory', input: {}, createdAtMs: 1 }, 'failed', testNowMs));
    const { owner, input, created_at_ms } = toItem(job);
    expect(await itemOf(job.id)).toMatchObject({ ...future, owner, input, created_at_ms });
  });

  test('T125 of an older release that lacks the newer fields is read and updated', async () => {
    const job = testJob({ id: newId() });
    const { history, missing_reads, result_reads, failures_in_row, provider, ...old } = toItem(job);
    await put(old);
    const read = await on.store.get(job.id);
    expect(read).toMatchObject({ provider: 'sume', history: [], missingReads: 0, resultReads: 0, failuresInRow: 0 });
    expect(await updated(enter(read as Job, 'submitting', testNowMs))).toMatchObject({ revision: 2 });
  });

  test('T87 only an ended job has an expiry, in seconds; only an active one, or one with an event to tell, an index entry', async () => {
    const job = await created();
    expect(await itemOf(job.id)).toMatchObject({ active: { S: expect.any(String) } });
    expect(await itemOf(job.id)).not.toHaveProperty('expires_at');
    const ended = await updated(enter(job, 'completed', testNowMs));
    expect(await itemOf(job.id)).toHaveProperty('active');
    await updated({ ...ended, events: ended.events.map(({ pending: _, ...event }) => event) });
    const item = await itemOf(job.id);
    expect(item).not.toHaveProperty('active');
    const daysLeft = (Number(item?.expires_at?.N) - testNowMs / 1000) / 86_400;
    expect(daysLeft).toBe(30);
  });

  test('T87 a job taken up again loses its expiry', async () => {
    const given = await created({ state: 'given_up', finishedAtMs: testNowMs });
    const { finishedAtMs: _, ...again } = given;
    await updated({ ...again, state: 'overdue' });
    expect(await itemOf(given.id)).not.toHaveProperty('expires_at');
  });

  test('T88 that has expired may still be there, and one created over it has nothing of it', async () => {
    const old = await created({ state: 'completed', finishedAtMs: endedAtMs, providerJobId: 'old', revision: 9 });
    expect(await itemOf(old.id)).toMatchObject({ provider_job_id: { S: 'old' } });
    expect(await on.store.get(old.id)).toBeNull();
    await on.store.create(testJob({ id: old.id, createdAtMs: testNowMs + 1 }));
    expect(await itemOf(old.id)).not.toHaveProperty('provider_job_id');
  });
});
