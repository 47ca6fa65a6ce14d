import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { areTrusted, type HookCounts, type HourTally, hookHour } from '../../lib/hooks/hook-health.ts';
import { HookPace } from '../../lib/hooks/hook-pace.ts';
import type { Job } from '../../lib/job.ts';
import { confirmedJob, hourMs, minuteMs, startMs } from '../support/jobs.ts';

const config = { publicUrl: 'https://api.example.com', secrets: new Map([['sume', ['secret-one']]]) };
const hookUrl = 'https://api.example.com/v1/hooks/sume?job=1';
const processing = (given: Partial<Job> = {}) => confirmedJob('processing', { hookUrl, ...given });
const hour = hookHour(startMs);

class Counts implements HookCounts {
  tallies: HourTally[] = [];
  readonly added: unknown[] = [];
  reads = 0;
  fails = false;
  async add(...change: unknown[]): Promise<void> {
    this.added.push(change);
    if (this.fails) throw new JobStoreError('down');
  }
  async read(): Promise<HourTally[]> {
    this.reads++;
    if (this.fails) throw new JobStoreError('down');
    return this.tallies;
  }
}

const warned: string[] = [];
const log = { info: () => {}, warn: (event: string) => void warned.push(event), error: () => {} };

/** A pace that has looked at the counts. */
async function pace(tallies: Partial<HourTally>[] = []) {
  const counts = new Counts();
  counts.tallies = tallies.map((tally) => ({ account: 'sume', hour, arrived: 0, missed: 0, late: 0, ...tally }));
  const made = new HookPace({ counts, log }, 'sume', config);
  expect(made.slowed(processing({ id: 'job_first' }), startMs + 15_000, startMs)).toBe(startMs + 15_000);
  await made.flush();
  return { pace: made, counts };
}

describe('hooks are relied on', () => {
  it.each([
    [{ arrived: 0, missed: 0, late: 0 }, true],
    [{ arrived: 0, missed: 1, late: 0 }, true],
    [{ arrived: 0, missed: 2, late: 0 }, false],
    [{ arrived: 0, missed: 0, late: 2 }, false],
    [{ arrived: 95, missed: 15, late: 10 }, true],
    [{ arrived: 95, missed: 15, late: 11 }, false],
  ])('when %o came: %s', (tally, trusted) => {
    expect(areTrusted(tally)).toBe(trusted);
  });
});

describe('reads of a job that is to be told of', () => {
  it('are slowed four times, from fifteen seconds at least to two minutes at most, and never past the deadline', async () => {
    const { pace: slow } = await pace();
    const dueIn = (waitMs: number, given: Partial<Job> = {}) =>
      slow.slowed(processing({ id: `job_${waitMs}`, ...given }), startMs + waitMs, startMs) - startMs;
    expect([dueIn(1_000), dueIn(15_000), dueIn(20_000), dueIn(30_000), dueIn(119_000), dueIn(300_000)]).toEqual([
      60_000, 60_000, 80_000, 120_000, 120_000, 300_000,
    ]);
    expect(dueIn(16_000, { deadlineAtMs: startMs + 40_000 })).toBe(40_000);
  });

  it('keep their pace without a hook, once word has come, while a cancel is asked for, and when overdue', async () => {
    const { pace: slow } = await pace();
    const { hookUrl: _, ...plain } = processing();
    const others = [
      plain,
      processing({ hook: { eventId: 'evt_1', atMs: startMs } }),
      processing({ cancelAskedAtMs: startMs }),
      processing({ state: 'overdue' }),
    ];
    for (const job of others) expect(slow.slowed(job, startMs + 15_000, startMs)).toBe(startMs + 15_000);
    const off = new HookPace({ counts: new Counts(), log }, 'sume', null);
    expect(off.slowed(processing(), startMs + 15_000, startMs)).toBe(startMs + 15_000);
    expect(off.withHook(processing()).hookUrl).toBeUndefined();
    expect(slow.withHook(plain).hookUrl).toBe(`https://api.example.com/v1/hooks/sume?job=${plain.id}`);
  });

  it('keep their pace from the read on that was pulled forward, whatever the copy at hand says', async () => {
    const { pace: slow } = await pace();
    expect(slow.slowed(processing(), startMs + 15_000, startMs)).toBe(startMs + 60_000);
    for (const nowMs of [startMs + 20_000, startMs + 35_000, startMs + 50_000]) {
      expect(slow.slowed(processing(), nowMs + 15_000, nowMs)).toBe(nowMs + 15_000);
    }
  });

  it('keep their pace while word mostly fails to come, by the counts of all or what was seen here', async () => {
    const { pace: distrusted } = await pace([{ missed: 2 }]);
    expect(distrusted.slowed(processing(), startMs + 15_000, startMs)).toBe(startMs + 15_000);
    const { pace: old } = await pace([
      { missed: 2, hour: hour - 2 },
      { missed: 1, hour: hour - 1 },
    ]);
    expect(old.slowed(processing(), startMs + 15_000, startMs)).toBe(startMs + 60_000);
    for (const id of ['job_a', 'job_b']) {
      old.ended(confirmedJob('completed', { id, hookUrl, finishedAtMs: startMs }));
    }
    expect(old.slowed(processing(), startMs + 15_000, startMs)).toBe(startMs + 15_000);
    await old.flush();
    expect(old.slowed(processing(), startMs + 15_000, startMs)).toBe(startMs + 15_000);
  });

  it('are slowed only on counts of the last minute, which are asked for once a minute', async () => {
    const { pace: slow, counts } = await pace();
    for (let n = 0; n < 10; n++) slow.slowed(processing({ id: `job_${n}` }), startMs + 20_000, startMs + 5_000);
    expect(counts.reads).toBe(1);
    counts.fails = true;
    const laterMs = startMs + minuteMs;
    expect(slow.slowed(processing({ id: 'job_x' }), laterMs + 15_000, laterMs)).toBe(laterMs + 15_000);
    await slow.flush();
    expect(slow.slowed(processing({ id: 'job_x' }), laterMs + 16_000, laterMs + 1_000)).toBe(laterMs + 16_000);
    expect([counts.reads, warned]).toEqual([2, ['hook_counts_unread']]);
  });

  it('never come before their time, nor more than two minutes later', async () => {
    const { pace: slow } = await pace();
    const times = fc.record({
      waitMs: fc.integer({ min: 0, max: 600_000 }),
      deadlineMs: fc.integer({ min: -hourMs, max: hourMs }),
    });
    fc.assert(
      fc.property(times, fc.uuid(), ({ waitMs, deadlineMs }, id) => {
        const job = processing({ id, deadlineAtMs: startMs + deadlineMs });
        const waitedMs = slow.slowed(job, startMs + waitMs, startMs) - startMs;
        expect(waitedMs).toBeGreaterThanOrEqual(waitMs);
        expect(waitedMs).toBeLessThanOrEqual(Math.max(waitMs, 120_000));
        if (deadlineMs > waitMs) expect(waitedMs).toBeLessThanOrEqual(deadlineMs);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('ends', () => {
  it('count once each, in their hour, as arrived or missed, and those that nobody was to tell not at all', async () => {
    const { pace: slow, counts } = await pace();
    const told = { hookUrl, hook: { eventId: 'evt_1', atMs: startMs } };
    slow.ended(confirmedJob('completed', { ...told, finishedAtMs: startMs }));
    slow.ended(confirmedJob('failed', { ...told, finishedAtMs: startMs }));
    slow.ended(confirmedJob('canceled', { hookUrl, finishedAtMs: startMs - hourMs }));
    slow.ended(confirmedJob('completed', { finishedAtMs: startMs }));
    for (const state of ['given_up', 'lost'] as const) slow.ended(confirmedJob(state, { hookUrl }));
    const { submittedAtMs: _, ...unsent } = confirmedJob('expired', { hookUrl });
    slow.ended(unsent);
    await slow.flush();
    await slow.flush();
    expect(counts.added).toEqual([
      ['sume', hour, { arrived: 2, missed: 0, late: 0 }],
      ['sume', hour - 1, { arrived: 0, missed: 1, late: 0 }],
    ]);
    counts.fails = true;
    slow.ended(confirmedJob('completed', told));
    await slow.flush();
    expect(warned.at(-1)).toBe('hook_counts_unwritten');
  });
});
