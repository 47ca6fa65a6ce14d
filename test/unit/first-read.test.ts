import { beforeEach, describe, expect, test } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { FirstReads } from '../../lib/first-read.ts';
import { enter, type Job } from '../../lib/job.ts';
import { renderEnd } from '../../lib/render-end.ts';
import {
  type Bins,
  binOf,
  firstReadMs,
  noBins,
  noRenderTimes,
  type RenderSamples,
  renderKind,
} from '../../lib/render-times.ts';
import { accepted } from '../support/accepted-job.ts';
import { hourMs, jobWith, secondMs, startMs } from '../support/jobs.ts';
import { added, MemoryRenderTimes } from '../support/memory-render-times.ts';

const hintMs = 15 * secondMs;
const logged: string[] = [];
const log = { info: () => {}, error: () => {}, warn: (event: string) => void logged.push(event) };
/** Time never passes: what answers at all is in time. */
const clock = {
  monotonicMs: () => 0,
  sleep: (_: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => (signal?.aborted ? resolve() : signal?.addEventListener('abort', () => resolve()))),
};
/** Every wait is over at once: whatever does not answer in the same moment is late. */
const impatient = { ...clock, sleep: async () => {} };

let store: MemoryRenderTimes;
beforeEach(() => {
  store = new MemoryRenderTimes();
  logged.length = 0;
});

const open = (given: Partial<ConstructorParameters<typeof FirstReads>[0]> = {}, adaptiveFirstRead = true) =>
  new FirstReads({ store, clock, log, ...given }, { adaptiveFirstRead });

const kind = renderKind(jobWith());

/** What is known once renders were last seen running at these ages, s. */
function knowing(agesS: readonly number[]): void {
  const seen = [...noBins];
  for (const age of agesS) seen[binOf(age * secondMs)] = (seen[binOf(age * secondMs)] ?? 0) + 1;
  const atMs = { first: startMs - 2 * hourMs, last: startMs };
  store.all.set(kind, added(noRenderTimes, { seen, found: noBins, delayed: 0, late: 0, atMs }));
}

const known = () => store.all.get(kind) ?? noRenderTimes;
const count = (bins: Bins) => bins.reduce((sum, n) => sum + n, 0);
const seenCount = () => count(known().current.seen) + count(known().previous?.seen ?? noBins);

/** One render's life in a run of its own, read at the pace of its hint; how long after its end that was found, ms. */
async function live(job: Job, rendersMs: number, reads = open()): Promise<number> {
  const atMs = job.submittedAtMs ?? 0;
  let dueAtMs = await reads.accepted(job, atMs + hintMs, atMs);
  for (; dueAtMs < atMs + rendersMs; dueAtMs += hintMs) reads.seenRunning(job, dueAtMs);
  reads.ended(enter(job, 'completed', dueAtMs), dueAtMs);
  await reads.flush();
  return dueAtMs - atMs - rendersMs;
}

const aged = (seconds: number, n = 400) => Array.from({ length: n }, () => seconds);

describe('the due time of an accepted job', () => {
  test('is later where renders of its kind are known to take longer, but not for the control group nor when switched off', async () => {
    knowing(aged(120));
    const firstMs = firstReadMs(known()) ?? 0;
    const dueAtMs = startMs + hintMs;
    expect(firstMs).toBeGreaterThan(90 * secondMs);
    expect(await open().accepted(accepted(1, 'others'), dueAtMs, startMs)).toBe(startMs + firstMs);
    expect(await open().accepted(accepted(1, 'others', startMs, 'queued'), dueAtMs, startMs)).toBe(startMs + firstMs);
    expect(await open().accepted(accepted(1, 'control'), dueAtMs, startMs)).toBe(dueAtMs);
    expect(await open({}, false).accepted(accepted(1, 'others'), dueAtMs, startMs)).toBe(dueAtMs);
    const other = { ...accepted(1, 'others'), input: { model: 'another', prompt: 'x' } };
    expect(await open().accepted(other, dueAtMs, startMs)).toBe(dueAtMs);
  });

  test('stays what it was while what is known can not be had', async () => {
    knowing(aged(120));
    const dueAtMs = startMs + hintMs;
    const failing = { get: async () => Promise.reject(new JobStoreError('throttled')), add: async () => {} };
    const first = open({ store: failing });
    expect(await first.accepted(accepted(1, 'others'), dueAtMs, startMs)).toBe(dueAtMs);
    await first.accepted({ ...accepted(2, 'others'), input: { model: 'b', prompt: 'x' } }, dueAtMs, startMs);
    expect(logged).toEqual(['render_times_trouble']);
    const hanging = { get: () => new Promise<never>(() => {}), add: async () => {} };
    expect(await open({ store: hanging, clock: impatient }).accepted(accepted(1, 'others'), dueAtMs, startMs)).toBe(
      dueAtMs,
    );
  });

  test('needs one look at the store for each kind and run, for five hundred kinds at most', async () => {
    const asked: string[] = [];
    const get = async (name: string) => {
      asked.push(name);
      return null;
    };
    const counting = { get, add: async () => {} };
    const reads = open({ store: counting });
    for (let n = 0; n < 1_200; n++) {
      const job = { ...accepted(n % 10, 'others'), input: { model: `model-${n % 600}`, prompt: 'x' } };
      expect(await reads.accepted(job, startMs + hintMs, startMs)).toBe(startMs + hintMs);
    }
    expect(asked).toHaveLength(500);
    expect(new Set(asked).size).toBe(500);
  });
});

describe('what a run learns', () => {
  test('is written once for each kind at its end, and nothing when nothing ended', async () => {
    const written: [string, RenderSamples][] = [];
    const reads = open({
      store: { get: async () => null, add: async (name, samples) => void written.push([name, samples]) },
    });
    await reads.flush();
    for (let n = 0; n < 5; n++) {
      const job = accepted(n, 'others');
      reads.seenRunning(job, startMs + 90_000);
      reads.ended(enter(job, n === 0 ? 'failed' : 'completed', startMs + 105_000), startMs + 105_000 + n);
    }
    await reads.flush();
    await reads.flush();
    expect(written).toHaveLength(1);
    const [name, samples] = written[0] ?? ['', null];
    expect(name).toBe(kind);
    expect(samples?.seen[binOf(90_000)]).toBe(5);
    expect([count(samples?.seen ?? []), count(samples?.found ?? [])]).toEqual([5, 4]);
    expect(samples?.atMs).toEqual({ first: startMs + 105_000, last: startMs + 105_004 });
  });

  test('is dropped when it can not be written, or not in time', async () => {
    const job = accepted(1, 'others');
    for (const add of [
      async () => Promise.reject(new JobStoreError('throttled')),
      () => new Promise<never>(() => {}),
    ]) {
      const reads = open({ store: { get: async () => null, add }, clock: impatient });
      reads.ended(enter(job, 'completed', startMs + 20_000), startMs + 20_000);
      await reads.flush();
    }
  });

  test('says nothing of a job whose reads had failed, or were seldom, or that an earlier run may have seen later', async () => {
    const job = accepted(1, 'others');
    const endMs = startMs + 200_000;
    const fault = { code: 'timeout', message: 'x', atMs: startMs + 100_000 };
    expect(renderEnd(enter({ ...job, lastFault: fault }, 'completed', endMs), endMs, undefined)).toBeNull();
    expect(renderEnd(enter(enter(job, 'overdue', endMs), 'completed', endMs), endMs, undefined)).toBeNull();
    expect(renderEnd(jobWith({ state: 'failed' }), endMs, undefined)).toBeNull();
    const own = { ...fault, atMs: endMs };
    expect(renderEnd(enter({ ...job, lastFault: own }, 'failed', endMs), endMs, undefined)).not.toBeNull();
    const reads = open();
    reads.ended(enter(job, 'completed', endMs), endMs);
    reads.ended(
      enter(enter(accepted(2, 'others', startMs, 'queued'), 'processing', startMs + 30_000), 'completed', endMs),
      endMs,
    );
    await reads.flush();
    expect([seenCount(), count(known().current.found)]).toEqual([0, 2]);
  });

  test('counts one that was never met in work as having ended at once', async () => {
    const reads = open();
    reads.ended(enter(accepted(1, 'others'), 'completed', startMs + 16_000), startMs + 16_000);
    reads.ended(enter(accepted(2, 'others', startMs, 'queued'), 'completed', startMs + 90_000), startMs + 90_000);
    await reads.flush();
    expect(known().current.seen[0]).toBe(2);
  });

  test('goes on while the setting is off, from all jobs', async () => {
    knowing(aged(120));
    for (let n = 0; n < 20; n++) await live(accepted(n, n % 2 === 0 ? 'control' : 'others'), 130_000, open({}, false));
    expect(seenCount()).toBe(420);
    expect(known().delayed).toBe(0);
  });
});

describe('renders that become faster', () => {
  test('a few of them: the control group alone brings the first read down, since no delayed one can tell', async () => {
    knowing(aged(120));
    const before = firstReadMs(known()) ?? 0;
    let jobs = 0;
    // One in thirty is quick now: too few for the alarm, too many for the two per cent that may be late.
    for (; (firstReadMs(known()) ?? 0) === before && jobs < 20_000; jobs++) {
      const isLong = jobs % 30 !== 0;
      await live(accepted(jobs, Math.floor(jobs / 30) % 8 === 0 ? 'control' : 'others'), isLong ? 130_000 : 50_000);
    }
    const after = firstReadMs(known()) ?? 0;
    expect(after).toBeLessThanOrEqual(45_000);
    expect(after).toBeGreaterThan(0);
    // No delayed job is among the samples: each of them would have made the quick ones seem fewer.
    expect(seenCount()).toBeLessThanOrEqual(400 + jobs / 8 + 30);
  });

  test('all of them: after a few late first reads none is delayed, until as much is known again as in the beginning', async () => {
    knowing(aged(120));
    const late: number[] = [];
    let n = 0;
    for (; firstReadMs(known()) !== null && n < 1_000; n++) late.push(await live(accepted(n, 'others'), 60_000));
    expect(late).toHaveLength(6);
    expect(known()).toEqual(noRenderTimes);
    let delayed = 0;
    for (let more = 0; more < 300; more++, n++) {
      const atMs = startMs + more * 60_000;
      const lateMs = await live(accepted(n, 'others', atMs), 61_000);
      expect(lateMs).toBeLessThanOrEqual(hintMs);
      if ((firstReadMs(known()) ?? 0) > 0) delayed++;
    }
    expect(delayed).toBeGreaterThan(150);
    expect(firstReadMs(known())).toBeLessThanOrEqual(60_000);
  });
});
