import { describe, expect, it } from 'vitest';
import { FanOut } from '../../lib/fan-out.ts';
import { Pace } from '../../lib/pace.ts';

const settings = { tickMs: 1_000, helpersMax: 2 };

describe('a drain that falls behind', () => {
  it('asks for a helper after three pressed ticks, for the next after three more, and never for more than its limit', () => {
    const fanOut = new FanOut(settings, 0);
    const asked: number[] = [];
    for (let nowMs = 0; nowMs <= 20_000; nowMs += 250) {
      fanOut.observe(true, 1_500, nowMs);
      if (fanOut.wantsHelper(nowMs)) asked.push(nowMs);
    }
    expect(asked).toEqual([3_000, 6_000]);
  });

  it('is not pressed by full claims that are on time, nor by late ones that leave nothing over', () => {
    const fanOut = new FanOut(settings, 0);
    for (let nowMs = 0; nowMs <= 10_000; nowMs += 250) {
      fanOut.observe(true, 1_000, nowMs);
      fanOut.observe(false, 60_000, nowMs);
      expect(fanOut.wantsHelper(nowMs)).toBe(false);
    }
    expect(fanOut.isCalm(10_000)).toBe(true);
  });

  it('starts counting anew when the pressure was gone in between', () => {
    const fanOut = new FanOut(settings, 0);
    fanOut.observe(true, 5_000, 0);
    fanOut.observe(false, 0, 2_000);
    fanOut.observe(true, 5_000, 2_500);
    expect(fanOut.wantsHelper(3_500)).toBe(false);
    expect(fanOut.isCalm(3_500)).toBe(false);
    expect(fanOut.wantsHelper(5_500)).toBe(true);
  });
});

describe('what a drain claims', () => {
  it('is two per lane at least, and a tick and a half at what a read takes', () => {
    const pace = new Pace({ concurrency: 10, tickMs: 1_000, exchangeMax: 3_900 });
    expect(pace.wanted).toBe(60);
    expect([pace.isLow(20), pace.isLow(19)]).toEqual([false, true]);
    for (let step = 0; step < 500; step++) pace.finish(10);
    expect(pace.wanted).toBeGreaterThan(1_450);
    expect(pace.wanted).toBeLessThanOrEqual(1_500);
    for (let step = 0; step < 500; step++) pace.finish(0);
    expect(pace.wanted).toBe(3_900);
    for (let step = 0; step < 500; step++) pace.finish(30_000);
    expect(pace.wanted).toBe(20);
  });
});
