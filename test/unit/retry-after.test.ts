import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryAfterDelayMs } from '../../lib/due.ts';
import { callsLeft, retryAfterMs } from '../../lib/providers/retry-after.ts';

const serverMs = Date.UTC(2026, 9, 6, 12, 0, 0);
const httpDate = (atMs: number) => new Date(atMs).toUTCString();

describe('how long a provider asks to wait', () => {
  it('is read from seconds, whole or not, with blanks around', () => {
    const texts = ['0', '60', ' 60 ', '2.5', '0.0001', '86400'];
    expect(texts.map((text) => retryAfterMs({ 'retry-after': text }))).toEqual([
      0, 60_000, 60_000, 2_500, 1, 86_400_000,
    ]);
  });

  it('T27 from a date is measured by the provider’s own clock, however wrong ours is', () => {
    for (const clockOffMs of [-600_000, 0, 600_000, 40 * 365 * 86_400_000]) {
      const nowMs = serverMs + clockOffMs;
      expect(retryAfterMs({ 'retry-after': httpDate(nowMs + 90_000), date: httpDate(nowMs) })).toBe(90_000);
    }
  });

  it('T27 from a date already past is no wait, which then means the floor: neither zero nor NaN', () => {
    const past = retryAfterMs({ 'retry-after': httpDate(serverMs - 5_000), date: httpDate(serverMs) });
    expect(past).toBe(0);
    expect(retryAfterDelayMs(past, 0)).toBe(1_000);
  });

  it('T27 from a date in the old form with a weekday’s full name is the same', () => {
    const headers = { 'retry-after': 'Sunday, 06-Nov-94 08:49:37 GMT', date: 'Sun, 06 Nov 1994 08:48:07 GMT' };
    expect(retryAfterMs(headers)).toBe(90_000);
  });

  it('is unknown from a date when the answer has no usable date of its own', () => {
    const value = httpDate(serverMs + 90_000);
    expect(retryAfterMs({ 'retry-after': value })).toBeNull();
    expect(retryAfterMs({ 'retry-after': value, date: 'yesterday' })).toBeNull();
  });

  it('falls to the limit’s reset when Retry-After is absent or says nothing', () => {
    const reset = { 'ratelimit-reset': '7', 'x-ratelimit-reset': '9' };
    expect(retryAfterMs({ 'retry-after': '60', ...reset })).toBe(60_000);
    expect(retryAfterMs({ 'retry-after': 'soon', ...reset })).toBe(7_000);
    expect(retryAfterMs(reset)).toBe(7_000);
    expect(retryAfterMs({ 'x-ratelimit-reset': '9' })).toBe(9_000);
  });

  it('is unknown without a header that says so', () => {
    const texts = ['', ' ', 'abc', '30s', '30, 60', '1e3', '0x10', 'null', '6m5s'];
    expect(texts.map((text) => retryAfterMs({ 'retry-after': text, date: httpDate(serverMs) }))).toEqual(
      texts.map(() => null),
    );
    expect(retryAfterMs({})).toBeNull();
  });

  it('is never negative and never NaN, whatever the headers say', () => {
    const texts = fc.oneof(fc.string(), fc.double().map(String), fc.date({ noInvalidDate: true }).map(String));
    const headers = fc.record(
      { 'retry-after': texts, date: texts, 'ratelimit-reset': texts, 'x-ratelimit-reset': texts },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(headers, (given) => {
        const waitMs = retryAfterMs(given);
        expect(waitMs === null || waitMs >= 0).toBe(true);
        const delayMs = retryAfterDelayMs(waitMs, 0.5);
        expect(Number.isInteger(delayMs) && delayMs >= 1_000 && delayMs <= 1.1 * 3_600_000).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('calls that are left', () => {
  it('are told by a number and a time, with or without X-', () => {
    expect(callsLeft({ 'ratelimit-remaining': '7', 'ratelimit-reset': '30' })).toEqual({ left: 7, forMs: 30_000 });
    expect(callsLeft({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1.5' })).toEqual({ left: 0, forMs: 1_500 });
    for (const headers of [{ 'ratelimit-remaining': '7' }, { 'ratelimit-reset': '7' }, {}])
      expect(callsLeft(headers)).toBeNull();
    expect(callsLeft({ 'ratelimit-remaining': '-1', 'ratelimit-reset': '7' })).toBeNull();
  });

  it('count for nothing while a tenth of the limit, and more than ten, are left', () => {
    const of = (left: string, limit?: string) =>
      callsLeft({
        ...{ 'ratelimit-remaining': left, 'ratelimit-reset': '60' },
        ...(limit === undefined ? {} : { 'ratelimit-limit': limit }),
      })?.forMs;
    expect([of('119', '120'), of('13', '120'), of('12', '120'), of('0', '120')]).toEqual([0, 0, 60_000, 60_000]);
    expect([of('11'), of('10'), of('900', '10000')]).toEqual([0, 60_000, 60_000]);
  });

  it('until a second since 1970 are measured against the answer’s own date', () => {
    const reset = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1796034284' };
    const date = new Date(1_796_034_254_000).toUTCString();
    expect(callsLeft({ ...reset, date })).toEqual({ left: 0, forMs: 30_000 });
    expect(retryAfterMs({ ...reset, date })).toBe(30_000);
    expect(callsLeft(reset)).toBeNull();
  });
});
