import { ok } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { DrainPorts } from '../../lib/drain.ts';
import { connectUpstash, UpstashDueSet } from '../../lib/due-set/upstash-due-set.ts';
import { jobIdFor } from '../../lib/identify.ts';
import { isActive, type JobState, jobStates } from '../../lib/job.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import type { Item } from '../../lib/job-store/item-fields.ts';
import { fromItem, isExpired, toItem } from '../../lib/job-store/job-item.ts';
import type { Provider } from '../../lib/ports.ts';
import type { HttpAnswer } from '../../lib/providers/http.ts';
import { Sume } from '../../lib/providers/sume.ts';
import { MemoryDueSet } from '../sim/memory-due-set.ts';
import { emptySet } from '../sim/memory-sets.ts';
import { startTestDynamo, type TestDynamo, testJob, testNowMs } from '../support/dynamo.ts';
import { endsAllowed, type FuzzDrain, fuzzLease, runDrain } from '../support/fuzz-drain.ts';
import { hourMs } from '../support/jobs.ts';
import { JumpClock } from '../support/jump-clock.ts';
import { storedItems } from '../support/stored-items.ts';
import { startTestUpstash, type TestUpstash } from '../support/upstash.ts';

/* Whole drains over records as an older, a newer or a broken release may have left them. */

/** Strange items and some jobs without fault, all of them due, and what the provider will say. */
interface ItemBatch {
  items: Map<string, Item>;
  /** Those that nothing is wrong with. */
  soundIds: string[];
  scores: Map<string, number>;
  answers: Answers;
}

function itemBatches(): fc.Arbitrary<ItemBatch> {
  const strange = fc.tuple(storedItems(testNowMs), fc.constantFrom(0, 0, 1, 2, 3, 5, 15));
  return fc
    .record({
      strange: fc.array(strange, { minLength: 1, maxLength: 6 }),
      sound: fc.integer({ min: 1, max: 3 }),
      answers,
    })
    .map(({ strange: wrong, sound, answers: told }) => {
      const items = new Map<string, Item>();
      const scores = new Map<string, number>();
      const soundIds: string[] = [];
      for (const [item, claims] of wrong) {
        const id = jobIdFor('acme', `key-${items.size}`);
        Object.assign(item, { id: { S: id } });
        items.set(id, item);
        scores.set(id, testNowMs - 1_000 + claims / 16);
      }
      for (let i = 0; i < sound; i++) {
        const id = jobIdFor('acme', `key-${items.size}`);
        const deadlineAtMs = testNowMs + 24 * hourMs;
        items.set(
          id,
          toItem(testJob({ id, state: 'processing', providerJobId: 'clip', createdAtMs: testNowMs, deadlineAtMs })),
        );
        scores.set(id, testNowMs);
        soundIds.push(id);
      }
      return { items, soundIds, scores, answers: told };
    });
}

/** Status and body, for each kind of call. */
type Answers = Record<'create' | 'status' | 'result', [number, unknown]>;

const envelope = { error: { code: 'some_fault', message: 'It was a fault.' } };
const answers: fc.Arbitrary<Answers> = fc.record({
  create: fc.constantFrom<[number, unknown]>(
    [201, { id: 'clip', status: 'queued' }],
    [422, envelope],
    [429, {}],
    [500, ''],
  ),
  status: fc.constantFrom<[number, unknown]>(
    [200, { status: 'processing', next_poll_after_seconds: 5 }],
    [200, { status: 'completed', terminal: true }],
    [200, { status: 'failed', terminal: true }],
    [404, envelope],
    [402, envelope],
    [500, '<html>'],
  ),
  result: fc.constantFrom<[number, unknown]>(
    [200, { data: { video_url: 'https://media.example/clip.mp4' } }],
    [404, {}],
  ),
});

/** The real client for the provider, on answers that are always the same. */
function scriptedProvider(told: Answers): Provider {
  const send = async ({ method, path }: { method: string; path: string }): Promise<HttpAnswer> => {
    const [status, body] = told[method === 'POST' ? 'create' : path.endsWith('/result') ? 'result' : 'status'];
    return { kind: 'answer', status, headers: {}, text: JSON.stringify(body), tookMs: 1 };
  };
  return new Sume({ send }, { basePath: '', apiKey: 'sk_test', keyPrefix: 'test-' });
}

/** A table of items in memory: as much of DynamoDB as a drain's calls ask for, behind the real store. */
class ItemTable {
  readonly items: Map<string, Item>;

  constructor(items: Iterable<[string, Item]>) {
    this.items = new Map(items);
  }

  /** What the store sees of it. */
  get client(): DynamoDBClient {
    return { send: async (command: unknown) => this.#send(command) } as unknown as DynamoDBClient;
  }

  #send(command: unknown): unknown {
    if (command instanceof GetItemCommand) return { Item: this.items.get(command.input.Key?.id?.S ?? '') };
    if (!(command instanceof BatchGetItemCommand)) return this.#update((command as UpdateItemCommand).input);
    const found: Record<string, Item[]> = {};
    for (const [table, { Keys = [] }] of Object.entries(command.input.RequestItems ?? {})) {
      found[table] = Keys.map((key) => this.items.get(key.id?.S ?? '')).filter((item) => item !== undefined);
    }
    return { Responses: found };
  }

  #update({ Key, ExpressionAttributeValues, ExpressionAttributeNames }: UpdateItemCommand['input']): unknown {
    const id = Key?.id?.S ?? '';
    const stored = this.items.get(id);
    const { ':expected': expected, ...values } = ExpressionAttributeValues ?? {};
    if (stored === undefined || Number(stored.revision?.N) !== Number(expected?.N)) {
      const given = { message: 'The conditional request failed', $metadata: {} };
      throw new ConditionalCheckFailedException(stored === undefined ? given : { ...given, Item: stored });
    }
    const next = { ...stored };
    for (const name of Object.keys(ExpressionAttributeNames ?? {})) delete next[name.slice(1)];
    for (const [name, value] of Object.entries(values)) next[name.slice(1)] = value;
    this.items.set(id, next);
    return {};
  }
}

const fixed = [
  ...['id', 'owner', 'account', 'provider', 'input', 'fingerprint', 'metadata', 'created_at_ms', 'deadline_at_ms'],
  'from_the_future',
];

/** Throws unless the drain did no harm to any of the items, and looked at all that it could read. */
function expectSound(
  batch: ItemBatch,
  { report, heard, events }: FuzzDrain,
  after: { items: ReadonlyMap<string, Item>; scores: ReadonlyMap<string, number>; nowMs: number },
): void {
  let broken = 0;
  ok(!events.includes('records_unread') && !events.includes('step_crashed'), events.join());
  for (const [id, before] of batch.items) {
    const item = after.items.get(id);
    const score = after.scores.get(id);
    const calls = heard.filter(({ job }) => job.id === id);
    const changed = !isDeepStrictEqual(item, before);
    const gone = score === undefined;
    if (isExpired(before, after.nowMs)) {
      ok(!changed && gone && !isActive(before.state?.S as JobState), 'a job whose retention is over');
      continue;
    }
    if ('broken' in fromItem(before)) {
      broken++;
      ok(!changed && calls.length === 0, 'a broken record is touched');
      ok(!gone && score > after.nowMs + hourMs / 2, `a broken record is not pushed back: ${score}`);
      continue;
    }
    for (const name of fixed) ok(isDeepStrictEqual(item?.[name], before[name]), `${name} is changed`);
    if (saysEnded(before)) {
      ok(!changed && gone && calls.length === 0, 'a job that has ended is touched');
      continue;
    }
    ok(gone === saysEnded(item), `${before.state?.S} → ${item?.state?.S}, in the set: ${!gone}`);
    if (gone) {
      const ends = calls.flatMap((call) => endsAllowed(call.job, call.outcome, call.nowMs) as (string | undefined)[]);
      ok(ends.includes(item?.state?.S) || wasUnsent(before, item, after.nowMs), `ended as ${item?.state?.S}`);
    } else {
      // What a hold of the account gave back is due as before; what fell due at the very end was left to the next run.
      const isLater = score > after.nowMs - 2_000 || report.openTicks > 0;
      ok(isLater && Number.isInteger(score) && score < latestDue(before, after.nowMs), `due at ${score}`);
    }
    ok(calls.length <= 21, `called ${calls.length} times`);
  }
  ok(report.broken === broken, `${report.broken} counted as broken, not ${broken}`);
  const read = new Set(heard.map(({ job }) => job.id));
  for (const id of batch.soundIds) ok(read.has(id), 'a sound job is not read');
}

/** A job is looked at again at the latest so long after its deadline as there are reads. */
function latestDue({ deadline_at_ms, rearmed_at_ms, updated_at_ms }: Item, nowMs: number): number {
  const rearmedAtMs = Number(rearmed_at_ms?.N ?? 0);
  const rearmed = rearmedAtMs <= Number(updated_at_ms?.N ?? 0) + hourMs ? rearmedAtMs : 0;
  return Math.max(nowMs, Number(deadline_at_ms?.N), rearmed) + 80 * hourMs;
}

/** It expired without any call: its deadline came before it was sent. */
function wasUnsent(before: Item, item: Item | undefined, nowMs: number): boolean {
  return before.state?.S === 'waiting' && item?.state?.S === 'expired' && Number(before.deadline_at_ms?.N) <= nowMs;
}

function saysEnded(item: Item | undefined): boolean {
  const state = jobStates.find((one) => one === item?.state?.S);
  return state !== undefined && !isActive(state);
}

/** What a drain works on, and what is left there after it. */
interface Place extends Pick<DrainPorts, 'dueSet' | 'store'> {
  left(): Promise<{ items: ReadonlyMap<string, Item>; scores: ReadonlyMap<string, number> }>;
}

function holds(put: (batch: ItemBatch, clock: JumpClock) => Promise<Place>, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(itemBatches(), async (batch) => {
    const clock = new JumpClock();
    const { dueSet, store, left } = await put(batch, clock);
    const run = await clock.until(runDrain({ dueSet, store, clock, provider: scriptedProvider(batch.answers) }));
    expectSound(batch, run, { ...(await left()), nowMs: clock.nowMs() });
  });
  return fc.assert(property, { numRuns });
}

const title = 'a drain never fails: broken records rest in the set, the others are read, no end is made up';

test(`in memory ${title}`, async () => {
  await holds(async (batch, clock) => {
    const table = new ItemTable(batch.items);
    const dueSet = new MemoryDueSet(clock.nowMs, fuzzLease);
    dueSet.load({ ...emptySet, scores: batch.scores });
    const inLine = () => [...dueSet.state.waiting.keys()].map((id) => [id, clock.nowMs() + 60_000] as const);
    const left = async () => ({ items: table.items, scores: new Map([...dueSet.state.scores, ...inLine()]) });
    return { dueSet, store: new DynamoJobStore(table.client, 'jobs', clock), left };
  }, 2_000);
});

describe('in DynamoDB and Redis', () => {
  let dynamo: TestDynamo;
  let upstash: TestUpstash;
  let table: string;
  beforeAll(async () => {
    [dynamo, upstash] = await Promise.all([startTestDynamo(), startTestUpstash()]);
    table = await dynamo.createTable();
  });
  afterAll(() => Promise.all([dynamo.close(), upstash.close()]));

  const stored = async (id: string) =>
    (await dynamo.client.send(new GetItemCommand({ TableName: table, Key: { id: { S: id } }, ConsistentRead: true })))
      .Item;

  /** Leaves out what the table itself refuses: such an item is in no release's table. */
  async function putItem(batch: ItemBatch, id: string, item: Item): Promise<void> {
    try {
      await dynamo.client.send(new PutItemCommand({ TableName: table, Item: item }));
      batch.items.set(id, (await stored(id)) ?? {});
    } catch (error) {
      if ((error as Error).name !== 'ValidationException') throw error;
      batch.items.delete(id);
      batch.scores.delete(id);
    }
  }

  test(title, async () => {
    let runs = 0;
    await holds(async (batch, clock) => {
      const stage = `run${++runs}`;
      for (const [id, item] of [...batch.items]) await putItem(batch, id, item);
      const key = `pk:{${stage}}:due:sume`;
      await upstash.direct('ZADD', key, ...[...batch.scores].flatMap(([id, score]) => [String(score), id]));
      const { url, token } = upstash;
      const redis = connectUpstash({ url, token, timeoutMs: 5_000 });
      const given = { stage, account: 'sume', url, token, lease: fuzzLease, nowMs: clock.nowMs };
      const left = async () => {
        const items = new Map<string, Item>();
        const scores = new Map<string, number>();
        for (const id of batch.items.keys()) {
          const score = await upstash.direct('ZSCORE', key, id);
          if (score !== null) scores.set(id, Number(score));
          else if ((await upstash.direct('ZSCORE', key.replace(':due:', ':waiting:'), id)) !== null) {
            scores.set(id, clock.nowMs() + 60_000);
          }
          items.set(id, (await stored(id)) ?? {});
        }
        return { items, scores };
      };
      const store = new DynamoJobStore(dynamo.client, table, clock);
      return { dueSet: clock.waitingFor(new UpstashDueSet(redis, given)), store: clock.waitingFor(store), left };
    }, 40);
  });
});
