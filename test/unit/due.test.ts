import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../lib/decide.ts';
import {
  beforeDeadline,
  deniedDelayMs,
  hintMs,
  nextOverdueReadMs,
  overdueGraceMs,
  overdueReadsMs,
  pollDefaultMs,
  pollDelayMs,
  pollMaxMs,
  pollMinMs,
  retryAfterDelayMs,
  retryAfterMaxMs,
  troubleBaseMs,
  troubleDelayMs,
  troubleMaxMs,
} from '../../lib/due.ts';
import { confirmedJob, hourMs, minuteMs, running, secondMs, startMs } from '../support/jobs.ts';

const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the provider’s next_poll_after_seconds', () => {
  it.each([
    ['missing', undefined, null],
    ['null', null, null],
    ['an empty text', '', null],
    ['30', 30, 30_000],
    ['"30"', '30', 30_000],
    ['" 30 "', ' 30 ', null],
    ['" 30"', ' 30', null],
    ['"30s"', '30s', null],
    ['"abc"', 'abc', null],
    ['true', true, null],
    ['[]', [], null],
    ['[30]', [30], null],
    ['{}', {}, null],
    ['2.5', 2.5, 2_500],
    ['"2.5"', '2.5', 2_500],
    ['"0x10"', '0x10', null],
    ['"1e3"', '1e3', null],
    ['-1', -1, null],
    ['"-1"', '-1', null],
    ['0', 0, 0],
    ['NaN', Number.NaN, null],
  ])('T25 when %s is understood or, with no guess, left aside', (_name, seconds, expected) => {
    expect(hintMs(seconds)).toBe(expected);
  });

  it('T26 of many years, or out of any range, waits for the longest time there is: ten minutes', () => {
    const huge = [1e9, 2_147_484, 1e308, Number.POSITIVE_INFINITY, JSON.parse('1e400'), '9'.repeat(400)];
    for (const seconds of huge) expect(pollDelayMs(hintMs(seconds), 0.5)).toBe(pollMaxMs);
  });

  it('T26 far past the deadline still has the job looked at when its deadline comes', () => {
    const job = confirmedJob('processing', { providerStatus: 'processing', deadlineAtMs: startMs + 5 * minuteMs });
    expect(decide(job, running({ hintMs: hintMs(1e308) }), startMs, 0)).toMatchObject({ dueAtMs: job.deadlineAtMs });
  });

  it('T25 of any JSON value gives a whole number of ms from 1 s to 10 min, never early', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.double(), fc.integer().map(String)), randoms, (value, random) => {
        const delayMs = pollDelayMs(hintMs(value), random);
        expect(Number.isInteger(delayMs) && delayMs >= pollMinMs && delayMs <= pollMaxMs).toBe(true);
        if (typeof value === 'number' && value > 0) expect(delayMs).toBeGreaterThanOrEqual(Math.min(value, 600) * 1000);
      }),
      { numRuns: 2_000 },
    );
  });

  it('T34 of 30 s makes twenty reads 30 s apart, however late each comes: no drift', () => {
    const job = confirmedJob('processing', { providerStatus: 'processing' });
    const lateMs = 900;
    let dueAtMs = startMs;
    const readAtMs: number[] = [];
    for (let nth = 0; nth < 20; nth++) {
      readAtMs.push(dueAtMs + lateMs);
      const decision = decide(job, running({ hintMs: 30 * secondMs }), dueAtMs + lateMs, 0.99);
      if (decision.kind !== 'keep') throw new Error(decision.kind);
      dueAtMs = decision.dueAtMs;
    }
    const gaps = readAtMs.slice(1).map((atMs, index) => atMs - (readAtMs[index] ?? 0));
    expect(new Set(gaps)).toEqual(new Set([30_900]));
  });
});

describe('the waits', () => {
  it('without a hint are 15 s and up to a tenth more', () => {
    expect([0, 0.5, 0.999].map((random) => pollDelayMs(null, random))).toEqual([15_000, 15_750, 16_499]);
    expect([0, 999, 1_000, 15_000].map((hint) => pollDelayMs(hint, 0.5))).toEqual([1_000, 1_000, 1_000, 15_000]);
  });

  it('after failures double from 30 s to 10 min, and up to half more', () => {
    const row = [1, 2, 3, 4, 5, 6, 7, 100, 1e9];
    expect(row.map((nth) => troubleDelayMs(nth, 0) / 1000)).toEqual([30, 60, 120, 240, 480, 600, 600, 600, 600]);
    expect(troubleDelayMs(1, 0.999)).toBeLessThanOrEqual(45_000);
  });

  it('after a 429 are as told, at least 1 s, at most an hour; 30 s when nothing was told', () => {
    expect([null, 0, 60_000, 1e12, Number.POSITIVE_INFINITY].map((told) => retryAfterDelayMs(told, 0))).toEqual([
      30_000, 1_000, 60_000, 3_600_000, 3_600_000,
    ]);
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: retryAfterMaxMs }), randoms, (told, random) => {
        const delayMs = retryAfterDelayMs(told, random);
        expect(delayMs >= told && delayMs <= Math.ceil(told * 1.1) && Number.isInteger(delayMs)).toBe(true);
      }),
    );
  });

  it('T35 are in milliseconds, the absolute ones since 1970', () => {
    const lengths = {
      pollDefaultMs,
      pollMinMs,
      pollMaxMs,
      troubleBaseMs,
      troubleMaxMs,
      retryAfterMaxMs,
      deniedDelayMs,
    };
    expect(lengths).toEqual({
      pollDefaultMs: 15 * secondMs,
      pollMinMs: secondMs,
      pollMaxMs: 10 * minuteMs,
      troubleBaseMs: 30 * secondMs,
      troubleMaxMs: 10 * minuteMs,
      retryAfterMaxMs: hourMs,
      deniedDelayMs: minuteMs,
    });
    const nowMs = Date.now();
    const job = confirmedJob('processing', { providerStatus: 'processing', deadlineAtMs: nowMs + hourMs });
    const decision = decide(job, running({ hintMs: hintMs(2) }), nowMs, 0);
    expect(decision.kind === 'keep' && Math.abs(decision.dueAtMs - Date.now() - 2_000)).toBeLessThan(2_000);
  });
});

describe('the deadline', () => {
  it('is never passed over, and no longer counts once it lies behind', () => {
    expect(beforeDeadline(startMs + 10, startMs + 5, startMs)).toBe(startMs + 5);
    expect(beforeDeadline(startMs + 3, startMs + 5, startMs)).toBe(startMs + 3);
    expect(beforeDeadline(startMs + 10, startMs, startMs)).toBe(startMs + 10);
  });

  it('is followed by four seldom reads, each of them strictly ahead', () => {
    expect(overdueReadsMs.map((afterMs) => afterMs / hourMs)).toEqual([1, 6, 24, 72]);
    expect(overdueGraceMs).toBe(6 * hourMs);
    const next = (hours: number) => nextOverdueReadMs(startMs, startMs + hours * hourMs);
    expect([0, 0.5, 1, 5.9, 6, 24, 71.9].map((hours) => ((next(hours) ?? 0) - startMs) / hourMs)).toEqual([
      1, 1, 6, 6, 24, 72, 72,
    ]);
    expect([next(72), next(1_000)]).toEqual([null, null]);
  });
});
