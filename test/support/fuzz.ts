import { setImmediate } from 'node:timers/promises';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { type DrainPorts, type DrainReport, type DrainSettings, drain } from '../../lib/drain.ts';
import { type Job, type JobState, jobStates, needsCreate } from '../../lib/job.ts';
import { type Item, movingAttributes, toItem } from '../../lib/job-store/job-item.ts';
import type { Log } from '../../lib/log.ts';
import type { Outcome } from '../../lib/outcome.ts';
import type { Clock, Provider } from '../../lib/ports.ts';
import { testJob, testNowMs } from './dynamo.ts';
import { hourMs } from './jobs.ts';

/* What the properties over whole drains share: thousands of them run in seconds, on a clock that jumps. */

/** Virtual time, from `testNowMs` on. It jumps to the next timer whenever nothing else is left to do. */
export class JumpClock implements Clock {
  #ms = 0;
  #calls = 0;
  readonly #sleepers = new Map<() => void, number>();

  readonly monotonicMs = (): number => this.#ms;
  readonly nowMs = (): number => Math.floor(testNowMs + this.#ms);

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(wake);
        resolve();
      };
      if (signal?.aborted === true) return resolve();
      signal?.addEventListener('abort', wake, { once: true });
      this.#sleepers.set(wake, this.#ms + Math.max(delayMs, 0));
    });
  }

  /** The same part, but time stands still while it answers. */
  waitingFor<T extends object>(part: T): T {
    const get = (target: T, name: string | symbol) => {
      return async (...given: unknown[]) => {
        this.#calls++;
        const call = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        try {
          return await call.apply(target, given);
        } finally {
          this.#calls--;
        }
      };
    };
    return new Proxy(part, { get });
  }

  /** Lets time go on until the work is done. */
  async until<T>(work: Promise<T>): Promise<T> {
    let over = false;
    const done = () => {
      over = true;
    };
    work.then(done, done);
    for (;;) {
      await setImmediate();
      if (over) return work;
      if (this.#calls === 0) this.#jump();
    }
  }

  #jump(): void {
    const next = [...this.#sleepers].reduce((a, b) => (b[1] < a[1] ? b : a), [() => {}, Number.POSITIVE_INFINITY]);
    const [wake, atMs] = next;
    if (atMs === Number.POSITIVE_INFINITY) throw new Error('Work is left, and nothing is waited for.');
    this.#ms = Math.max(this.#ms, atMs);
    wake();
  }
}

export const fuzzLease = { leaseMs: 10_000, aheadMs: 1_250 };
const fuzzSettings: DrainSettings = {
  ...{ concurrency: 4, createConcurrency: 2, tickMs: 1_000, leaseMs: fuzzLease.leaseMs, windowMs: 20_000 },
  ...{ stepMs: 5_000, exchangeMax: 3_900, helpersMax: 0 },
};

/** What one call said, of which job as it was then, and when. */
interface Heard {
  job: Job;
  outcome: Outcome;
  nowMs: number;
}

/** A drain of one window, and what it heard and logged. */
export interface FuzzDrain {
  report: DrainReport;
  heard: Heard[];
  events: string[];
}

type FuzzPorts = Pick<DrainPorts, 'dueSet' | 'store' | 'provider' | 'clock'>;

export async function runDrain(ports: FuzzPorts, settings: Partial<DrainSettings> = {}): Promise<FuzzDrain> {
  const { clock, provider } = ports;
  const heard: Heard[] = [];
  const events: string[] = [];
  const listen = (call: keyof Provider) => async (job: Job) => {
    const outcome = await provider[call](job);
    heard.push({ job, outcome, nowMs: clock.nowMs() });
    return outcome;
  };
  const note = (event: string) => void events.push(event);
  const log: Log = { info: note, warn: note, error: note };
  const listened = { create: listen('create'), read: listen('read') };
  const all = { ...ports, provider: listened, waker: { wake: async () => {} }, random: () => 0.5, log };
  const endsAtMs = clock.monotonicMs() + 60_000;
  const remainingMs = () => endsAtMs - clock.monotonicMs();
  const report = await drain(all, { ...fuzzSettings, ...settings }, remainingMs);
  return { report, heard, events };
}

/** The ends that docs/decide.md allows after this answer: a verdict of the provider's, or what our own deadline says. */
export function endsAllowed(job: Job, outcome: Outcome, nowMs: number): JobState[] {
  const lateMs = nowMs - Math.max(job.deadlineAtMs, job.rearmedAtMs ?? 0);
  const byDeadline: JobState[] = [];
  if (needsCreate(job) && nowMs >= job.deadlineAtMs) byDeadline.push('expired');
  if (job.state === 'overdue' && lateMs >= 72 * hourMs) byDeadline.push('given_up');
  if (job.state === 'submitting' && lateMs >= 78 * hourMs) byDeadline.push('given_up');
  return [...byVerdict(job, outcome, nowMs), ...byDeadline];
}

function byVerdict(job: Job, outcome: Outcome, nowMs: number): JobState[] {
  switch (outcome.kind) {
    case 'completed':
      if (outcome.result !== null) return ['completed'];
      return job.resultReads >= 4 ? ['failed'] : [];
    case 'ended':
      return [outcome.as];
    case 'missing':
      return job.missingReads >= 4 && nowMs - (job.missingSinceMs ?? nowMs) >= 600_000 ? ['lost'] : [];
    case 'refused':
      return needsCreate(job) && outcome.repeated !== true ? ['rejected'] : [];
    default:
      return [];
  }
}

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
