import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { jobIdFor } from '../../lib/identify.ts';
import { DynamoSpend } from '../../lib/job-store/dynamo-spend.ts';
import type { Reservation } from '../../lib/spending-cap.ts';
import {
  dynamoClient,
  type LossyProxy,
  startLossyProxy,
  startTestDynamo,
  type TestDynamo,
  testNowMs,
} from '../support/dynamo.ts';

/* What is reserved of a day, in the real DynamoDB item. One job is 10 micros, unless it says otherwise. */

let dynamo: TestDynamo;
let proxy: LossyProxy;
let lossy: DynamoDBClient;
let patient: DynamoDBClient;
let table: string;
let spend: DynamoSpend;
let owners = 0;
beforeAll(async () => {
  dynamo = await startTestDynamo();
  proxy = await startLossyProxy(dynamo.url);
  lossy = dynamoClient(proxy.url);
  table = await dynamo.createTable();
  // It is not the emulator's haste that is tested here, under many calls at once.
  patient = dynamoClient(dynamo.url, 8, 8_000);
  spend = new DynamoSpend(patient, table);
});
afterAll(async () => {
  lossy.destroy();
  patient.destroy();
  await proxy.close();
  await dynamo.close();
});

/** Reservations of an owner of their own; `n` tells the jobs apart. */
function newOwner() {
  const owner = `owner-${++owners}`;
  return (n: number, given: Partial<Reservation> = {}): Reservation => {
    const jobId = jobIdFor(owner, `key-${n}`);
    return { owner, day: '2027-01-15', jobId, micros: 10, atMs: testNowMs, ...given };
  };
}

async function itemOf({ owner, day }: Reservation) {
  const key = { id: { S: `spend_${day}_${owner}` } };
  return (await dynamo.client.send(new GetItemCommand({ TableName: table, Key: key }))).Item;
}
const spentBy = async (reservation: Reservation) => Number((await itemOf(reservation))?.spent_micros?.N ?? 0);

describe('a reservation', () => {
  test('is taken up to the cap to the micro-dollar, and above it refused with what is reserved', async () => {
    const job = newOwner();
    expect(await spend.reserve(job(1), 29)).toEqual({ kind: 'reserved' });
    expect(await spend.reserve(job(2), 29)).toEqual({ kind: 'reserved' });
    expect(await spend.reserve(job(3), 29)).toEqual({ kind: 'refused', spentMicros: 20 });
    expect(await spend.reserve(job(4, { micros: 9 }), 29)).toEqual({ kind: 'reserved' });
    expect(await spend.reserve(job(5, { micros: 1 }), 29)).toEqual({ kind: 'refused', spentMicros: 29 });
    expect(await spentBy(job(1))).toBe(29);
  });

  test('above the whole cap is refused on a fresh day, and leaves nothing', async () => {
    const job = newOwner();
    expect(await spend.reserve(job(1), 9)).toEqual({ kind: 'refused', spentMicros: 0 });
    expect(await itemOf(job(1))).toBeUndefined();
  });

  test('that is made again counts once, also where it would not fit a second time', async () => {
    const job = newOwner();
    await spend.reserve(job(1), 15);
    expect(await spend.reserve(job(1), 15)).toEqual({ kind: 'repeated' });
    const nextTurn = { atMs: testNowMs + 30_000 };
    expect(await spend.reserve(job(1, nextTurn), 15)).toEqual({ kind: 'repeated' });
    await spend.reserve(job(2, { ...nextTurn, micros: 1 }), 15);
    expect(await spend.reserve(job(1, nextTurn), 15)).toEqual({ kind: 'repeated' });
    expect(await spentBy(job(1))).toBe(11);
  });

  test('by a machine whose clock is behind counts as well', async () => {
    const job = newOwner();
    await spend.reserve(job(1, { atMs: testNowMs + 60_000 }), 20);
    expect(await spend.reserve(job(2), 20)).toEqual({ kind: 'reserved' });
    expect(await spend.reserve(job(3), 20)).toEqual({ kind: 'refused', spentMicros: 20 });
  });

  test('of thirty at once is made as often as it fits, on a fresh day and at each new turn', async () => {
    const job = newOwner();
    for (const turn of [0, 1, 2]) {
      const atMs = testNowMs + turn * 30_000;
      const capMicros = (turn + 1) * 130;
      const tries = Array.from({ length: 30 }, (_, n) => spend.reserve(job(turn * 100 + n, { atMs }), capMicros));
      const kinds = (await Promise.all(tries)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'reserved')).toHaveLength(13);
      expect(kinds.filter((kind) => kind === 'refused')).toHaveLength(17);
      expect(await spentBy(job(0))).toBe(capMicros);
    }
  });

  test.each([1, 2])('whose answer was lost %i times is repeated by the client and counts once', async (count) => {
    const job = newOwner();
    const over = new DynamoSpend(lossy, table);
    for (const [n, atMs] of [testNowMs, testNowMs + 1, testNowMs + 30_000].entries()) {
      const lostBefore = proxy.lost();
      proxy.loseReplies(count);
      expect((await over.reserve(job(n, { atMs }), 100)).kind).toMatch(/reserved|repeated/);
      expect(proxy.lost() - lostBefore).toBe(count);
      expect(await spentBy(job(n))).toBe(10 * (n + 1));
    }
  });

  test('that can not be written says so with the one error of the record', async () => {
    const away = dynamoClient('http://127.0.0.1:9', 1, 200);
    const nowhere = new DynamoSpend(away, table);
    await expect(nowhere.reserve(newOwner()(1), 10)).rejects.toThrow(JobStoreError);
    await expect(nowhere.release(newOwner()(1))).rejects.toThrow(JobStoreError);
    away.destroy();
  });
});

describe('a release', () => {
  test('gives back what was reserved, once, and nothing that never was', async () => {
    const job = newOwner();
    await spend.release(job(1));
    expect(await itemOf(job(1))).toBeUndefined();
    await spend.reserve(job(1), 100);
    await spend.reserve(job(2), 100);
    await spend.release(job(1, { micros: 9 }));
    expect(await spentBy(job(1))).toBe(20);
    await Promise.all(Array.from({ length: 5 }, () => spend.release(job(1))));
    expect(await spentBy(job(1))).toBe(10);
    await spend.release(job(2));
    expect(await spentBy(job(1))).toBe(0);
    expect(await spend.reserve(job(1, { atMs: testNowMs + 30_000 }), 10)).toEqual({ kind: 'reserved' });
  });

  test('finds it in the turn before too, and leaves it reserved when it comes much later', async () => {
    const job = newOwner();
    await spend.reserve(job(1), 100);
    await spend.reserve(job(2), 100);
    await spend.reserve(job(3, { atMs: testNowMs + 30_000 }), 100);
    await spend.release(job(1));
    expect(await spentBy(job(1))).toBe(20);
    await spend.reserve(job(4, { atMs: testNowMs + 60_000 }), 100);
    await spend.release(job(2));
    expect(await spentBy(job(1))).toBe(30);
  });
});

test('the item is in no index, is gone a week after its day, and stays small however many jobs the day has', async () => {
  const job = newOwner();
  for (let turn = 0; turn < 20; turn++) {
    const atMs = testNowMs + turn * 30_000;
    for (let n = 0; n < 10; n++) await spend.reserve(job(turn * 10 + n, { atMs }), 10_000);
  }
  const item = (await itemOf(job(1))) ?? {};
  expect(Object.keys(item).sort()).toEqual([
    'expires_at',
    'id',
    'older_entries',
    'recent_entries',
    'spent_micros',
    'turn_number',
  ]);
  expect([item.spent_micros?.N, item.recent_entries?.SS?.length, item.older_entries?.SS?.length]).toEqual([
    '2000',
    10,
    10,
  ]);
  expect(new Date(Number(item.expires_at?.N) * 1000).toISOString()).toBe('2027-01-23T00:00:00.000Z');
});
