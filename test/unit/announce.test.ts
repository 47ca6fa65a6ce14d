import { beforeEach, expect, test } from 'vitest';
import { Announcer } from '../../lib/announce.ts';
import { DueSetError } from '../../lib/errors.ts';
import { enter } from '../../lib/job.ts';
import type { LogFields } from '../../lib/log.ts';
import type { Entry } from '../../lib/ports.ts';
import { jobWith, startMs } from '../support/jobs.ts';

interface Call {
  ids: string[];
  answer(wake: boolean, added?: number): void;
  fail(error: Error): void;
}

let calls: Call[];
let wakes: (() => void)[];
let sleeps: { delayMs: number; resolve: () => void }[];
let logged: (LogFields | undefined)[];

function announcer(): Announcer {
  const schedule = (entries: readonly Entry[]) =>
    new Promise<{ added: number; wake: boolean }>((resolve, reject) => {
      calls.push({
        ids: entries.map(({ id }) => id),
        answer: (wake, added = entries.length) => resolve({ added, wake }),
        fail: reject,
      });
    });
  const dueSet = { schedule, absent: async () => [] };
  const waker = { wake: () => new Promise<void>((resolve) => void wakes.push(resolve)) };
  const log = { info: () => {}, warn: (_: string, fields?: LogFields) => void logged.push(fields), error: () => {} };
  const sleep = (delayMs: number) => new Promise<void>((resolve) => void sleeps.push({ delayMs, resolve }));
  return new Announcer({ dueSet, waker }, log, { sleep });
}

beforeEach(() => {
  calls = [];
  wakes = [];
  sleeps = [];
  logged = [];
});

const ended = (id: string) => enter(jobWith({ id }), 'completed', startMs);
/** Whatever only waits for promises that are settled is done after this. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what is announced while a call is under way goes with the next one, and only who wakes waits for that', async () => {
  const to = announcer();
  let told = 0;
  const announce = (id: string) => void to.announce(ended(id)).then(() => told++);
  for (const id of ['a', 'b', 'a']) announce(id);
  await turn();
  for (const id of ['c', 'd']) announce(id);
  await turn();
  expect(calls.map(({ ids }) => ids)).toEqual([['a', 'b']]);
  calls[0]?.answer(true);
  await turn();
  expect([told, wakes.length]).toEqual([0, 1]);
  expect(calls.map(({ ids }) => ids)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  calls[1]?.answer(false);
  await turn();
  expect(told).toBe(2);
  wakes[0]?.();
  await turn();
  expect(told).toBe(5);
});

test('a job without pending events is no news', async () => {
  await announcer().announce({ ...ended('a'), events: [] });
  await turn();
  expect(calls).toEqual([]);
});

test('a set that does not answer rejects nothing: it is asked once more, then that is logged; the next ones go on', async () => {
  const to = announcer();
  const first = to.announce(ended('a'));
  await turn();
  const second = to.announce(ended('b'));
  const third = to.announce(ended('c'));
  calls[0]?.fail(new DueSetError('timeout', 'no answer'));
  await turn();
  calls[1]?.fail(new DueSetError('limit', 'used up'));
  await Promise.all([second, third]);
  expect(sleeps.map(({ delayMs }) => delayMs)).toEqual([2_000]);
  sleeps[0]?.resolve();
  await turn();
  expect(calls[2]?.ids).toEqual(['a']);
  calls[2]?.fail(new DueSetError('timeout', 'no answer'));
  await first;
  expect(logged).toEqual([
    { jobId: 'b', jobs: 2, code: 'limit', error: 'DueSetError: used up' },
    { jobId: 'a', jobs: 1, code: 'timeout', error: 'DueSetError: no answer' },
  ]);
  expect(sleeps).toHaveLength(1);
});

test('a job whose older news are just being made out, so that it can’t be made due, is made due once more after that', async () => {
  const to = announcer();
  let told = 0;
  const processing = enter(jobWith({ id: 'a' }), 'processing', startMs - 5_000);
  void to.announce(enter(processing, 'completed', startMs)).then(() => told++);
  // Nobody listened to what this one had to tell before: no look at it can be under way.
  const unheard = processing.events.map(({ pending: _, ...event }) => event);
  void to.announce(enter({ ...processing, id: 'b', events: unheard }, 'completed', startMs)).then(() => told++);
  await turn();
  calls[0]?.answer(false, 1);
  await turn();
  expect([told, sleeps.map(({ delayMs }) => delayMs)]).toEqual([0, [2_000]]);
  sleeps[0]?.resolve();
  await turn();
  expect(calls.map(({ ids }) => ids)).toEqual([['a', 'b'], ['a']]);
  calls[1]?.answer(true);
  await turn();
  wakes[0]?.();
  await turn();
  expect(told).toBe(2);
});

test('more than ten thousand that wait are left to the sweep', async () => {
  const to = announcer();
  void to.announce(ended('first'));
  await turn();
  const job = ended('any');
  for (let n = 0; n < 10_000; n++) void to.announce({ ...job, id: `job-${n}` });
  await to.announce(ended('too-many'));
  void to.announce(ended('job-1'));
  expect(logged).toMatchObject([{ jobId: 'too-many', code: 'full' }]);
  calls[0]?.answer(false);
  await turn();
  expect(calls[1]?.ids).toHaveLength(10_000);
});
