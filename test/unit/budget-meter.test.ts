import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callAtMs, dayMeter, goneAtMs, minuteMeter, readMeter, roomAtMs, usedOf } from '../../lib/budget-meter.ts';
import { hourMs, minuteMs, secondMs, startMs } from '../support/jobs.ts';

const bucket = (atMs: number, sizeMs: number) => Math.floor(atMs / sizeMs);
const nowMs = bucket(startMs, hourMs) * hourMs;
const newestMinute = bucket(nowMs, 2_000);
const newestHour = bucket(nowMs, hourMs);
const minute = (text: string, atMs = nowMs) => readMeter(text, minuteMeter, atMs);
const day = (text: string, atMs = nowMs) => readMeter(text, dayMeter, atMs);

describe('a meter as the scripts write it', () => {
  it('counts what was used within its window', () => {
    expect(usedOf(minute(`${newestMinute} ${nowMs} 3 0 4`))).toBe(7);
    expect(minute(`${newestMinute} ${nowMs} 3 0 4`).pacedAtMs).toBe(nowMs);
  });

  it('forgets what has left the window, bucket by bucket', () => {
    const text = `${newestMinute} 0 3 ${'0 '.repeat(30)}4`;
    expect(usedOf(minute(text))).toBe(7);
    expect(usedOf(minute(text, nowMs + 2_000))).toBe(3);
    expect(usedOf(minute(text, nowMs + 62_000))).toBe(3);
    expect(usedOf(minute(text, nowMs + 64_000))).toBe(0);
  });

  it('keeps its counts when the clock has stepped back since', () => {
    expect(usedOf(minute(`${newestMinute + 90} 0 3 1`))).toBe(4);
  });

  it.each(['', 'x', 'NaN NaN NaN', `${newestMinute}`, `${newestMinute} 0 -5 1e400`, '{} [] null'])(
    'that says %j counts nothing',
    (text) => expect(usedOf(minute(text))).toBe(0),
  );

  it('is never anything but finite, whatever it says', () => {
    const word = fc.oneof(fc.string(), fc.double().map(String), fc.constant(String(newestMinute)));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 50 }), (words) => {
        const meter = minute(words.join(' '));
        expect(meter.counts).toHaveLength(32);
        expect(meter.counts.every((count) => count >= 0)).toBe(true);
        expect(Number.isFinite(meter.pacedAtMs)).toBe(true);
      }),
    );
  });
});

describe('room in a budget', () => {
  it('is there now while some is left', () => {
    expect(roomAtMs(minute(`${newestMinute} 0 9`), 10, 1, nowMs)).toBe(nowMs);
  });

  it('comes when the oldest use leaves the window', () => {
    const meter = minute(`${newestMinute} 0 4 0 6`);
    expect(roomAtMs(meter, 10, 1, nowMs)).toBe(nowMs + 60_000);
    expect(roomAtMs(meter, 10, 6, nowMs)).toBe(nowMs + 60_000);
    expect(roomAtMs(meter, 10, 7, nowMs)).toBe(nowMs + 64_000);
  });

  it('for more calls than the limit comes a window later for each limit', () => {
    expect(roomAtMs(minute(''), 10, 10, nowMs)).toBe(nowMs);
    expect(roomAtMs(minute(''), 10, 11, nowMs)).toBe(nowMs + 64_000);
    expect(roomAtMs(minute(`${newestMinute} 0 10`), 10, 25, nowMs)).toBe(nowMs + 3 * 64_000);
  });

  it('for each further call comes no sooner than for the one before', () => {
    const counts = fc.array(fc.nat(20), { minLength: 1, maxLength: 32 });
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 300 }), (used, limit, nth) => {
        const meter = minute(`${newestMinute} 0 ${used.join(' ')}`);
        const [earliest, latest] = callAtMs(meter, limit, nth, nowMs);
        const [nextEarliest, nextLatest] = callAtMs(meter, limit, nth + 1, nowMs);
        expect(earliest).toBeGreaterThanOrEqual(nowMs);
        expect(latest).toBeGreaterThanOrEqual(earliest);
        expect(nextEarliest).toBeGreaterThanOrEqual(earliest);
        expect(nextLatest).toBeGreaterThanOrEqual(latest);
      }),
    );
  });

  it('is spread evenly once half is used, as the scripts do it', () => {
    expect(callAtMs(minute(`${newestMinute} ${nowMs} 60`), 120, 60, nowMs)[1]).toBeGreaterThan(nowMs);
    // One left of ten: the time until the nine no longer count, counted from the last call; a sixteenth of the window at least.
    const meter = minute(`${newestMinute} ${nowMs - 1_000} 9`);
    expect(callAtMs(meter, 10, 1, nowMs)).toEqual([nowMs, nowMs + 63_000]);
    expect(callAtMs(minute(`${newestMinute} ${nowMs - 70_000} 9`), 10, 1, nowMs)).toEqual([nowMs, nowMs]);
    const early = minute(`${newestMinute} ${nowMs - 1_000} ${'0 '.repeat(31)}9`);
    expect(callAtMs(early, 10, 1, nowMs)).toEqual([nowMs, nowMs + 3_000]);
  });
});

describe('when a day’s budget will be gone', () => {
  it('is not known to come while the pace is one that lasts', () => {
    expect(goneAtMs(day(''), 10_000, nowMs)).toBeNull();
    expect(goneAtMs(day(`${newestHour} 0 0 ${'390 '.repeat(23)}`), 10_000, nowMs)).toBeNull();
  });

  it('is foreseen from the use of the last hours', () => {
    expect(goneAtMs(day(`${newestHour} 0 0 1000`), 10_000, nowMs)).toBe(nowMs + 9 * hourMs);
    const half = day(`${newestHour} 0 500 1000`, nowMs + hourMs / 2);
    expect(goneAtMs(half, 10_000, nowMs + hourMs / 2)).toBe(nowMs + hourMs / 2 + 8.5 * hourMs);
  });

  it('counts what leaves the window on the way', () => {
    // 1,000 an hour, and 5,000 of the oldest hour leave at the end of this one.
    const text = `${newestHour} 0 0 1000 ${'0 '.repeat(22)}5000`;
    expect(goneAtMs(day(text), 8_000, nowMs)).toBe(nowMs + 7 * hourMs);
  });

  it('goes by the time since it began where there was no use before', () => {
    const atMs = nowMs + 20 * minuteMs;
    expect(goneAtMs(day(`${newestHour} 0 200`, atMs), 300, atMs)).toBe(atMs + 10 * minuteMs);
    // A first burst is not taken for a pace.
    const soonMs = nowMs + secondMs;
    expect(goneAtMs(day(`${newestHour} 0 10`, soonMs), 300, soonMs)).toBe(soonMs + 290 * minuteMs);
  });

  it('is now when nothing is left', () => {
    expect(goneAtMs(day(`${newestHour} 0 300`), 300, nowMs)).toBe(nowMs);
  });
});
