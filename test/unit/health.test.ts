import { expect, test } from 'vitest';
import { readAccountState } from '../../lib/account-state.ts';
import type { AccountOverview } from '../../lib/account-view.ts';
import { readAccounts } from '../../lib/accounts.ts';
import { DueSetError } from '../../lib/errors.ts';
import { healthReader } from '../../lib/http/health.ts';
import { startMs } from '../support/jobs.ts';

/** How health looks at the accounts: `looks` counts, `answer` may be changed. */
function setUp() {
  const at = {
    nowMs: startMs,
    looks: 0,
    dueLagMs: 0,
    fields: {} as Record<string, string>,
    trouble: null as Error | null,
  };
  const overview = async (): Promise<AccountOverview> => {
    at.looks++;
    if (at.trouble !== null) throw at.trouble;
    const { nowMs, dueLagMs } = at;
    return { nowMs, state: readAccountState(at.fields, nowMs), inFlight: 0, waiting: 0, dueLagMs };
  };
  const never = () => Promise.reject(new Error('not for health'));
  const view = { overview, look: never, setPaused: never };
  const clock = { nowMs: () => at.nowMs };
  return { at, health: healthReader({ accounts: readAccounts('[{"id":"sume"}]'), view, clock, stage: 'test' }) };
}

test('a hundred questions at once, and all within five seconds, cost one look', async () => {
  const { at, health } = setUp();
  const answers = await Promise.all(Array.from({ length: 100 }, health));
  expect(answers.every(({ status }) => status === 'up')).toBe(true);
  at.fields = { breaker: `open ${startMs} 1 0` };
  at.nowMs += 4_999;
  expect((await health()).status).toBe('up');
  expect(at.looks).toBe(1);
  at.nowMs += 1;
  expect(await health()).toEqual({ status: 'degraded', stage: 'test', faults: [{ account: 'sume', code: 'failing' }] });
  expect(at.looks).toBe(2);
});

test('also what went wrong is kept for five seconds, and no longer; a clock that steps back does not keep it', async () => {
  const { at, health } = setUp();
  at.trouble = new DueSetError('timeout', 'No answer.');
  for (let i = 0; i < 10; i++) expect((await health()).faults).toEqual([{ code: 'due_set_unreachable' }]);
  expect(at.looks).toBe(1);
  at.trouble = null;
  at.nowMs -= 3_600_000;
  expect((await health()).status).toBe('up');
});

test('T111 jobs that are ten minutes late mean that nobody drains, unless something is known to keep them', async () => {
  const { at, health } = setUp();
  const status = async (dueLagMs: number, fields: Record<string, string>) => {
    Object.assign(at, { dueLagMs, fields, nowMs: at.nowMs + 5_000 });
    const { status, faults } = await health();
    return [status, ...faults.map(({ code }) => code)].join(' ');
  };
  const { nowMs } = at;
  const spent = (reads: number) => `|${Math.floor(nowMs / 3_600_000)} ${nowMs} ${reads}`;
  expect(await status(599_999, {})).toBe('up');
  expect(await status(600_000, {})).toBe('down not_drained');
  expect(await status(600_000, { paused: `creates ${nowMs}`, reads: spent(4_999) })).toBe('down not_drained');
  expect(await status(600_000, { paused: `all ${nowMs}` })).toBe('up');
  // Half of the day's 10,000: from then on they are spread over the day.
  expect(await status(600_000, { reads: spent(5_000) })).toBe('up');
  expect(await status(600_000, { told: `0 ${nowMs + 3_600_000} - -` })).toBe('up');
  expect(await status(600_000, { breaker: `open ${nowMs + 3_600_000} 1 0` })).toBe('degraded failing');
  expect(await status(600_000, { breaker: `denied ${nowMs + 3_600_000} 1 0` })).toBe('down denied');
});

test('a bug is not taken for an outage', async () => {
  const { at, health } = setUp();
  at.trouble = new TypeError('a bug');
  await expect(health()).rejects.toThrow('a bug');
});
