import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { DynamoRenderTimes } from '../../lib/job-store/dynamo-render-times.ts';
import {
  type Bins,
  generationMax,
  lateMax,
  noBins,
  type RenderSamples,
  type RenderTimesStore,
  spanMinMs,
} from '../../lib/render-times.ts';
import { dynamoClient, startTestDynamo, type TestDynamo, testClock, testNowMs } from '../support/dynamo.ts';
import { MemoryRenderTimes } from '../support/memory-render-times.ts';

let dynamo: TestDynamo;
let table: string;
let clock: ReturnType<typeof testClock>;
let kinds = 0;
let kind: string;
beforeAll(async () => {
  dynamo = await startTestDynamo();
  table = await dynamo.createTable();
});
afterAll(() => dynamo.close());
beforeEach(() => {
  clock = testClock();
  kind = String(++kinds).padStart(32, '0');
});

/** `count` renders last seen running in bin 30 and found ended in bin 31, `atMs` after the test's begin. */
function samples(count: number, given: Partial<RenderSamples> = {}, atMs = 0): RenderSamples {
  const taken = { first: testNowMs + atMs, last: testNowMs + atMs };
  return { seen: inBin(30, count), found: inBin(31, count), delayed: 0, late: 0, atMs: taken, ...given };
}

function inBin(bin: number, count: number): Bins {
  return noBins.map((_, place) => (place === bin ? count : 0));
}

const stores: [string, () => RenderTimesStore][] = [
  ['in DynamoDB', () => new DynamoRenderTimes(dynamo.client, table, clock)],
  ['in memory', () => new MemoryRenderTimes()],
];

describe.each(stores)('render times %s', (_, make) => {
  let store: RenderTimesStore;
  beforeEach(() => {
    store = make();
  });

  test('are null until something is added, and then what was added up', async () => {
    expect(await store.get(kind)).toBeNull();
    await store.add(kind, samples(3, { delayed: 2, late: 1 }));
    await store.add(kind, samples(2, { seen: inBin(0, 2) }, 5_000));
    await store.add(kind, { seen: noBins, found: inBin(63, 1), delayed: 1, late: 0, atMs: null });
    expect(await store.get(kind)).toEqual({
      current: {
        seen: noBins.map((_, bin) => ({ 0: 2, 30: 3 })[bin] ?? 0),
        found: noBins.map((_, bin) => ({ 31: 5, 63: 1 })[bin] ?? 0),
        firstAtMs: testNowMs,
      },
      previous: null,
      lastAtMs: testNowMs + 5_000,
      delayed: 3,
      late: 1,
    });
    expect(await store.get('f'.repeat(32))).toBeNull();
  });

  test('lose nothing that many drains add at once', async () => {
    await Promise.all(Array.from({ length: 40 }, () => store.add(kind, samples(2, { delayed: 1 }))));
    const times = await store.get(kind);
    expect(times?.current.seen).toEqual(inBin(30, 80));
    expect(times?.current.found).toEqual(inBin(31, 80));
    expect(times?.delayed).toBe(40);
  });

  test('turn once when a generation is full, whoever filled it, and count on', async () => {
    await store.add(kind, samples(generationMax - 10));
    await Promise.all(Array.from({ length: 20 }, () => store.add(kind, samples(1, {}, spanMinMs))));
    const turned = await store.get(kind);
    const previous = (turned?.previous?.seen[30] ?? 0) + (turned?.current.seen[30] ?? 0);
    expect(previous).toBe(generationMax + 10);
    expect(turned?.previous?.seen[30]).toBeGreaterThanOrEqual(generationMax);
    expect(turned?.previous?.firstAtMs).toBe(testNowMs);
    await store.add(kind, samples(5, { seen: inBin(20, 5) }, 2 * spanMinMs));
    expect(await store.get(kind)).toMatchObject({
      previous: { seen: turned?.previous?.seen },
      lastAtMs: testNowMs + 2 * spanMinMs,
    });
    expect((await store.get(kind))?.current.seen[20]).toBe(5);
  });

  test('are begun anew once too many first reads were late', async () => {
    await store.add(kind, samples(generationMax, {}, 0));
    await store.add(kind, samples(1, { delayed: 10, late: lateMax }, spanMinMs));
    expect(await store.get(kind)).toEqual({
      current: { seen: noBins, found: noBins, firstAtMs: null },
      previous: null,
      lastAtMs: 0,
      delayed: 0,
      late: 0,
    });
    await store.add(kind, samples(1, {}, spanMinMs));
    expect((await store.get(kind))?.current.firstAtMs).toBe(testNowMs + spanMinMs);
  });
});

describe('the item', () => {
  const dayMs = 24 * 3_600_000;
  const stored = async () =>
    (await dynamo.client.send(new GetItemCommand({ TableName: table, Key: { id: { S: `times_${kind}` } } }))).Item;

  test('is in no index and expires sixty days after its last write', async () => {
    const store = new DynamoRenderTimes(dynamo.client, table, clock);
    await store.add(kind, samples(1));
    clock.ms += dayMs;
    await store.add(kind, samples(1));
    const item = await stored();
    expect(item?.expires_at?.N).toBe(String((testNowMs + 61 * dayMs) / 1_000));
    expect(Object.keys(item ?? {}).filter((name) => ['owner', 'created_at_ms', 'active'].includes(name))).toEqual([]);
  });

  test('counts as gone after that, for whoever reads it and for whoever adds to it', async () => {
    const store = new DynamoRenderTimes(dynamo.client, table, clock);
    await store.add(kind, samples(generationMax, { delayed: 3 }));
    await store.add(kind, samples(1, {}, spanMinMs));
    expect((await store.get(kind))?.previous).not.toBeNull();
    clock.ms += 60 * dayMs;
    expect(await store.get(kind)).toBeNull();
    await Promise.all([1, 2, 3].map(() => store.add(kind, samples(2, { delayed: 1 }, 60 * dayMs))));
    expect(await store.get(kind)).toMatchObject({
      previous: null,
      delayed: 3,
      current: { firstAtMs: testNowMs + 60 * dayMs },
    });
    expect((await store.get(kind))?.current.seen).toEqual(inBin(30, 6));
  });

  test('stays small when every bin of both generations is filled', async () => {
    const store = new DynamoRenderTimes(dynamo.client, table, clock);
    const full = noBins.map(() => 1_000);
    await store.add(kind, samples(0, { seen: full, found: full }));
    await store.add(kind, samples(1, {}, spanMinMs));
    await store.add(kind, samples(0, { seen: full, found: full }, spanMinMs));
    expect(JSON.stringify(await stored()).length).toBeLessThan(8_000);
    expect((await store.get(kind))?.previous?.seen[5]).toBe(1_000);
  });

  test('can not be reached: a JobStoreError, and nothing else', async () => {
    const client: DynamoDBClient = dynamoClient('http://127.0.0.1:1', 1, 300);
    const store = new DynamoRenderTimes(client, table, clock);
    await expect(store.get(kind)).rejects.toThrow(JobStoreError);
    await expect(store.add(kind, samples(1))).rejects.toThrow(JobStoreError);
    client.destroy();
  });
});
