import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Batch } from '../../lib/batch.ts';
import { JobStoreError } from '../../lib/errors.ts';
import { batchIdFor, deliveryIdFor } from '../../lib/identify.ts';
import { deliveryMapping } from '../../lib/job-store/delivery-item.ts';
import { endpointMapping } from '../../lib/job-store/endpoint-item.ts';
import type { Item } from '../../lib/job-store/item-fields.ts';
import { retentionMs, shardCount, shardOf } from '../../lib/job-store/job-item.ts';
import type { Delivery } from '../../lib/webhooks/delivery.ts';
import { testDelivery, testEndpoint } from '../support/deliveries.ts';
import { dynamoClient, type LossyProxy, putJobs, startLossyProxy, testJob, testNowMs } from '../support/dynamo.ts';
import { type EventStores, eventStoresOver, startEventStores } from '../support/event-stores.ts';

/* Endpoints, deliveries and batches in the one table, on dynalite through the real client. */

let on: EventStores;
let proxy: LossyProxy;
let client: DynamoDBClient;
/** The same table, its answers lost on the way as often as asked. */
let lossy: ReturnType<typeof eventStoresOver>;
let count = 0;
const newId = (kind = 'dlv') => `${kind}_${++count}`;
const put = (item: Item) => on.dynamo.client.send(new PutItemCommand({ TableName: on.table, Item: item }));

beforeAll(async () => {
  on = await startEventStores();
  proxy = await startLossyProxy(on.dynamo.url);
  client = dynamoClient(proxy.url);
  lossy = eventStoresOver(client, on);
});
afterAll(async () => {
  client.destroy();
  await proxy.close();
  await on.close();
});
beforeEach(() => {
  on.clock.ms = testNowMs;
  on.logged.length = 0;
});

async function losing<T>(act: () => Promise<T>): Promise<T> {
  const before = proxy.lost();
  proxy.loseReplies(1);
  const result = await act();
  expect(proxy.lost() - before).toBe(1);
  return result;
}

describe('endpoints', () => {
  const shown = (list: { id: string }[]) => list.map(({ id }) => id);

  test('come back as they were written, secrets included, and are of their owner alone', async () => {
    const first = testEndpoint({ owner: 'acme', url: 'https://a.example/1', description: 'The desk' });
    const second = testEndpoint({
      ...{ owner: 'acme', url: 'https://a.example/2', events: ['job.failed'], createdAtMs: testNowMs + 5 },
      ...{ state: 'disabled', disabledBy: 'gone', disabledAtMs: testNowMs + 6 },
    });
    const own = testEndpoint({ owner: 'acme', url: 'https://a.example/own', kind: 'job', createdAtMs: testNowMs + 9 });
    const other = testEndpoint({ owner: 'globex', url: 'https://a.example/1' });
    for (const endpoint of [first, second, own, other])
      expect(await on.endpoints.create(endpoint)).toEqual({ kind: 'created' });
    expect(await on.endpoints.get(second.id)).toEqual(second);
    expect(await on.endpoints.list('acme', 'registered')).toEqual([second, first]);
    expect(shown(await on.endpoints.list('acme', 'job'))).toEqual([own.id]);
    expect(shown(await on.endpoints.list('acme'))).toEqual([own.id, second.id, first.id]);
    expect(await on.endpoints.list('acm')).toEqual([]);
    await on.endpoints.remove(first.id);
    await on.endpoints.remove(first.id);
    expect(await on.endpoints.get(first.id)).toBeNull();
    expect(shown(await on.endpoints.list('acme', 'registered'))).toEqual([second.id]);
    expect((await on.store.list('acme', { limit: 10 })).jobs).toEqual([]);
  });

  test('are made once: the second of two keeps the first one’s secret, and a lost answer is no second', async () => {
    const mine = testEndpoint({ owner: 'initech', url: 'https://b.example/' });
    expect(await losing(() => lossy.endpoints.create(mine))).toEqual({ kind: 'created' });
    const late = { ...mine, secrets: [{ secret: 'whsec_other', createdAtMs: testNowMs }] };
    expect(await on.endpoints.create(late)).toEqual({ kind: 'exists', endpoint: mine });
  });

  test('are changed by one of two writers', async () => {
    const found = testEndpoint({ owner: 'hooli', url: 'https://c.example/' });
    await on.endpoints.create(found);
    const events = { ...found, events: ['job.completed' as const] };
    expect(await losing(() => lossy.endpoints.update(events))).toEqual({
      kind: 'updated',
      endpoint: { ...events, revision: 2 },
    });
    expect(await on.endpoints.update({ ...found, description: 'late' })).toEqual({ kind: 'stale' });
    expect(await on.endpoints.update({ ...events, events: null, revision: 2 })).toMatchObject({ kind: 'updated' });
    expect(await on.endpoints.get(found.id)).toEqual({ ...found, revision: 3 });
  });

  test('that can’t be read are left out of a list, and no message tells a secret', async () => {
    const sound = testEndpoint({ owner: 'umbrella', url: 'https://d.example/' });
    const broken = testEndpoint({ owner: 'umbrella', url: 'https://e.example/' });
    await on.endpoints.create(sound);
    await put({ ...endpointMapping.toItem(broken), secrets: { S: '["whsec_sesame"]' } });
    expect(await on.endpoints.list('umbrella')).toEqual([sound]);
    const failure = await on.endpoints.get(broken.id).catch((error: unknown) => error);
    expect(failure).toMatchObject({ broken: true, message: expect.stringContaining('secrets') });
    expect(on.logged).toMatchObject([{ event: 'item_broken', fields: { id: broken.id, kind: 'endpoint' } }]);
    expect(`${String(failure)} ${JSON.stringify(on.logged)}`).not.toContain('sesame');
  });
});

describe('deliveries', () => {
  test('T95 keep the very bytes of their body, and are written once', async () => {
    const delivery = testDelivery({ id: newId() });
    await losing(() => lossy.deliveries.create(delivery));
    await on.deliveries.create({ ...delivery, body: 'another', state: 'canceled' });
    expect(await on.deliveries.getMany(['dlv_none', delivery.id, delivery.id])).toEqual([delivery]);
  });

  test('T101 are written by one of two workers, and a lost answer is no loss of the race', async () => {
    const delivery = testDelivery({ id: newId() });
    await on.deliveries.create(delivery);
    const log = [{ atMs: testNowMs, status: 503, tookMs: 12, fault: null, snippet: 'no "quotes" 🎬' }];
    const failed = { ...delivery, attempts: 1, nextAtMs: testNowMs + 5_000, log };
    expect(await losing(() => lossy.deliveries.update(failed))).toEqual({
      kind: 'updated',
      delivery: { ...failed, revision: 2 },
    });
    expect(await on.deliveries.update({ ...failed, attempts: 7 })).toEqual({ kind: 'stale' });
    expect(await on.deliveries.getMany([delivery.id])).toEqual([{ ...failed, revision: 2 }]);
  });

  test('T102 are listed at their endpoint while they are pending, and by their owner when they are dead', async () => {
    const made = Array.from({ length: 5 }, (_, n) =>
      testDelivery({ id: newId(), owner: 'lists', endpointId: 'whe_lists', createdAtMs: testNowMs + n }),
    );
    for (const delivery of [...made, testDelivery({ id: newId(), owner: 'lists', endpointId: 'bus' })])
      await on.deliveries.create(delivery);
    const ids = async (of: { deadOf: string } | { pendingAt: string }) =>
      (await on.deliveries.list(of, { limit: 10 })).deliveries.map(({ id }) => id);
    const newest = made.map(({ id }) => id).reverse();
    expect(await ids({ pendingAt: 'whe_lists' })).toEqual(newest);
    expect(await ids({ pendingAt: 'bus' })).toEqual([]);
    for (const dead of made.slice(0, 3)) await on.deliveries.update({ ...dead, state: 'dead', endedAtMs: testNowMs });
    expect(await ids({ pendingAt: 'whe_lists' })).toEqual(newest.slice(0, 2));
    expect(await ids({ deadOf: 'list' })).toEqual([]);
    const first = await on.deliveries.list({ deadOf: 'lists' }, { limit: 2 });
    expect(first.deliveries.map(({ id }) => id)).toEqual(newest.slice(2, 4));
    const rest = await on.deliveries.list({ deadOf: 'lists' }, { limit: 2, ...(first.next && { after: first.next }) });
    expect(rest.deliveries.map(({ id }) => id)).toEqual(newest.slice(4));
    // Asked for again, it is pending again, and is kept.
    const { endedAtMs: _, ...again }: Delivery = { ...(made[0] as Delivery), revision: 2 };
    await on.deliveries.update(again);
    expect(await ids({ deadOf: 'lists' })).toEqual(newest.slice(2, 4));
    on.clock.ms += 2 * retentionMs;
    expect(await on.deliveries.getMany(made.map(({ id }) => id))).toMatchObject([{ id: made[0]?.id }, {}, {}]);
    expect((await on.store.list('lists', { limit: 10 })).jobs).toEqual([]);
  });

  test('are found by the sweep while they are pending, beside open batches, and apart from jobs', async () => {
    const ids = Array.from({ length: 12 }, (_, n) => deliveryIdFor('evt_sweep', `whe_${n}`));
    for (const id of ids) await on.deliveries.create(testDelivery({ id }));
    const [delivered = '', ...pending] = ids;
    await on.deliveries.update({ ...testDelivery({ id: delivered }), state: 'delivered', endedAtMs: testNowMs });
    await on.batches.touch({ owner: 'acme', name: 'sweep', atMs: testNowMs });
    const shards = Array.from({ length: shardCount }, (_, shard) => shard);
    const pages = await Promise.all(shards.map((shard) => on.deliveries.pendingIds(shard)));
    const found = pages.flatMap(({ ids: page }) => page);
    expect(found).toEqual(expect.arrayContaining([...pending, batchIdFor('acme', 'sweep')]));
    expect(found).not.toContain(delivered);
    for (const [shard, { ids: page }] of pages.entries()) expect(page.every((id) => shardOf(id) === shard)).toBe(true);
    expect((await Promise.all(shards.map((shard) => on.store.activeIds(shard)))).flatMap((page) => page.ids)).toEqual(
      [],
    );
  });

  test('that can’t be read are left out, with a line in the log', async () => {
    const sound = testDelivery({ id: newId() });
    await on.deliveries.create(sound);
    const strange: Item[] = [
      { state: { S: 'lost' } },
      { type: { S: 'job.sung' } },
      { log: { S: '[1]' } },
      { attempts: { N: '-1' } },
      { body: { N: '1' } },
    ];
    const ids = strange.map(() => newId());
    for (const [n, item] of strange.entries())
      await put({ ...deliveryMapping.toItem(testDelivery({ id: ids[n] ?? '' })), ...item });
    await put({ id: { S: newId() } });
    expect(await on.deliveries.getMany([...ids, `dlv_${count}`, sound.id])).toEqual([sound]);
    expect(on.logged.map(({ event }) => event)).toEqual(Array(6).fill('item_broken'));
  });
});

describe('batches', () => {
  const touch = (name: string, given: { atMs?: number; webhookUrl?: string } = {}) =>
    on.batches.touch({ owner: 'acme', name, atMs: testNowMs, ...given });
  const read = async (name: string) => (await on.batches.get(batchIdFor('acme', name))) as Batch;

  test('are made by the first touch, and remember the last one and the first URL', async () => {
    expect(await losing(() => lossy.batches.touch({ owner: 'acme', name: 'night', atMs: testNowMs }))).toBe('open');
    const first = await read('night');
    expect(first).toMatchObject({ owner: 'acme', name: 'night', createdAtMs: testNowMs, touchedAtMs: testNowMs });
    await touch('night', { atMs: testNowMs + 9_000, webhookUrl: 'https://a.example/1' });
    // By a clock that is behind.
    expect(await touch('night', { atMs: testNowMs + 2_000, webhookUrl: 'https://a.example/2' })).toBe('open');
    const last = await read('night');
    expect(last).toMatchObject({ touchedAtMs: testNowMs + 9_000, webhookUrl: 'https://a.example/1' });
    expect(last.revision).toBeGreaterThan(first.revision + 1);
    expect(await on.batches.get(batchIdFor('globex', 'night'))).toBeNull();
  });

  test('touched by thirty at once stay open, and each touch counts', async () => {
    const touches = Array.from({ length: 30 }, (_, n) => touch('crowd', { atMs: testNowMs + (n % 3) }));
    expect(new Set(await Promise.all(touches))).toEqual(new Set(['open']));
    expect(await read('crowd')).toMatchObject({ touchedAtMs: testNowMs + 2, revision: 30 });
  });

  test('that have ended take nothing more, until their time is over', async () => {
    await touch('done', { webhookUrl: 'https://a.example/1' });
    const open = await read('done');
    const ended: Batch = { ...open, completedAtMs: testNowMs, counts: { completed: 2 }, pending: true };
    expect(await losing(() => lossy.batches.update(ended))).toEqual({
      kind: 'updated',
      batch: { ...ended, revision: open.revision + 1 },
    });
    expect(await touch('done', { atMs: testNowMs + 1 })).toBe('completed');
    expect(await on.batches.update({ ...open, deliveries: [] })).toEqual({ kind: 'stale' });
    expect(await read('done')).toEqual({ ...ended, revision: open.revision + 1 });
    on.clock.ms += retentionMs + 1_000;
    expect(await on.batches.get(open.id)).toBeNull();
    expect(await touch('done', { atMs: on.clock.ms })).toBe('open');
    expect(await read('done')).toEqual({
      ...{ id: open.id, owner: 'acme', name: 'done', createdAtMs: on.clock.ms, touchedAtMs: on.clock.ms, revision: 1 },
    });
  });

  test('a touch between the look and the end keeps a batch open', async () => {
    await touch('race');
    const seen = await read('race');
    await touch('race', { atMs: testNowMs + 70_000 });
    const ended = { ...seen, completedAtMs: testNowMs + 70_000, counts: {}, pending: true as const };
    expect(await on.batches.update(ended)).toEqual({ kind: 'stale' });
  });

  test('know all their jobs, more than one page of them, and none of another owner', async () => {
    const batch = 'b'.repeat(64);
    const ids = Array.from({ length: 1_300 }, (_, n) => `job_${String(n).padStart(5, '0')}${'x'.repeat(900)}`);
    const jobs = ids.map((id, n) => testJob({ id, batch, input: {}, state: n % 2 ? 'waiting' : 'completed' }));
    await putJobs(on.dynamo.client, on.table, jobs);
    await putJobs(on.dynamo.client, on.table, [testJob({ id: newId('job'), batch, owner: 'globex' })]);
    const found = await on.batches.jobs(batchIdFor('acme', batch));
    expect(found.map(({ id }) => id)).toEqual(ids);
    expect(found.slice(0, 2).map(({ state }) => state)).toEqual(['completed', 'waiting']);
    expect(await on.batches.jobs(batchIdFor('acme', 'none'))).toEqual([]);
  });

  test('that can’t be read reject, and say which field', async () => {
    await put({ id: { S: 'bat_broken' }, belongs_to: { S: 'acme' }, name: { S: 'x' }, created_at_ms: { N: '1' } });
    await expect(on.batches.get('bat_broken')).rejects.toThrow(
      new JobStoreError("The batch bat_broken can't be read: attribute touched_at_ms is missing.", true),
    );
  });
});
