import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lanes } from '../../lib/lanes.ts';

/** Work that ends when told to; `started` in order. */
function work() {
  const started: number[] = [];
  const endings = new Map<number, () => void>();
  const run = (item: number) => {
    started.push(item);
    return new Promise<void>((resolve) => endings.set(item, resolve));
  };
  const end = async (item: number) => {
    endings.get(item)?.();
    endings.delete(item);
    await new Promise(setImmediate);
  };
  return { started, endings, run, end };
}

describe('lanes', () => {
  it('run at most their width at a time, in order of arrival, and the next starts when one ends', async () => {
    const { started, run, end } = work();
    const lanes = new Lanes(2, run);
    for (const item of [1, 2, 3, 4]) lanes.push(item);
    expect([started, lanes.running]).toEqual([[1, 2], 2]);
    await end(2);
    expect([started, lanes.running]).toEqual([[1, 2, 3], 2]);
    await end(1);
    await end(3);
    expect([started, lanes.running]).toEqual([[1, 2, 3, 4], 1]);
    await end(4);
    expect(lanes.running).toBe(0);
    lanes.push(5);
    expect(started.at(-1)).toBe(5);
  });

  it('keep order and width whatever the order in which work comes and ends', async () => {
    const widths = fc.integer({ min: 1, max: 5 });
    const courses = fc.array(fc.oneof(fc.constant('push' as const), fc.nat({ max: 9 })), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(widths, courses, async (width, course) => {
        const { started, endings, run, end } = work();
        const lanes = new Lanes(width, run);
        let pushed = 0;
        for (const step of course) {
          if (step === 'push') lanes.push(pushed++);
          else if (endings.size > 0) await end([...endings.keys()][step % endings.size] as number);
          expect(started).toEqual(Array.from(started, (_, index) => index));
          expect([lanes.running, endings.size]).toEqual([endings.size, Math.min(width, endings.size)]);
          expect(started.length).toBe(Math.min(pushed, started.length - endings.size + width));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('take 20,000 items through without losing or repeating one, also while they are pushed', async () => {
    const seen: number[] = [];
    const lanes: Lanes<number> = new Lanes(50, async (item) => {
      seen.push(item);
      if (item < 10_000) lanes.push(item + 10_000);
      await null;
    });
    for (let item = 0; item < 10_000; item++) lanes.push(item);
    while (lanes.running > 0) await new Promise(setImmediate);
    expect(seen.toSorted((left, right) => left - right)).toEqual(Array.from({ length: 20_000 }, (_, index) => index));
  });

  it('let the next one in as soon as a lane is freed, while the rest of the work goes on', async () => {
    const started: number[] = [];
    const freed = new Map<number, () => void>();
    const ended = new Map<number, () => void>();
    const lanes = new Lanes<number>(1, (item, free) => {
      started.push(item);
      freed.set(item, free);
      return new Promise((resolve) => ended.set(item, resolve));
    });
    for (const item of [1, 2]) lanes.push(item);
    freed.get(1)?.();
    expect([started, lanes.running]).toEqual([[1, 2], 2]);
    // Freeing it again, or ending, opens no second lane.
    freed.get(1)?.();
    ended.get(1)?.();
    await new Promise(setImmediate);
    lanes.push(3);
    expect([started, lanes.running]).toEqual([[1, 2], 1]);
  });
});
