import { describe, expect, it } from 'vitest';
import type { DrainSettings } from '../../lib/drain.ts';
import { type AccountDrain, drainAccounts } from '../../lib/drain-accounts.ts';
import { DueSetError } from '../../lib/errors.ts';
import type { ExchangeReply } from '../../lib/ports.ts';
import { memoryNotes } from '../support/no-notes.ts';

/** Accounts whose sets are empty: each drain leaves after its first exchange. */
function setUp(names: readonly string[], busy: () => Promise<ReadonlySet<string>>) {
  const drained: string[] = [];
  const events: string[] = [];
  const note = (event: string) => void events.push(event);
  const log = { info: note, warn: note, error: note };
  const drainOf = (account: string): AccountDrain => {
    const exchange = async (): Promise<ExchangeReply> => {
      drained.push(account);
      return { nowMs: 0, claimed: [], stale: [], role: 'leave', nextDueAtMs: null, breaker: { kind: 'closed' } };
    };
    const nothing = async () => ({ kind: 'trouble', fault: { code: 'x', message: 'x' }, retryAfterMs: null }) as const;
    return {
      account,
      settings,
      ports: {
        ...memoryNotes(),
        dueSet: { exchange, tidy: async () => ({ expired: 0, wake: false }) },
        store: {
          get: async () => null,
          getMany: async () => ({ jobs: [], broken: [], absent: [] }),
          update: async () => ({ kind: 'stale' }),
        },
        provider: { create: nothing, read: nothing },
        waker: { wake: async () => {} },
        clock: { nowMs: () => 0, monotonicMs: () => performance.now(), sleep: async () => {} },
        random: () => 0.5,
        log,
      },
    };
  };
  const run = (event: object) =>
    drainAccounts({ drains: names.map(drainOf), busy: { ids: busy }, log }, event, () => 60_000);
  return { drained, events, run };
}

const settings: DrainSettings = {
  ...{ concurrency: 1, createConcurrency: 1, tickMs: 1_000, leaseMs: 10_000, windowMs: 1_000 },
  ...{ stepMs: 1_000, exchangeMax: 100, helpersMax: 0, adaptiveFirstRead: false },
};
const names = ['a', 'b', 'c'];

describe('a run of the drain function', () => {
  it('by the schedule drains the accounts that have work, whatever AWS puts into its event', async () => {
    const { drained, run } = setUp(names, async () => new Set(['a', 'c', 'gone']));
    await run({ 'detail-type': 'Scheduled Event', account: '123456789012', id: 'x', source: 'aws.events' });
    expect(drained.sort()).toEqual(['a', 'c']);
  });

  it('drains all of them when nobody can tell which have work', async () => {
    const { drained, run, events } = setUp(names, () => Promise.reject(new DueSetError('timeout', 'away')));
    await run({});
    expect(drained.sort()).toEqual(names);
    expect(events).toContain('busy_unknown');
  });

  it('drains the only account without asking', async () => {
    const { drained, run } = setUp(['a'], () => Promise.reject(new Error('asked')));
    await run({});
    expect(drained).toEqual(['a']);
  });

  it('drains the one that is named, and none for a name it does not know', async () => {
    const { drained, run, events } = setUp(names, async () => new Set());
    await run({ only: 'b' });
    await run({ only: 'nobody' });
    expect(drained).toEqual(['b']);
    expect(events).toContain('account_unknown');
  });
});
