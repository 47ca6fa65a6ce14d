import { describe, expect, it } from 'vitest';
import { afterAttempt, retryDelaysMs } from '../../lib/webhooks/retry.ts';
import { answered, testDelivery } from '../support/deliveries.ts';
import { testNowMs as nowMs } from '../support/dynamo.ts';

const hour = 3_600_000;

describe('a delivery after an attempt', () => {
  it('has arrived with any 2xx, and with nothing else', () => {
    for (const status of [200, 201, 204, 299]) {
      expect(afterAttempt(testDelivery(), answered(status), nowMs, () => 0)).toMatchObject({
        ...{ state: 'delivered', endedAtMs: nowMs, attempts: 1 },
        log: [{ status, fault: null }],
      });
    }
    for (const status of [100, 199, 300, 301, 304, 400, 401, 404, 429, 500, 503, null]) {
      expect(afterAttempt(testDelivery(), answered(status), nowMs, () => 0).state).toBe('pending');
    }
  });

  it('is tried ten times over close to four days, each wait up to a tenth longer than it says, and is dead then (T102)', () => {
    const waits: number[] = [];
    let delivery = testDelivery();
    let atMs = nowMs;
    while (delivery.state === 'pending') {
      delivery = afterAttempt(delivery, answered(500), atMs, () => 0.999_999);
      waits.push(delivery.nextAtMs - atMs);
      atMs = delivery.nextAtMs;
    }
    expect(delivery).toMatchObject({ state: 'dead', attempts: 10, endedAtMs: expect.any(Number) });
    expect(waits.slice(0, 9)).toEqual(retryDelaysMs.slice(1).map((ms) => Math.ceil(ms * 1.099_999_9)));
    expect(retryDelaysMs.reduce((a, b) => a + b, 0) / hour).toBeCloseTo(75.6, 1);
  });

  it('waits as long as it was told to, if that is longer, up to a day (T98)', () => {
    const wait = (retryAfterMs: number | null) =>
      afterAttempt(testDelivery(), { ...answered(429), retryAfterMs }, nowMs, () => 0).nextAtMs - nowMs;
    expect([null, 0, 4_999, 5_001, 2 * hour, 25 * hour].map(wait)).toEqual([
      ...[5_000, 5_000, 5_000, 5_001, 2 * hour, 24 * hour],
    ]);
  });

  it('is canceled by a 410; one that has ended meanwhile stays so, with the attempt in its log, unless it arrived', () => {
    expect(afterAttempt(testDelivery(), answered(410), nowMs, () => 0).state).toBe('canceled');
    const canceled = testDelivery({ state: 'canceled', endedAtMs: 1 });
    expect(afterAttempt(canceled, answered(500), nowMs, () => 0)).toMatchObject({
      ...{ state: 'canceled', endedAtMs: 1 },
      log: [{ status: 500 }],
    });
    expect(afterAttempt(canceled, answered(200), nowMs, () => 0)).toMatchObject({
      state: 'delivered',
      endedAtMs: nowMs,
    });
  });

  it('keeps the twenty newest attempts, and five hundred characters of what was answered', () => {
    let delivery = testDelivery();
    for (let i = 1; i <= 25; i++) {
      const sent = { ...answered(500), snippet: 'x'.repeat(1_000), tookMs: i };
      delivery = afterAttempt({ ...delivery, attempts: 0 }, sent, nowMs + i, () => 0);
    }
    expect(delivery.log.map(({ tookMs }) => tookMs)).toEqual(Array.from({ length: 20 }, (_, i) => i + 6));
    expect(delivery.log.every(({ snippet }) => snippet.length === 500)).toBe(true);
  });
});
