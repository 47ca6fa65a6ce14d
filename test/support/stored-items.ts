import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { type Job, jobStates } from '../../lib/job.ts';
import type { Item } from '../../lib/job-store/item-fields.ts';
import { movingAttributes, toItem } from '../../lib/job-store/job-item.ts';
import { testJob } from './dynamo.ts';
import { hourMs } from './jobs.ts';

/* Records as an older, a newer or a broken release may have left them. */

/** Of any type, many of them nearly right. */
function anyAttribute(nowMs: number): fc.Arbitrary<AttributeValue> {
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value));
  const text = fc.oneof(
    fc.constantFrom('', '{}', '[]', 'null', '[null]', '[{}]', '[{"atMs":1e400}]', '{"value":5}', '{"atMs":1}'),
    fc.constantFrom(...jobStates, 'paused', 'constructor', 'runway', '../x', 'a'.repeat(30_000)),
    fc.constantFrom('{"__proto__":{"polluted":true}}', '[{"atMs":1,"__proto__":{"polluted":true}}]'),
    fc.string({ unit: 'binary', maxLength: 20 }),
    json,
    fc.tuple(json, fc.nat(20)).map(([whole, end]) => whole.slice(0, end)),
  );
  const number = fc.oneof(
    fc.constantFrom('0', '-1', '0.5', '3', '-1e9', '8.64e15', '-8.64e15', '9007199254740993', '1e125', '-0'),
    // Seconds, microseconds, and near.
    fc.constantFrom(nowMs / 1e3, nowMs * 1e3, nowMs - hourMs, nowMs + hourMs, nowMs + 1e10).map(String),
    fc.integer().map(String),
  );
  return fc.oneof(
    { weight: 4, arbitrary: text.map((S) => ({ S })) },
    { weight: 4, arbitrary: number.map((N) => ({ N })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<AttributeValue>(
        { NULL: true },
        { BOOL: false },
        { L: [{ S: 'x' }] },
        { M: { a: { N: '1' } } },
        { B: new Uint8Array([255]) },
        { SS: ['x'] },
        { NS: ['1'] },
      ),
    },
  );
}

/** A job of any state as this release stores it. */
function soundJobs(nowMs: number): fc.Arbitrary<Job> {
  const ago = (hours: number) => fc.integer({ min: 0, max: hours * hourMs }).map((ms) => nowMs - ms);
  const count = fc.constantFrom(0, 0, 1, 4, 9);
  return fc
    .record(
      {
        state: fc.constantFrom(...jobStates),
        deadlineAtMs: fc.integer({ min: -100 * hourMs, max: 168 * hourMs }).map((ms) => nowMs + ms),
        createdAtMs: ago(200),
        updatedAtMs: ago(100),
        providerJobId: fc.constantFrom('clip', 'clip', 'clip/../x', 'a'.repeat(300)),
        failuresInRow: count,
        missingReads: count,
        missingSinceMs: ago(1),
        resultReads: count,
        notBeforeMs: fc.integer({ min: -hourMs, max: hourMs }).map((ms) => nowMs + ms),
        suspectedAtMs: ago(1),
        lastFault: fc.constant({ code: 'timeout', message: 'No answer.', atMs: nowMs }),
        finishedAtMs: ago(800),
      },
      { requiredKeys: ['state', 'deadlineAtMs', 'createdAtMs', 'updatedAtMs'] },
    )
    .map((given) => ({ ...given, createdAtMs: Math.min(given.createdAtMs, given.deadlineAtMs) }))
    .map((given) => testJob({ id: '', ...given }));
}

/** Items without their ids: mostly a job with some of its attributes damaged, sometimes nothing of ours at all. */
export function storedItems(nowMs: number): fc.Arbitrary<Item> {
  const names = [
    ...Object.keys(toItem(testJob({ id: '' }))),
    ...movingAttributes(testJob({ id: '' })).remove,
    'from_the_future',
    '__proto__',
  ];
  const name = fc.constantFrom(...names);
  const value = anyAttribute(nowMs);
  const damage = fc.array(fc.tuple(name, fc.option(value)), { maxLength: 3 });
  const damaged = fc.tuple(soundJobs(nowMs), damage).map(([job, wrongs]) => {
    const item = toItem(job);
    for (const [attribute, wrong] of wrongs) {
      if (wrong === null) delete item[attribute];
      else
        Object.defineProperty(item, attribute, { value: wrong, enumerable: true, configurable: true, writable: true });
    }
    return item;
  });
  return fc.oneof(
    { weight: 6, arbitrary: damaged },
    { weight: 1, arbitrary: fc.dictionary(name, value, { noNullPrototype: true }) },
  );
}
