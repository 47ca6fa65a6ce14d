import fc from 'fast-check';
import { expect, test } from 'vitest';
import { effectiveSlots } from '../../lib/account-standing.ts';
import type { AccountOverview } from '../../lib/account-view.ts';
import { callAtMs } from '../../lib/budget-meter.ts';
import { UpstashAccountView } from '../../lib/due-set/upstash-account-view.ts';
import { connectUpstash } from '../../lib/due-set/upstash-due-set.ts';
import { start as nowMs, useRedisDueSet } from '../support/due-set.ts';
import { dueKey, waitingKey } from '../support/upstash.ts';

/*
 * What the API says of an account's slots and budgets is worked out anew in TypeScript, from fields that the scripts write.
 * Here it is held against what the real script then does.
 */

const on = useRedisDueSet();
const accountKey = 'pk:{test}:account:sume';
const manyWaiting = Array.from({ length: 300 }, (_, rank) => [String(rank), `job_w${rank}`]).flat();

interface Given {
  fields: Record<string, string>;
  dueAtMs?: readonly number[];
}

/** Looks at an account as the API does; then a drain asks for all that it can have. */
async function lookThenAdmit({ fields, dueAtMs = [] }: Given): Promise<{ seen: AccountOverview; admitted: number }> {
  await on.wipe();
  const { upstash } = on;
  if (dueAtMs.length > 0) {
    await upstash.direct('ZADD', dueKey, ...dueAtMs.flatMap((atMs, i) => [String(atMs), `job_d${i}`]));
  }
  await upstash.direct('ZADD', waitingKey, ...manyWaiting);
  await upstash.direct('HSET', accountKey, 'queued', '1', ...Object.entries(fields).flat());
  const { url, token } = upstash;
  const redis = connectUpstash({ url, token, timeoutMs: 2_000 });
  const clock = { nowMs: () => nowMs };
  const view = new UpstashAccountView(redis, { stage: 'test', token, clock, nowMs: clock.nowMs });
  const seen = await view.overview('sume');
  const { claimed } = await on.exchange({ claimMax: 0, admitMax: 300 });
  return { seen, admitted: claimed.filter(({ rank }) => rank !== undefined).length };
}

const runs = { numRuns: 60, seed: 814 };

test('as many jobs are admitted as the slots that are shown leave free, after a refusal too', async () => {
  const cases = fc.record({
    max: fc.option(fc.integer({ min: 1, max: 60 })),
    cap: fc.option(fc.integer({ min: 0, max: 60 })),
    sinceMs: fc.integer({ min: -20_000, max: 400_000 }),
    // Both sides of the half hour beyond which an id holds no slot.
    dueInMs: fc.array(fc.oneof(fc.integer({ min: 3_000, max: 60_000 }), fc.constantFrom(1_800_000, 1_800_001)), {
      maxLength: 40,
    }),
  });
  const holds = async ({ max, cap, sinceMs, dueInMs }: typeof cases extends fc.Arbitrary<infer T> ? T : never) => {
    on.limit({ maxInFlight: max });
    const slots = cap === null ? '' : `${cap} ${nowMs - sinceMs} ${cap}`;
    const { seen, admitted } = await lookThenAdmit({ fields: { slots }, dueAtMs: dueInMs.map((ms) => nowMs + ms) });
    const effective = effectiveSlots(seen, max) ?? 300 + seen.inFlight;
    expect(admitted).toBe(Math.max(0, effective - seen.inFlight));
  };
  await fc.assert(fc.asyncProperty(cases, holds), runs);
});

test.each([
  ['minute', 2_000, 32],
  ['day', 3_600_000, 25],
] as const)(
  'no job is admitted before the time that the %s’s budget shows for it, and all whose time has come but one',
  async (which, bucketMs, buckets) => {
    const cases = fc.record({
      limit: fc.integer({ min: 1, max: 120 }),
      counts: fc.oneof(
        fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: buckets }),
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: buckets, maxLength: buckets + 2 }),
      ),
      pacedMs: fc.integer({ min: 0, max: 20_000 }),
    });
    const holds = async ({ limit, counts, pacedMs }: typeof cases extends fc.Arbitrary<infer T> ? T : never) => {
      on.limit(which === 'minute' ? { createsPerMinute: limit } : { createsPerDay: limit });
      const meter = [Math.floor(nowMs / bucketMs), nowMs - pacedMs, ...counts].join(' ');
      const creates = which === 'minute' ? `${meter}|` : `|${meter}`;
      const { seen, admitted } = await lookThenAdmit({ fields: { creates } });
      const shown = (nth: number) => callAtMs(seen.state.creates[which], limit, nth, nowMs);
      if (admitted > 0) expect(shown(admitted)[0]).toBeLessThanOrEqual(nowMs);
      // The next one may be shown for now: the first of the spread half goes with the next tick.
      expect(shown(admitted + 2)[1]).toBeGreaterThan(nowMs);
    };
    await fc.assert(fc.asyncProperty(cases, holds), runs);
  },
);
