import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readAccounts } from '../../lib/accounts.ts';
import { JobStoreError } from '../../lib/errors.ts';
import { createApp } from '../../lib/http/app.ts';
import { jobIdFor } from '../../lib/identify.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import { DynamoSpend } from '../../lib/job-store/dynamo-spend.ts';
import { createWithinCap, type SpendingCaps, type SpendingPorts, type SpendStore } from '../../lib/spending-cap.ts';
import { dynamoClient, testClock, testJob, testNowMs } from '../support/dynamo.ts';
import { type Parts, startParts } from '../support/parts.ts';

/* The cap of an owner and day, through the API over real stores. A clip of 8 s is estimated at $1.512. */

const clipMicros = 1_512_000;
const dayMs = 24 * 3_600_000;
const table = 'pollkeeper-test';

let parts: Parts;
let client: DynamoDBClient;
let store: DynamoJobStore;
let spend: DynamoSpend;
let owners = 0;
beforeAll(async () => {
  parts = await startParts();
  // Patient: it is not the emulator's haste that is tested here, under a hundred calls at once.
  client = dynamoClient(parts.dynamo.url, 8, 8_000);
  store = new DynamoJobStore(client, table, parts.ports.clock);
  spend = new DynamoSpend(client, table);
});
afterAll(async () => {
  client.destroy();
  await parts.close();
});

/** What an owner submits, and what is kept of it. At 8 o'clock on 2027-01-15 UTC, unless `clock` is set. */
function newOwner(caps: (owner: string) => SpendingCaps) {
  const owner = `owner-${++owners}`;
  // Each request a millisecond later: by its time a job is told from its own repeat.
  const clock = { ...testClock(), nowMs: () => clock.ms++ };
  const spending = { caps: caps(owner), store: spend };
  const app = createApp({ ...parts.ports, store, clock, spending, stage: 'test', accounts: readAccounts(undefined) });
  const event = { requestContext: { authorizer: { lambda: { owner } } } };
  const request = async (key: string, input = {}) => {
    const clip = { model: 'seedance-2-mini', prompt: 'a lighthouse', duration: 8, resolution: '720p', ...input };
    const init = { method: 'POST', headers: { 'Idempotency-Key': key }, body: JSON.stringify({ input: clip }) };
    const reply = await app.request('/v1/jobs', init, { event } as never);
    const replayed = reply.headers.get('idempotent-replayed') === 'true';
    return { status: reply.status, replayed, body: (await reply.json()) as Record<string, unknown> };
  };
  const spent = async (day = '2027-01-15') => {
    const key = { id: { S: `spend_${day}_${owner}` } };
    const { Item: item } = await client.send(new GetItemCommand({ TableName: table, Key: key }));
    return item === undefined ? null : Number(item.spent_micros?.N);
  };
  const jobs = async () => (await store.list(owner, { limit: 100 })).jobs;
  return { owner, clock, request, spent, jobs };
}
const capOf = (dollars: number) => (owner: string) => new Map([[owner, dollars * 1e6]]);
const counted = (replies: { status: number }[], status: number) =>
  replies.filter((reply) => reply.status === status).length;

describe('submits below a cap', () => {
  test('fifty at once are taken in as often as fits, and of the others nothing is written', async () => {
    const { request, spent, jobs } = newOwner(capOf(20));
    const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => request(`key-${n}`)));
    expect([counted(replies, 202), counted(replies, 402)]).toEqual([13, 37]);
    expect(await jobs()).toHaveLength(13);
    expect(await spent()).toBe(13 * clipMicros);
  });

  test('are refused with what the cap is, what is reserved, what this job is, and until when', async () => {
    const { request } = newOwner(capOf(2));
    await request('key-1');
    const { status, body } = await request('key-2');
    expect(status).toBe(402);
    expect(body).toEqual({
      type: 'urn:pollkeeper:problem:spending_cap_reached',
      title: 'Payment required',
      status: 402,
      code: 'spending_cap_reached',
      detail:
        'The spending cap is $2 a day; $1.512 are reserved today, and this job is estimated at $1.512. ' +
        'The day ends at 2027-01-16T00:00:00.000Z.',
      day_ends_at: '2027-01-16T00:00:00.000Z',
      request_id: expect.any(String),
    });
  });

  test('a smaller job still fits where a larger one does not, and the next day begins anew', async () => {
    const { clock, request, spent } = newOwner(capOf(2));
    await request('key-1');
    expect((await request('key-2')).status).toBe(402);
    expect((await request('key-2', { duration: 2 })).status).toBe(202);
    clock.ms = testNowMs + dayMs;
    expect((await request('key-3')).status).toBe(202);
    expect([await spent(), await spent('2027-01-16')]).toEqual([1_890_000, clipMicros]);
  });

  test('an owner’s own cap goes before that of all others, and without either there is none', async () => {
    const caps = (owner: string) =>
      new Map([
        [owner, 4_000_000],
        ['*', 1_000_000],
      ]);
    const own = newOwner(caps);
    const other = newOwner(() => new Map([['*', 1_000_000]]));
    const free = newOwner(() => new Map([['somebody', 1]]));
    const twice = async ({ request }: typeof own) => [await request('key-1'), await request('key-2')];
    expect((await twice(own)).map(({ status }) => status)).toEqual([202, 202]);
    expect((await twice(other)).map(({ status }) => status)).toEqual([402, 402]);
    expect((await twice(free)).map(({ status }) => status)).toEqual([202, 202]);
    expect(await free.spent()).toBeNull();
  });

  test('a job whose price is not known counts as nothing, also when the cap is reached', async () => {
    const { request, spent } = newOwner(capOf(2));
    await request('key-1');
    const { status, body } = await request('key-2', { model: 'unlisted' });
    expect([status, body.cost]).toEqual([202, { estimated_usd_micros: null, billed_usd_micros: null }]);
    expect(await spent()).toBe(clipMicros);
  });
});

describe('a repeat', () => {
  test('is neither charged nor refused, on the same day or later, with the cap used up or not', async () => {
    const { clock, request, spent } = newOwner(capOf(2));
    const first = await request('key-1');
    for (const [atMs, total] of [
      [testNowMs + 1, clipMicros],
      [testNowMs + 600_000, clipMicros],
      [testNowMs + dayMs, clipMicros],
    ] as const) {
      clock.ms = atMs;
      const again = await request('key-1');
      expect([again.status, again.replayed, again.body.id]).toEqual([202, true, first.body.id]);
      expect(await spent()).toBe(total);
    }
    expect(await spent('2027-01-16')).toBeNull();
  });

  test('under a key of another job is a conflict, not a matter of money', async () => {
    const { request, spent } = newOwner(capOf(2));
    await request('key-1');
    expect((await request('key-1', { duration: 9 })).status).toBe(422);
    expect(await spent()).toBe(clipMicros);
  });

  test('of fifty at once with one key is charged once', async () => {
    const { request, spent } = newOwner(capOf(2));
    const replies = await Promise.all(Array.from({ length: 50 }, () => request('key-1')));
    expect([counted(replies, 202), replies.filter(({ replayed }) => !replayed).length]).toEqual([50, 1]);
    expect(await spent()).toBe(clipMicros);
  });

  test('of ten jobs, five times each and all at once, is one job and one charge for as many as fit', async () => {
    const { request, spent, jobs } = newOwner(capOf(7));
    const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => request(`key-${n % 10}`)));
    expect([counted(replies, 202), counted(replies, 402)]).toEqual([20, 30]);
    expect([(await jobs()).length, await spent()]).toEqual([4, 4 * clipMicros]);
  });

  test('at once with another body under the key leaves reserved what the job that won is estimated at', async () => {
    const { request, spent, jobs } = newOwner(capOf(1_000));
    const bodies = Array.from({ length: 60 }, (_, n) => [`key-${n % 20}`, 7 + Math.floor(n / 20)] as const);
    const replies = await Promise.all(bodies.map(([key, duration]) => request(key, { duration })));
    expect([counted(replies, 202), counted(replies, 422)]).toEqual([20, 40]);
    const estimated = (await jobs()).reduce((sum, job) => sum + (job.estimatedMicros ?? 0), 0);
    expect(await spent()).toBe(estimated);
  });
});

describe('between the reservation and the record', () => {
  function ports(record: SpendingPorts['store'], owner: string, spendStore: SpendStore = spend): SpendingPorts {
    return {
      store: record,
      log: parts.ports.log,
      spending: { caps: new Map([[owner, 2_000_000]]), store: spendStore },
    };
  }
  const jobOf = (owner: string, createdAtMs = testNowMs) => {
    const id = jobIdFor(owner, 'key-1');
    const deadlineAtMs = createdAtMs + 3_600_000;
    return testJob({ id, owner, estimatedMicros: clipMicros, createdAtMs, deadlineAtMs });
  };
  /** Once it has reserved, the other call with the same key overtakes it. */
  const overtaken = (owner: string, otherAtMs: number): SpendStore => ({
    async reserve(reservation, capMicros) {
      const answer = await spend.reserve(reservation, capMicros);
      const other = await createWithinCap(ports(store, owner), jobOf(owner, otherAtMs));
      expect(other.kind).toBe('created');
      return answer;
    },
    release: (reservation) => spend.release(reservation),
  });

  test('another call with the key may make use of the reservation: then it stays', async () => {
    const { owner, spent } = newOwner(capOf(2));
    const slow = ports(store, owner, overtaken(owner, testNowMs + 5));
    expect((await createWithinCap(slow, jobOf(owner))).kind).toBe('exists');
    expect(await spent()).toBe(clipMicros);
  });

  test('the day may end: the job counts on the day on which it was accepted', async () => {
    const { owner, spent } = newOwner(capOf(2));
    const slow = ports(store, owner, overtaken(owner, testNowMs + dayMs));
    expect((await createWithinCap(slow, jobOf(owner))).kind).toBe('exists');
    expect([await spent(), await spent('2027-01-16')]).toEqual([0, clipMicros]);
  });

  test('a release that fails costs the owner some of the day’s cap, not the answer', async () => {
    const { owner, spent } = newOwner(capOf(2));
    const release = () => Promise.reject(new JobStoreError('Out of reach.'));
    const slow = ports(store, owner, { ...overtaken(owner, testNowMs + dayMs), release });
    expect((await createWithinCap(slow, jobOf(owner))).kind).toBe('exists');
    expect(await spent()).toBe(clipMicros);
    expect(parts.logged.filter(({ event }) => event === 'reservation_not_released')).toHaveLength(1);
  });

  test('the record may fail: its repeat is charged once, whether the record was written or not', async () => {
    for (const written of [true, false]) {
      const { owner, spent } = newOwner(capOf(2));
      const failing: SpendingPorts['store'] = {
        get: (id) => store.get(id),
        async create(job) {
          if (written) await store.create(job);
          throw new JobStoreError('The answer was lost.');
        },
      };
      await expect(createWithinCap(ports(failing, owner), jobOf(owner))).rejects.toThrow(JobStoreError);
      const again = await createWithinCap(ports(store, owner), jobOf(owner, testNowMs + 5_000));
      expect(again.kind).toBe(written ? 'exists' : 'created');
      expect(await spent()).toBe(clipMicros);
    }
  });
});

test('priorities: 5 is the same request as none, another number is another, and a job says its own', async () => {
  const { owner } = newOwner(() => new Map());
  const app = createApp({ ...parts.ports, stage: 'test', accounts: readAccounts(undefined) });
  const event = { requestContext: { authorizer: { lambda: { owner } } } };
  const request = async (key: string, more: object) => {
    const body = JSON.stringify({ input: { model: 'm', prompt: 'p' }, ...more });
    const init = { method: 'POST', headers: { 'Idempotency-Key': key }, body };
    const reply = await app.request('/v1/jobs', init, { event } as never);
    return [reply.status, ((await reply.json()) as { priority?: number }).priority];
  };
  expect(await request('key-1', {})).toEqual([202, 5]);
  expect(await request('key-1', { priority: 5 })).toEqual([202, 5]);
  expect((await request('key-1', { priority: 6 }))[0]).toBe(422);
  expect(await request('key-2', { priority: 0 })).toEqual([202, 0]);
  expect(await request('key-2', { priority: 0 })).toEqual([202, 0]);
  expect((await request('key-2', {}))[0]).toBe(422);
  expect((await request('key-3', { priority: 10 }))[0]).toBe(400);
});
