import { describe, expect, it } from 'vitest';
import { ReceiverLanes } from '../../lib/webhooks/receiver-lanes.ts';
import { JumpClock } from '../support/jump-clock.ts';

/** Lanes on virtual time, on which a receiver takes `tookMs`; one that takes ten seconds or more did not answer. */
function lanesOn(clock: JumpClock, tookMs: (receiver: string) => number, total = 100) {
  const begun: { item: string; atMs: number }[] = [];
  const away: { item: string; waitMs: number }[] = [];
  const receiverOf = (item: string) => item.replace(/\d+$/, '');
  let peak = 0;
  const lanes: ReceiverLanes<string> = new ReceiverLanes({ widthOf: () => 8, total }, clock, () => 0.5, {
    run: async (item) => {
      begun.push({ item, atMs: clock.monotonicMs() });
      peak = Math.max(peak, lanes.running);
      const ms = tookMs(receiverOf(item));
      await clock.sleep(ms);
      return ms >= 10_000 ? 'hung' : 'answered';
    },
    turnAway: (item, waitMs) => void away.push({ item, waitMs }),
  });
  const push = (receiver: string, count: number, from = 0) => {
    for (let i = from; i < from + count; i++) lanes.push(receiver, `${receiver}${i}`);
  };
  const begunOf = (receiver: string) => begun.filter(({ item }) => receiverOf(item) === receiver);
  return { lanes, push, away, begunOf, peak: () => peak };
}

describe('attempts shared out among receivers', () => {
  it('leaves a receiver that hangs a few lanes and a short line, then one lane, and begins all others at once (T92)', async () => {
    const clock = new JumpClock();
    const { lanes, push, away, begunOf } = lanesOn(clock, (receiver) => (receiver === 'bad' ? 15_000 : 20));
    push('bad', 200);
    push('good', 8);
    expect(begunOf('bad')).toHaveLength(8);
    expect(begunOf('good')).toHaveLength(8);
    await clock.until(clock.sleep(2_100));
    lanes.trim();
    // Eight are under way, two wait in line, and the rest has been sent off.
    expect(away).toHaveLength(190);
    expect(away.every(({ waitMs }) => waitMs >= 500 && waitMs <= 3_000)).toBe(true);
    expect(lanes.fullForMs('bad')).not.toBeNull();
    expect(lanes.fullForMs('good')).toBeNull();
    await clock.until(clock.sleep(15_000));
    expect(begunOf('bad')).toHaveLength(9);
    push('bad', 50, 1_000);
    await clock.until(clock.sleep(15_000));
    expect(begunOf('bad').length).toBeLessThanOrEqual(12);
  });

  it('works off a thousand for one that answers, faster and faster, and sends hardly any away', async () => {
    const clock = new JumpClock();
    const { push, away, begunOf } = lanesOn(clock, () => 20);
    for (let i = 0; i < 5; i++) {
      push('good', 200, 200 * i);
      await clock.until(clock.sleep(300));
    }
    await clock.until(clock.sleep(500));
    expect(away).toEqual([]);
    expect(begunOf('good')).toHaveLength(1_000);
  });

  it('gives back its lanes to a receiver that answers again', async () => {
    const clock = new JumpClock();
    let tookMs = 15_000;
    const { push, begunOf } = lanesOn(clock, () => tookMs);
    push('bad', 8);
    await clock.until(clock.sleep(15_001));
    tookMs = 20;
    push('bad', 1);
    await clock.until(clock.sleep(30));
    push('bad', 20);
    expect(begunOf('bad')).toHaveLength(8 + 1 + 8);
  });

  it('has room for one that answers, however many are known to hang (T92)', async () => {
    const clock = new JumpClock();
    const { lanes, push, begunOf } = lanesOn(clock, (receiver) => (receiver.startsWith('bad') ? 15_000 : 20));
    for (let n = 0; n < 300; n++) push(`bad${n}_`, 3);
    await clock.until(clock.sleep(60_000));
    for (let n = 0; n < 300; n++) push(`bad${n}_`, 3, 10);
    expect(lanes.running).toBe(100);
    push('good', 1);
    expect(begunOf('good')).toMatchObject([{ atMs: 60_000 }]);
  });

  it('keeps to a hundred at a time, but begins one for each receiver that has none', async () => {
    const clock = new JumpClock();
    const { push, begunOf, peak } = lanesOn(clock, (receiver) => (receiver.startsWith('bad') ? 15_000 : 20));
    for (let i = 0; i < 13; i++) push(`bad-${String.fromCharCode(97 + i)}-`, 8);
    push('good', 10);
    expect(begunOf('good')).toHaveLength(1);
    await clock.until(clock.sleep(250));
    expect(begunOf('good')).toHaveLength(10);
    expect(peak()).toBe(101);
  });
});
