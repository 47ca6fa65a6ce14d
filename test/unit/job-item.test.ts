import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pendingEvents } from '../../lib/event.ts';
import { jobIdFor } from '../../lib/identify.ts';
import { isActive, type Job, jobStates } from '../../lib/job.ts';
import type { Item } from '../../lib/job-store/item-fields.ts';
import {
  fromItem,
  isExpired,
  movingAttributes,
  retentionMs,
  shardCount,
  shardOf,
  toItem,
} from '../../lib/job-store/job-item.ts';
import type { JsonObject } from '../../lib/json.ts';
import { testJob, testNowMs } from '../support/dynamo.ts';

const textField = fc.string({ unit: 'binary', maxLength: 30 });
const timeMs = fc.integer({ min: 0, max: 8_640_000_000_000_000 });
const document = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()) as fc.Arbitrary<JsonObject>;
const anyFields: fc.Arbitrary<Job> = fc.record(
  {
    id: fc.string({ minLength: 1 }),
    owner: textField,
    account: textField,
    provider: fc.constant('sume' as const),
    state: fc.constantFrom(...jobStates),
    input: document,
    fingerprint: textField,
    metadata: fc.dictionary(textField, textField),
    priority: fc.integer({ min: 0, max: 9 }),
    estimatedMicros: fc.nat(),
    createdAtMs: timeMs,
    updatedAtMs: timeMs,
    submittedAtMs: timeMs,
    finishedAtMs: timeMs,
    deadlineAtMs: timeMs,
    providerJobId: textField,
    providerStatus: textField,
    failuresInRow: fc.nat(),
    missingReads: fc.nat(),
    missingSinceMs: timeMs,
    resultReads: fc.nat(),
    lastFault: fc.record({ code: textField, message: textField, atMs: timeMs }),
    result: fc.record({ value: document, truncated: fc.boolean() }),
    usage: fc.record({ status: textField, capturedMicros: fc.nat() }),
    events: fc.array(
      fc.record(
        { id: textField, type: fc.constant('job.failed' as const), atMs: timeMs, pending: fc.constant(true as const) },
        { requiredKeys: ['id', 'type', 'atMs'] },
      ),
      { maxLength: 3 },
    ),
    batch: textField,
    webhookUrl: textField,
    webhookEvents: fc.array(fc.constantFrom('job.lost' as const, 'batch.completed' as const)),
    adopted: fc.constant(true as const),
    cancelAskedAtMs: timeMs,
    cancelSentAtMs: timeMs,
    hookUrl: textField,
    hook: fc.record({ eventId: textField, atMs: timeMs }),
    history: fc.array(fc.record({ atMs: timeMs, state: fc.constantFrom(...jobStates) }), { maxLength: 5 }),
    revision: fc.nat(),
  },
  {
    requiredKeys: [
      'id',
      'owner',
      'account',
      'provider',
      'state',
      'input',
      'fingerprint',
      'metadata',
      'priority',
      'createdAtMs',
      'updatedAtMs',
      'deadlineAtMs',
      'failuresInRow',
      'missingReads',
      'resultReads',
      'events',
      'history',
      'revision',
    ],
  },
);
const anyJob = anyFields.map((job) => ({ ...job, deadlineAtMs: Math.max(job.createdAtMs, job.deadlineAtMs) }));

describe('an item', () => {
  test('T84 gives back any job as JSON would: nothing lost, nothing added', () => {
    fc.assert(
      fc.property(anyJob, (job) => {
        expect(fromItem(toItem(job))).toEqual({ job: JSON.parse(JSON.stringify(job)) });
      }),
    );
  });

  test('T84 has only text and numbers, so that undefined and nested undefined meet no marshaller', () => {
    const input = { a: undefined, b: { c: undefined }, d: [undefined], e: '' } as unknown as JsonObject;
    const item = toItem(testJob({ id: 'job_a', input }));
    expect(Object.values(item).filter((value) => typeof (value.S ?? value.N) !== 'string')).toEqual([]);
    expect(item.input).toEqual({ S: '{"b":{},"d":[null],"e":""}' });
  });

  test('T84 keeps numbers as JSON writes them: 30 digits to double precision, 1e400 as null', () => {
    const value = JSON.parse(
      '{"long":123456789012345678901234567890,"over":1e400,"small":5e-324,"zero":-0}',
    ) as JsonObject;
    const read = fromItem(toItem(testJob({ id: 'job_a', result: { value, truncated: false } })));
    const kept = { long: 1.2345678901234568e29, over: null, small: 5e-324, zero: 0 };
    expect(read).toMatchObject({ job: { result: { value: kept } } });
  });

  test('T56 keeps keys such as __proto__ as data, and changes no prototype', () => {
    const value = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}') as JsonObject;
    const read = fromItem(toItem(testJob({ id: 'job_a', result: { value, truncated: false } })));
    const stored = 'job' in read ? read.job.result?.value : undefined;
    expect(JSON.stringify(stored)).toBe(JSON.stringify(value));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('T87 of an ended job alone has an expiry: whole seconds, a retention after the end', () => {
    fc.assert(
      fc.property(anyJob, (job) => {
        const { set, remove } = movingAttributes(job);
        const active = isActive(job.state);
        expect([set.expires_at === undefined, remove.includes('expires_at')]).toEqual([active, active]);
        const indexed = active || pendingEvents(job).length > 0;
        expect([set.active === undefined, remove.includes('active')]).toEqual([!indexed, !indexed]);
        const endedAtMs = job.finishedAtMs ?? job.updatedAtMs;
        if (!active) expect(set.expires_at?.N).toBe(String(Math.floor((endedAtMs + retentionMs) / 1000)));
      }),
    );
  });

  test('T87 expires in this century when it ended today: seconds, not milliseconds', () => {
    const ended = testJob({ id: 'job_a', state: 'completed', finishedAtMs: testNowMs });
    const expiresAtSec = Number(toItem(ended).expires_at?.N);
    expect(new Date(expiresAtSec * 1000).getUTCFullYear()).toBe(2027);
    expect(expiresAtSec - testNowMs / 1000).toBe(30 * 24 * 3600);
  });

  test('T88 is expired from the second of its expiry on, and never without one', () => {
    const item: Item = { expires_at: { N: '1000' } };
    expect([999_999, 1_000_000, 1_000_001].map((nowMs) => isExpired(item, nowMs))).toEqual([false, true, true]);
    expect(isExpired({}, Number.MAX_SAFE_INTEGER)).toBe(false);
    expect(isExpired({ expires_at: { S: 'soon' } }, testNowMs)).toBe(false);
  });
});

describe('reading an item', () => {
  const whole = toItem(testJob({ id: 'job_a' }));
  const without = (...names: string[]) =>
    Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name)));

  test('T125 of an older release fills newer fields with their defaults', () => {
    const newer = [
      'provider',
      'fingerprint',
      'metadata',
      'priority',
      'updated_at_ms',
      'failures_in_row',
      'missing_reads',
      'result_reads',
    ];
    expect(fromItem(without(...newer, 'history'))).toMatchObject({
      job: {
        ...{ provider: 'sume', fingerprint: '', metadata: {}, updatedAtMs: 0, failuresInRow: 0, missingReads: 0 },
        ...{ resultReads: 0, history: [], priority: 5 },
      },
    });
  });

  test('without an estimate has none, and an update does not write it again', () => {
    const read = fromItem(toItem(testJob({ id: 'job_a', estimatedMicros: 1_512_000, priority: 0 })));
    expect(read).toMatchObject({ job: { estimatedMicros: 1_512_000, priority: 0 } });
    const plain = fromItem(whole);
    expect('job' in plain && 'estimatedMicros' in plain.job).toBe(false);
    const { set, remove } = movingAttributes(testJob({ id: 'job_a', estimatedMicros: 1 }));
    expect([...Object.keys(set), ...remove].filter((name) => /priority|estimated/.test(name))).toEqual([]);
  });

  test('T125 ignores attributes that this release does not know', () => {
    expect(fromItem({ ...whole, from_the_future: { M: { a: { BOOL: true } } } })).toEqual(fromItem(whole));
  });

  test.each(['id', 'owner', 'account', 'state', 'input', 'created_at_ms', 'deadline_at_ms', 'revision'])(
    'without %s says so instead of throwing',
    (name) => {
      expect(fromItem(without(name))).toEqual({ broken: `attribute ${name} is missing` });
    },
  );

  test.each<[string, Item, string]>([
    ['a number that is text', { revision: { S: '1' } }, 'attribute revision is not number'],
    ['a number that is none', { deadline_at_ms: { N: 'Infinity' } }, 'attribute deadline_at_ms is not number'],
    [
      'a deadline in seconds',
      { deadline_at_ms: { N: String(testNowMs / 1_000 + 86_400) } },
      'attribute deadline_at_ms is before created_at_ms',
    ],
    ['a priority below 0', { priority: { N: '-1' } }, 'attribute priority is no count'],
    ['half a priority', { priority: { N: '4.5' } }, 'attribute priority is no count'],
    ['a priority above 9', { priority: { N: '10' } }, 'attribute priority is above 9'],
    ['a priority that is text', { priority: { S: 'high' } }, 'attribute priority is not number'],
    ['a negative estimate', { estimated_micros: { N: '-1' } }, 'attribute estimated_micros is no count'],
    ['an estimate in dollars', { estimated_micros: { N: '1.89' } }, 'attribute estimated_micros is no count'],
    ['text that is a number', { owner: { N: '1' } }, 'attribute owner is not text'],
    ['JSON that is cut off', { input: { S: '{"a":' } }, 'attribute input is not object'],
    ['JSON of another type', { history: { L: [] } }, 'attribute history is not list'],
    ['a state of another release', { state: { S: 'paused' } }, 'state "paused" is unknown'],
    ['a state that every object has', { state: { S: 'constructor' } }, 'state "constructor" is unknown'],
  ])('with %s names the field', (_, wrong, broken) => {
    expect(fromItem({ ...whole, ...wrong })).toEqual({ broken });
  });

  test.each([
    ['at the time of its last write', testNowMs, testNowMs],
    ['by a clock that is an hour ahead', testNowMs + 3_600_000, testNowMs + 3_600_000],
    ['later than that', testNowMs + 3_600_001, undefined],
    ['in microseconds', testNowMs * 1_000, undefined],
  ])('that was rearmed %s', (_, rearmedAtMs, kept) => {
    const read = fromItem(toItem(testJob({ id: 'job_a', updatedAtMs: testNowMs, rearmedAtMs })));
    expect('job' in read ? read.job.rearmedAtMs : read).toBe(kept);
  });

  test('never throws, whatever the attributes hold', () => {
    const value = fc.oneof(
      fc.record({ S: fc.string() }),
      fc.record({ N: fc.string() }),
      fc.constantFrom<Item[string]>({ NULL: true }, { BOOL: false }, { L: [] }, { M: {} }, { B: new Uint8Array(2) }),
    ) as fc.Arbitrary<Item[string]>;
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(whole), 'other'), value), (wrong) => {
        const read = fromItem({ ...whole, ...wrong });
        expect('job' in read || read.broken.length > 0).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

test('T85 shards are even: 8,000 ids fill each of the eight to within a third', () => {
  const counts = new Array<number>(shardCount).fill(0);
  for (let n = 0; n < 8_000; n++) {
    const shard = shardOf(jobIdFor('acme', `key-${n}`));
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(667);
  expect(Math.max(...counts)).toBeLessThan(1_333);
});
