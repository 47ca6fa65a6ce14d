import { ok } from 'node:assert/strict';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectUpstash, UpstashDueSet } from '../../lib/due-set/upstash-due-set.ts';
import { jobIdFor, jobIdPattern } from '../../lib/identify.ts';
import type { DueSet, Provider } from '../../lib/ports.ts';
import { MemoryDueSet } from '../sim/memory-due-set.ts';
import { MemoryJobStore } from '../sim/memory-job-store.ts';
import { emptySet } from '../sim/memory-sets.ts';
import { testJob, testNowMs } from '../support/dynamo.ts';
import { fuzzLease, runDrain } from '../support/fuzz-drain.ts';
import { completed, hourMs, running } from '../support/jobs.ts';
import { JumpClock } from '../support/jump-clock.ts';
import { membersOf, startTestUpstash, type TestUpstash } from '../support/upstash.ts';

/* Whole drains over a due set that an older or a broken release, or somebody by hand, has put things into. */

/** What a drain works on, and what is left of it. */
interface Place {
  set: Pick<DueSet, 'exchange' | 'tidy'>;
  left(): Promise<ReadonlyMap<string, number>>;
}

type Put = (members: ReadonlyMap<string, number>, clock: JumpClock) => Promise<Place>;

const sixteenths = fc.integer({ min: 0, max: 15 }).map((claims) => claims / 16);
/** Due or a lease that ends within the run, whatever else they look like. */
const ripe = fc.oneof(
  fc.constantFrom(Number.NEGATIVE_INFINITY, -1e308, -1e15, -1, -0.5, -0, 0, 5e-324, 1e-7, 0.0625, 0.9375, 1, 1.5),
  fc.constantFrom(testNowMs / 1e3, testNowMs / 1e3 + 0.5, testNowMs - 0.001),
  fc.double({ max: testNowMs, noNaN: true }),
  fc.double({ min: testNowMs - 60_000, max: testNowMs + 8_000, noNaN: true }),
  fc.tuple(fc.integer({ min: -60_000, max: 8_000 }), sixteenths).map(([ms, claims]) => testNowMs + ms + claims),
);
/** Not due before the run's end. */
const far = fc.oneof(
  fc.constantFrom(
    Number.POSITIVE_INFINITY,
    Number.MAX_VALUE,
    1e308,
    2 ** 53,
    testNowMs * 1e3,
    testNowMs + hourMs + 0.5,
  ),
  fc.double({ min: testNowMs + hourMs, noNaN: true }),
);
const scores = fc.oneof({ weight: 5, arbitrary: ripe }, { weight: 1, arbitrary: far });
const garbage = fc
  .oneof(
    fc.constantFrom(
      '',
      '\u0000',
      'job_',
      'job_a/..',
      '../x',
      'remove',
      '__proto__',
      'x'.repeat(1_024),
      '😀'.repeat(40),
    ),
    fc.constantFrom(`${jobIdFor('a', 'a')} `, `${jobIdFor('a', 'a')}\n`, jobIdFor('a', 'a').toUpperCase(), '123', '{}'),
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
  )
  .filter((member) => !jobIdPattern.test(member));

/** What is put into a set, and the jobs of it; the others are nothing of ours. */
interface Filling {
  members: Map<string, number>;
  /** Id → whether the next read finds it completed. */
  jobs: Map<string, boolean>;
  exchangeMax: number;
}

const fillings: fc.Arbitrary<Filling> = fc
  .record({
    rubbish: fc.dictionary(garbage, scores, { maxKeys: 8 }),
    orphans: fc.array(scores, { maxLength: 2 }),
    ours: fc.array(fc.tuple(scores, fc.boolean()), { minLength: 1, maxLength: 6 }),
    exchangeMax: fc.constantFrom(1, 2, 5, 3_900),
  })
  .map(({ rubbish, orphans, ours, exchangeMax }) => {
    const members = new Map(Object.entries(rubbish));
    for (const [place, score] of orphans.entries()) members.set(jobIdFor('nobody', `key-${place}`), score);
    const jobs = new Map(ours.map(([, ends], place) => [jobIdFor('acme', `key-${place}`), ends]));
    for (const [place, id] of [...jobs.keys()].entries()) members.set(id, ours[place]?.[0] ?? 0);
    return { members, jobs, exchangeMax };
  });

const isRipe = (score: number) => score < testNowMs + hourMs;

function holds(put: Put, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(fillings, async (filling) => {
    const { members, jobs, exchangeMax } = filling;
    const clock = new JumpClock();
    const store = new MemoryJobStore(clock.nowMs, 100);
    for (const id of jobs.keys()) await store.create(testJob({ id, state: 'processing', providerJobId: 'clip' }));
    const { set, left } = await put(members, clock);
    const read: Provider['read'] = async ({ id }) => (jobs.get(id) ? completed() : running({ hintMs: 15_000 }));
    const ports = { dueSet: set, store, clock, provider: { read, create: read } };
    const run = await clock.until(runDrain(ports, { exchangeMax }));
    const { orphans, failedExchanges, parked, lostLeases } = run.report;
    expect({ failedExchanges, parked, lostLeases }).toEqual({ failedExchanges: 0, parked: 0, lostLeases: 0 });
    const after = await left();
    expect(orphans).toBe(expectSwept(filling, after));
    const readIds = new Set(run.heard.map(({ job }) => job.id));
    for (const [id, ends] of jobs) {
      if (!isRipe(members.get(id) ?? 0)) continue;
      ok(readIds.has(id), `the job at ${members.get(id)} was not read`);
      expect((await store.get(id))?.state).toBe(ends ? 'completed' : 'processing');
      const dueAtMs = after.get(id);
      if (ends) ok(dueAtMs === undefined, 'a job that has ended is still there');
      else ok(Number.isInteger(dueAtMs) && Number(dueAtMs) > clock.nowMs(), `a job is due at ${dueAtMs}`);
    }
  });
  return fc.assert(property, { numRuns });
}

/** Nothing came, what is not due stayed as it was, and what is none of ours went: so many. */
function expectSwept({ members, jobs }: Filling, after: ReadonlyMap<string, number>): number {
  for (const member of after.keys()) ok(members.has(member), `${JSON.stringify(member)} came from nowhere`);
  let swept = 0;
  for (const [member, score] of members) {
    const now = after.get(member);
    if (!isRipe(score)) {
      ok(now === score, `${JSON.stringify(member)} at ${score} was not left alone: ${now}`);
    } else if (!jobs.has(member)) {
      swept++;
      ok(now === undefined, `${JSON.stringify(member)} is still there`);
    }
  }
  return swept;
}

const title = 'no member or score stops a drain: what is no job is removed and counted, every job that is due is read';

test(`in memory ${title}`, async () => {
  await holds(async (members, clock) => {
    const set = new MemoryDueSet(clock.nowMs, fuzzLease);
    set.load({ ...emptySet, scores: members });
    return { set, left: async () => set.state.scores };
  }, 2_000);
});

describe('in Redis', () => {
  let upstash: TestUpstash;
  beforeAll(async () => {
    upstash = await startTestUpstash();
  });
  afterAll(() => upstash.close());

  test(title, async () => {
    let runs = 0;
    await holds(async (members, clock) => {
      const stage = `run${++runs}`;
      const key = `pk:{${stage}}:due:sume`;
      await upstash.direct('ZADD', key, ...[...members].flatMap(([member, score]) => [scoreText(score), member]));
      const { url, token } = upstash;
      const redis = connectUpstash({ url, token, timeoutMs: 5_000 });
      const given = { stage, account: 'sume', url, token, lease: fuzzLease, nowMs: clock.nowMs };
      const left = async () => {
        const members = await membersOf(upstash, key);
        return new Map([...members].map(([member, score]) => [member, scoreOf(score)]));
      };
      return { set: clock.waitingFor(new UpstashDueSet(redis, given)), left };
    }, 150);
  });
});

function scoreText(score: number): string {
  return String(score).replace('Infinity', 'inf');
}

function scoreOf(text: string): number {
  return Number(text.replace('inf', 'Infinity'));
}
