import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jobIdFor } from '../../lib/identify.ts';
import { enter, jobStates } from '../../lib/job.ts';
import { firstHintMaxMs, firstReadAtMs, isControl, renderEnd, samplesOf, sentAtMs } from '../../lib/render-end.ts';
import { binOf, noBins } from '../../lib/render-times.ts';
import { accepted } from '../support/accepted-job.ts';
import { jobWith, startMs } from '../support/jobs.ts';

describe('the first read of a job', () => {
  test('is never before the hint, nor later than the deadline or than what is known', () => {
    const jobs = fc.record({
      n: fc.nat(50),
      state: fc.constantFrom(...jobStates),
      deadlineMs: fc.integer({ min: 0, max: 400_000 }),
    });
    const hints = fc.integer({ min: 1, max: 600_000 });
    fc.assert(
      fc.property(jobs, hints, fc.integer({ min: 0, max: 90_000_000 }), ({ n, state, deadlineMs }, hint, firstMs) => {
        const job = { ...accepted(n, 'others'), state, deadlineAtMs: startMs + deadlineMs };
        const dueAtMs = startMs + hint;
        const atMs = firstReadAtMs(job, dueAtMs, startMs, firstMs);
        expect(atMs).toBeGreaterThanOrEqual(dueAtMs);
        expect(atMs).toBeLessThanOrEqual(Math.max(dueAtMs, Math.min(job.deadlineAtMs, startMs + firstMs)));
        if (hint > firstHintMaxMs || (state !== 'queued' && state !== 'processing')) expect(atMs).toBe(dueAtMs);
      }),
      { numRuns: 5_000 },
    );
  });

  test('is counted from when the create was first sent, not from when a repeat of it was confirmed', () => {
    const sending = enter(jobWith(), 'submitting', startMs);
    const job = enter({ ...sending, submittedAtMs: startMs + 60_000 }, 'queued', startMs + 60_000);
    expect(sentAtMs(job)).toBe(startMs);
    expect(sentAtMs(enter(job, 'processing', startMs + 90_000))).toBe(startMs);
    const turnedAway = enter(enter(sending, 'waiting', startMs + 5_000), 'submitting', startMs + 50_000);
    expect(sentAtMs(enter({ ...turnedAway, submittedAtMs: startMs + 51_000 }, 'queued', startMs + 51_000))).toBe(
      startMs + 50_000,
    );
  });
});

describe('the end of a job whose first read was delayed', () => {
  const firstMs = 100_000;
  const of = (n: number, group: 'control' | 'others', foundMs: number, seenMs?: number) => {
    const atMs = startMs + foundMs;
    const end = renderEnd(
      enter(accepted(n, group), 'completed', atMs),
      atMs,
      seenMs === undefined ? undefined : startMs + seenMs,
    );
    if (end === null) throw new Error('it says nothing');
    return { end, atMs };
  };

  test('is late when its first read found it, and never a sample of how early renders end', () => {
    const ends = [
      of(1, 'others', 100_200),
      of(2, 'others', 131_000, 116_000),
      of(3, 'others', 190_000),
      of(4, 'others', 104_000),
    ];
    expect(samplesOf(ends, firstMs)).toMatchObject({ seen: noBins, delayed: 4, late: 1, atMs: null });
    expect(samplesOf(ends, firstMs).found[binOf(190_000)]).toBe(1);
  });

  test('does not count as one in the control group, nor where nothing is delayed', () => {
    const controls = [of(1, 'control', 100_200, 85_000), of(2, 'control', 60_000, 45_000)];
    const { seen, delayed } = samplesOf(controls, firstMs);
    expect([seen[binOf(85_000)], seen[binOf(45_000)], delayed]).toEqual([1, 1, 0]);
    expect(samplesOf([of(3, 'others', 60_000, 45_000)], null).seen[binOf(45_000)]).toBe(1);
  });
});

test('the control group is one job in eight', () => {
  const ids = Array.from({ length: 20_000 }, (_, n) => jobIdFor('acme', `key-${n}`));
  const share = ids.filter(isControl).length / ids.length;
  expect(share).toBeGreaterThan(0.115);
  expect(share).toBeLessThan(0.135);
});
