import { describe, expect, it } from 'vitest';
import { spreadOf } from '../bench/percentiles.ts';
import { judged, type Measured, summaryLines } from '../events-load/figures.ts';
import { readOptions } from '../events-load/options.ts';

const lateness = (p99: number) => spreadOf(Array<number>(100).fill(p99));

function measured(given: { arrived?: number; delayMs?: number; without?: number; with?: number } = {}): Measured {
  const { arrived = 100, delayMs = 1_999, without = 10, with: withThem = 20 } = given;
  const delays = Array<number>(arrived).fill(delayMs);
  return {
    good: { sent: 100, arrived, repeats: 0, delayMs: spreadOf(delays) },
    hanging: { sent: 20, attempts: 8 },
    steady: { jobs: 10, without: lateness(without), with: lateness(withThem) },
    ...{ machineLoad: 1, seconds: 1 },
  };
}

describe('the figures of events-load', () => {
  it('meet the targets up to their limits', () => {
    expect(judged(measured())).toMatchObject({ ok: true, failed: [] });
    expect(summaryLines(judged(measured())).at(-1)).toBe('Every target was met.');
  });

  it.each([
    ['an event is missing', { arrived: 99 }, '99 of 100 events came to the good receiver'],
    ['no event came at all', { arrived: 0 }, 'the p95 of their delay is Infinity ms, not under 2000'],
    ['they come late', { delayMs: 2_000 }, 'the p95 of their delay is 2000 ms, not under 2000'],
    ['reads suffer', { with: 20.1 }, 'the p99 of the lateness is 20.1 ms with deliveries, over 20'],
  ])('miss them when %s', (_, given, why) => {
    const figures = judged(measured(given));
    expect(figures.ok).toBe(false);
    expect(figures.failed).toContain(why);
  });

  it('are asked for by a command line that names what is wrong with it', () => {
    expect(readOptions([])).toMatchObject({ good: 1_000, hanging: 200, steady: 100, seconds: 30, json: false });
    expect(readOptions(['--good', '5', '--hanging', '0', '--json'])).toMatchObject({ good: 5, hanging: 0, json: true });
    expect(() => readOptions(['--good', '0'])).toThrow('--good is "0"; expected a whole number from 1 to 5000.');
    expect(() => readOptions(['--bad'])).toThrow("Unknown option '--bad'. See npm run events-load -- --help.");
  });
});
