import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { jobIdFor } from '../../lib/identify.ts';
import { enter, type Job, type JobState, jobStates } from '../../lib/job.ts';
import type { Item } from '../../lib/job-store/item-fields.ts';
import { shardCount, shardOf, toItem } from '../../lib/job-store/job-item.ts';
import type { JobPage, JobStore, ListPosition } from '../../lib/ports.ts';
import { testJob, testNowMs } from '../support/dynamo.ts';
import { jobStores, useDynamoJobStore } from '../support/job-stores.ts';

/* The record's contract: reading it by id, in batches, by owner, by shard. */

let jobs = 0;
const newId = () => `job_${++jobs}`;

/** All pages, following the positions; gives up after a hundred. */
async function pagesOf(
  store: JobStore,
  owner: string,
  query: { state?: JobState; batch?: string; limit: number },
  between?: () => Promise<unknown>,
) {
  const found: JobPage[] = [];
  let after: ListPosition | undefined;
  do {
    const page = await store.list(owner, { ...query, ...(after === undefined ? {} : { after }) });
    found.push(page);
    after = page.next ?? undefined;
    await between?.();
  } while (after !== undefined && found.length < 100);
  return found;
}

const idsOf = (found: JobPage[]) => found.flatMap((page) => page.jobs.map(({ id }) => id));

type PagesGiven = [
  owner: string,
  query: { state?: JobState; batch?: string; limit: number },
  between?: () => Promise<unknown>,
];

describe.each(jobStores)('the record $name', ({ use }) => {
  const on = use();
  const pages = (...given: PagesGiven) => pagesOf(on.store, ...given);

  async function created(given: Partial<Job> = {}): Promise<Job> {
    const job = testJob({ id: newId(), ...given });
    await on.store.create(job);
    return job;
  }

  describe('reading by id', () => {
    test('of what is not there is null', async () => {
      expect(await on.store.get('job_none')).toBeNull();
      expect(await on.store.getMany([])).toEqual({ jobs: [], broken: [], absent: [] });
    });

    test('many takes more than one batch holds and says which are absent', async () => {
      const ids = Array.from({ length: 230 }, newId);
      await on.fill(ids.map((id) => testJob({ id })));
      const read = await on.store.getMany(['job_x', ...ids, 'job_y', ids[0] ?? '']);
      expect(read.jobs.map(({ id }) => id).sort()).toEqual([...ids].sort());
      expect(read).toMatchObject({ absent: ['job_x', 'job_y'], broken: [] });
    });

    test('sees a write at once', async () => {
      const job = await created();
      await on.store.update(enter(job, 'submitting', testNowMs));
      expect(await on.store.get(job.id)).toMatchObject({ state: 'submitting' });
      expect((await on.store.getMany([job.id])).jobs).toMatchObject([{ state: 'submitting' }]);
    });
  });

  describe('listing', () => {
    let owner: string;
    beforeEach(() => {
      owner = `owner-${newId()}`;
    });

    /** `count` jobs, three for each millisecond, in a row of states. */
    async function fill(count: number, states: readonly JobState[] = ['waiting']): Promise<Job[]> {
      const rows = Array.from({ length: count }, (_, n) => {
        const state = states[n % states.length] ?? 'waiting';
        return testJob({ id: newId(), owner, createdAtMs: testNowMs + Math.floor(n / 3), state });
      });
      await on.fill(rows);
      return rows;
    }

    test('is newest first, and shows an owner its own jobs only', async () => {
      const [first, second, third] = await Promise.all(
        [1, 2, 3].map((n) => created({ owner, createdAtMs: testNowMs + n })),
      );
      await created({ owner: `${owner}-other` });
      expect(await on.store.list(owner, { limit: 10 })).toEqual({ jobs: [third, second, first], next: null });
      expect(await on.store.list(`${owner}-none`, { limit: 10 })).toEqual({ jobs: [], next: null });
    });

    test.each([1, 2, 7, 50, 100])('T137 in pages of %i finds each of 50 jobs once, over equal times', async (limit) => {
      const all = await fill(50);
      const found = await pages(owner, { limit });
      expect(found.every((page) => page.jobs.length <= limit)).toBe(true);
      const ids = idsOf(found);
      expect([...ids].sort()).toEqual(all.map(({ id }) => id).sort());
      const times = found.flatMap((page) => page.jobs.map(({ createdAtMs }) => createdAtMs));
      expect(times).toEqual([...times].sort((a, b) => b - a));
      expect(idsOf(await pages(owner, { limit: 100 }))).toEqual(ids);
    });

    test('T137 loses and repeats nothing while jobs change and new ones come in between the pages', async () => {
      const all = await fill(60);
      let turn = 0;
      const found = await pages(owner, { limit: 7 }, async () => {
        const job = all[turn++];
        if (job !== undefined) await on.store.update(enter(job, 'processing', testNowMs + 99));
        await created({ owner, createdAtMs: testNowMs + 1_000 + turn });
      });
      expect(idsOf(found).sort()).toEqual(all.map(({ id }) => id).sort());
    });

    test('by state finds exactly those, in pages, also when they are few among many', async () => {
      const all = await fill(120, ['waiting', 'waiting', 'waiting', 'completed', 'waiting', 'failed']);
      const wanted = all.filter(({ state }) => state === 'completed').map(({ id }) => id);
      for (const limit of [1, 6, 20, 100]) {
        const found = await pages(owner, { state: 'completed', limit });
        expect(found.every((page) => page.jobs.length <= limit)).toBe(true);
        expect(idsOf(found).sort()).toEqual([...wanted].sort());
      }
      expect(idsOf(await pages(owner, { state: 'lost', limit: 5 }))).toEqual([]);
    });

    test('of a batch finds exactly its jobs, by id, in pages and by state, and none of another owner', async () => {
      const rows = Array.from({ length: 60 }, (_, n) =>
        testJob({
          ...{ id: newId(), owner, createdAtMs: testNowMs - n, state: n % 4 === 0 ? 'failed' : 'waiting' },
          ...(n % 3 === 0 ? { batch: 'night' } : {}),
        }),
      );
      await on.fill([...rows, testJob({ id: newId(), owner: `${owner}-other`, batch: 'night' })]);
      const night = rows.filter(({ batch }) => batch === 'night');
      for (const limit of [1, 7, 100]) {
        const ids = idsOf(await pages(owner, { batch: 'night', limit }));
        expect(ids).toEqual(night.map(({ id }) => id).sort());
        const failed = idsOf(await pages(owner, { batch: 'night', state: 'failed', limit }));
        expect(failed).toEqual(
          night
            .filter(({ state }) => state === 'failed')
            .map(({ id }) => id)
            .sort(),
        );
      }
      expect(idsOf(await pages(owner, { batch: 'day', limit: 5 }))).toEqual([]);
    });

    test('from a position of a job that is gone goes on behind it', async () => {
      await fill(9);
      const [newest] = (await on.store.list(owner, { limit: 1 })).jobs;
      const after = { id: 'job_gone', createdAtMs: (newest as Job).createdAtMs - 1 };
      const { jobs: older } = await on.store.list(owner, { limit: 20, after });
      expect(older.length).toBeGreaterThanOrEqual(3);
      expect(older.every(({ createdAtMs }) => createdAtMs <= after.createdAtMs)).toBe(true);
    });
  });

  describe('active ids', () => {
    test('are exactly those of the active jobs and of those with untold events, each in its own shard', async () => {
      const { store: own, fill } = await on.empty();
      const all = Array.from({ length: 240 }, (_, n) =>
        testJob({ id: jobIdFor('acme', `key-${n}`), state: jobStates[n % jobStates.length] ?? 'waiting' }),
      );
      await fill(all);
      const ended = { ...enter(all[0] as Job, 'completed', testNowMs), events: [] };
      await own.update(ended);
      const untold = all.find(({ state }) => state === 'failed') as Job;
      await own.update({ ...untold, events: [{ id: 'evt_1', type: 'job.failed', atMs: testNowMs, pending: true }] });
      const active = ['waiting', 'submitting', 'queued', 'processing', 'overdue'];
      const wanted = all
        .filter(({ state, id }) => id === untold.id || (active.includes(state) && id !== ended.id))
        .map(({ id }) => id);
      const shards = await Promise.all(Array.from({ length: shardCount }, (_, shard) => own.activeIds(shard)));
      expect(shards.flatMap(({ ids }) => ids).sort()).toEqual(wanted.sort());
      for (const [shard, { ids, next }] of shards.entries()) {
        expect(next).toBeNull();
        expect(ids.every((id) => shardOf(id) === shard)).toBe(true);
      }
      expect(await own.activeIds(shardCount)).toEqual({ ids: [], next: null });
    });

    test('T77 of a shard too large for one page come in several, each once', async () => {
      const { store: own, fill } = await on.empty();
      const wanted = Array.from({ length: on.overPage }, (_, n) => `${String(n).padStart(5, '0')}${'x'.repeat(950)}`);
      await fill(wanted.map((id) => testJob({ id, input: {} })));
      const found: string[][] = [];
      let after: string | undefined;
      do {
        const { ids, next } = await own.activeIds(shardOf('x'), after);
        found.push(ids);
        after = next ?? undefined;
      } while (after !== undefined && found.length < 10);
      expect(found.length).toBeGreaterThan(1);
      expect(found.flat()).toEqual(wanted);
    });
  });
});

describe('the items in DynamoDB', () => {
  const on = useDynamoJobStore();
  const put = (item: Item) => on.dynamo.client.send(new PutItemCommand({ TableName: on.table, Item: item }));

  test('many reads say which are absent and which are broken', async () => {
    const there = [testJob({ id: newId() }), testJob({ id: newId() })];
    await on.fill(there);
    const badId = newId();
    const lessId = newId();
    await put({ ...toItem(testJob({ id: badId })), history: { N: '1' } });
    const { deadline_at_ms, ...less } = toItem(testJob({ id: lessId }));
    await put(less);
    const ids = there.map(({ id }) => id);
    const read = await on.store.getMany(['job_x', ...ids, badId, 'job_y', lessId]);
    expect(read.jobs.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(read.absent).toEqual(['job_x', 'job_y']);
    expect(new Map(read.broken.map(({ id, reason }) => [id, reason]))).toEqual(
      new Map([
        [lessId, 'attribute deadline_at_ms is missing'],
        [badId, 'attribute history is not list'],
      ]),
    );
  });

  test('one that is broken rejects and names the field', async () => {
    const id = newId();
    await put({ ...toItem(testJob({ id })), state: { S: 'paused' } });
    const told = new JobStoreError(`The record of ${id} can't be read: state "paused" is unknown.`, true);
    await expect(on.store.get(id)).rejects.toThrow(told);
  });

  test('a write of another is seen at once', async () => {
    const { id } = testJob({ id: newId() });
    await on.fill([testJob({ id })]);
    await on.dynamo.client.send(
      new UpdateItemCommand({
        ...{ TableName: on.table, Key: { id: { S: id } }, UpdateExpression: 'SET provider_status = :word' },
        ExpressionAttributeValues: { ':word': { S: 'seen' } },
      }),
    );
    expect(await on.store.get(id)).toMatchObject({ providerStatus: 'seen' });
    expect((await on.store.getMany([id])).jobs).toMatchObject([{ providerStatus: 'seen' }]);
  });

  test('by state reads at most about a thousand entries a page, and goes on from there', async () => {
    const owner = 'owner-of-many';
    const rare = testJob({ id: newId(), owner, createdAtMs: testNowMs - 1, state: 'failed' });
    const many = Array.from({ length: 1_300 }, (_, n) => testJob({ id: newId(), owner, createdAtMs: testNowMs + n }));
    await on.fill([rare, ...many]);
    const [first, second, ...rest] = await pagesOf(on.store, owner, { state: 'failed', limit: 5 });
    expect(first).toMatchObject({ jobs: [], next: { id: expect.any(String) } });
    expect(second).toEqual({ jobs: [rare], next: null });
    expect(rest).toEqual([]);
  });
});
