import { describe, expect, it } from 'vitest';
import { readAccounts } from '../../lib/accounts.ts';
import { DueSetError } from '../../lib/errors.ts';
import { place, placeMany } from '../../lib/place.ts';
import type { Queue, Queues } from '../../lib/ports.ts';

const accounts = readAccounts(
  JSON.stringify([
    { id: 'a' },
    { id: 'b', secret: 'sume-api-key-b', weight: 2 },
    { id: 'acme-only', secret: 'sume-api-key-acme', owners: ['acme'] },
  ]),
);

/** Jobs by account; null for one that is paused, with none. */
function queuesOf(jobs: Record<string, number | null>): Queues {
  const queue = (count: number | null): Queue => {
    const workload = async () => ({ jobs: count ?? 0, paused: count === null });
    return { dueSet: { workload } as Queue['dueSet'], waker: { wake: async () => {} } };
  };
  return new Map(Object.entries(jobs).map(([id, count]) => [id, queue(count)]));
}

describe('placing a job', () => {
  it('takes the account with the fewest jobs for its weight, of those that the owner may use', async () => {
    const queues = queuesOf({ a: 10, b: 18, 'acme-only': 5 });
    expect(await place(accounts, queues, 'acme')).toBe('acme-only');
    expect(await place(accounts, queues, 'other')).toBe('b');
    expect(await place(accounts, queuesOf({ a: 10, b: 21, 'acme-only': 99 }), 'other')).toBe('a');
  });

  it('takes the first of equals', async () => {
    expect(await place(accounts, queuesOf({ a: 5, b: 10, 'acme-only': 5 }), 'acme')).toBe('a');
  });

  it('spreads many by what each has to do with those before them', async () => {
    const queues = queuesOf({ a: 2, b: 0, 'acme-only': null });
    expect(await placeMany(accounts, queues, 'acme', 7)).toEqual(['b', 'b', 'b', 'b', 'a', 'b', 'b']);
    expect(await placeMany(accounts, queues, 'acme', 0)).toEqual([]);
    expect(await placeMany([], queues, 'acme', 3)).toEqual([]);
    expect(await placeMany(accounts.slice(0, 1), queues, 'acme', 2)).toEqual(['a', 'a']);
  });

  it('takes the wanted one, unless it is not the owner’s', async () => {
    const queues = queuesOf({ a: 10, b: 0, 'acme-only': 5 });
    expect(await place(accounts, queues, 'acme', 'a')).toBe('a');
    expect(await place(accounts, queues, 'other', 'acme-only')).toBeNull();
    expect(await place(accounts, queues, 'other', 'nobody')).toBeNull();
  });

  it('leaves a paused one alone while there is another', async () => {
    expect(await place(accounts, queuesOf({ a: 10, b: null, 'acme-only': null }), 'acme')).toBe('a');
    expect(await place(accounts, queuesOf({ a: null, b: null, 'acme-only': null }), 'acme')).toBe('a');
  });

  it('takes a job in when nobody can tell who has how many', async () => {
    const workload = () => Promise.reject(new DueSetError('timeout', 'away'));
    const queue = { dueSet: { workload } as unknown as Queue['dueSet'], waker: { wake: async () => {} } };
    expect(await place(accounts, new Map(accounts.map(({ id }) => [id, queue])), 'other')).toBe('a');
  });
});
