import { ok } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SetClock } from '../../lib/set-clock.ts';
import { startMs } from '../support/jobs.ts';

/** Eighths of a ms: exact in a double, also beside times since 1970. */
const eighths = (maxMs: number) => fc.integer({ min: 0, max: maxMs * 8 }).map((count) => count / 8);

describe('the due set’s clock as seen from here', () => {
  it('T31 is never put later than it is by the earliest bound, nor earlier by the latest, on any network', () => {
    const exchange = fc.record({ pauseMs: eighths(60_000), thereMs: eighths(5_000), backMs: eighths(5_000) });
    const exchanges = fc.array(exchange, { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(exchanges, eighths(1_000), eighths(600_000), (course, offsetMs, laterMs) => {
        let monotonicMs = 0;
        const clock = new SetClock(() => monotonicMs);
        const trueNowMs = () => startMs + offsetMs + monotonicMs;
        for (const { pauseMs, thereMs, backMs } of course) {
          monotonicMs += pauseMs;
          const sentAtMs = monotonicMs;
          monotonicMs += thereMs;
          const setNowMs = Math.floor(trueNowMs());
          monotonicMs += backMs;
          clock.observe(sentAtMs, monotonicMs, setNowMs);
          ok(clock.earliestNowMs() <= trueNowMs() && trueNowMs() <= clock.latestNowMs());
        }
        monotonicMs += laterMs;
        ok(clock.earliestNowMs() <= trueNowMs() && trueNowMs() <= clock.latestNowMs());
      }),
      { numRuns: 2_000 },
    );
  });

  it('is known as closely as the quickest round trip allows, and a slower one changes nothing', () => {
    let monotonicMs = 1_000;
    const clock = new SetClock(() => monotonicMs);
    const width = () => clock.latestNowMs() - clock.earliestNowMs();
    clock.observe(0, 1_000, startMs + 500);
    expect(width()).toBeCloseTo(1_001, 0);
    monotonicMs = 2_004;
    clock.observe(2_000, 2_004, startMs + 2_002);
    expect(width()).toBeCloseTo(5, 2);
    monotonicMs = 6_000;
    clock.observe(3_000, 6_000, startMs + 5_900);
    // Wider only by what two clocks may drift apart in four seconds.
    expect(width()).toBeCloseTo(5.8, 1);
  });

  it.each([
    ['back five minutes', -300_000],
    ['forward five minutes', 300_000],
    ['back a second', -1_000],
  ])('T31 that is set %s is followed with the next exchange, also a slower one', (_name, stepMs) => {
    let monotonicMs = 10;
    const clock = new SetClock(() => monotonicMs);
    clock.observe(0, 10, startMs);
    monotonicMs = 1_040;
    clock.observe(1_000, 1_040, startMs + 1_015 + stepMs);
    const trueNowMs = startMs + 1_035 + stepMs;
    expect(clock.earliestNowMs()).toBeLessThanOrEqual(trueNowMs);
    expect(clock.latestNowMs()).toBeGreaterThanOrEqual(trueNowMs);
    expect(Math.abs(clock.earliestNowMs() - trueNowMs)).toBeLessThan(100);
  });

  it('takes the sharper bound of each exchange, also when no single round trip was quick', () => {
    let monotonicMs = 2_000;
    const clock = new SetClock(() => monotonicMs);
    clock.observe(0, 100, startMs + 99);
    clock.observe(1_000, 1_100, startMs + 1_001);
    monotonicMs = 1_100;
    expect(clock.latestNowMs() - clock.earliestNowMs()).toBeCloseTo(3, 0);
  });

  it('is before everything until the first exchange, so that nothing counts as due', () => {
    expect(new SetClock(() => 5_000).earliestNowMs()).toBe(Number.NEGATIVE_INFINITY);
  });
});
