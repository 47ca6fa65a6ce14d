import { describe, expect, it } from 'vitest';
import { jobIdFor } from '../../lib/identify.ts';
import type { Queue } from '../../lib/ports.ts';
import { type SweepPorts, sweep } from '../../lib/sweep.ts';
import { testJob } from '../support/dynamo.ts';
import { noEvents } from '../support/no-events.ts';
import { noPauses } from '../support/no-pauses.ts';

const shardCount = 8;
const pageSize = 100;
const periodMs = 300_000;
const settings = { shardCount, pageMs: 10_000, periodMs };
const ids = Array.from({ length: 8_000 }, (_, n) => jobIdFor('owner', `key-${n}`)).sort();

/** A record of all the ids, a due set that holds those in `held`, and a clock that stands at a given run. */
function partsOf(held: Set<string>, run: () => number) {
  let pages = 0;
  const shards = Array.from({ length: shardCount }, (_, shard) => ids.filter((_, n) => n % shardCount === shard));
  const takeIn = async (entries: readonly { id: string }[]) => {
    for (const { id } of entries) held.add(id);
    return { added: entries.length, wake: false };
  };
  const dueSet: Queue['dueSet'] = {
    nowMs: async () => run() * periodMs,
    workload: async () => ({ jobs: held.size, paused: false }),
    absent: async (wanted) => wanted.filter((id) => !held.has(id)),
    schedule: (entries) => takeIn(entries),
    enqueue: (entries) => takeIn(entries),
    tidy: async () => ({ expired: 0, wake: false }),
  };
  const ports: SweepPorts = {
    ...noPauses,
    ...noEvents,
    store: {
      activeIds: async (shard, after = '') => {
        pages++;
        const rest = (shards[shard] ?? []).filter((id) => id > after);
        const page = rest.slice(0, pageSize);
        return { ids: page, next: rest.length > pageSize ? (page.at(-1) ?? null) : null };
      },
      getMany: async (wanted) => ({ jobs: wanted.map((id) => testJob({ id })), broken: [], absent: [] }),
    },
    queues: new Map([['sume', { dueSet, waker: { wake: async () => {} } }]]),
    clock: { nowMs: () => run() * periodMs },
    random: () => 0.5,
    log: { info: () => {}, warn: () => {}, error: () => {} },
  };
  return { ports, pages: () => pages };
}

describe('a sweep', () => {
  it('reads every shard whole, wherever it begins, and counts each job once', async () => {
    for (const run of [0, 5, 8, 77, 4_711]) {
      const held = new Set<string>();
      const { ports } = partsOf(held, () => run);
      const report = await sweep(ports, settings, () => 60_000);
      expect(report).toMatchObject({ complete: true, shards: 8, active: ids.length, restored: ids.length });
      expect(held.size).toBe(ids.length);
    }
  });

  it('brings back no job that has ended, though the index still lists it', async () => {
    const held = new Set<string>();
    const { ports } = partsOf(held, () => 0);
    const ended = new Set(ids.slice(0, 500));
    const getMany: SweepPorts['store']['getMany'] = async (wanted) => ({
      jobs: wanted.map((id) => testJob({ id, state: ended.has(id) ? 'completed' : 'queued' })),
      broken: [],
      absent: [],
    });
    await sweep({ ...ports, store: { ...ports.store, getMany } }, settings, () => 60_000);
    expect(held.size).toBe(ids.length - ended.size);
    expect([...held].filter((id) => ended.has(id))).toEqual([]);
  });

  it('T78 that is cut after the same number of pages on every run still reaches everything, and says that it was cut', async () => {
    const held = new Set<string>();
    let run = 1_000;
    const { ports, pages } = partsOf(held, () => run);
    // Three of ten pages of its first shard, one of which is short where the shard ends: two whole ones at least.
    const runsMax = Math.ceil(1.7 / 0.2) * shardCount;
    const first = run;
    while (held.size < ids.length && run < first + runsMax) {
      const end = pages() + 3;
      const report = await sweep(ports, settings, () => (pages() < end ? 60_000 : 0));
      expect(report.complete).toBe(false);
      run++;
    }
    expect(held.size).toBe(ids.length);
  });
});
