import { expect } from 'vitest';
import type { DueSet, JobStore } from '../../lib/ports.ts';
import type { MemoryJobStore } from './memory-job-store.ts';
import { memorySide } from './set-side.ts';
import { simulate } from './simulate.ts';
import type { Breaks } from './world.ts';

/** Some history breaks an invariant, and the first that does breaks this one. `quiet`: one in which nobody listens or cancels. */
export async function expectFound(breaks: Breaks, found: RegExp, quiet: boolean): Promise<void> {
  for (let seed = 1; seed <= 150; seed++) {
    const { violation } = await simulate({ seed, steps: 800, makeSide: memorySide, breaks, quiet });
    if (violation === null) continue;
    expect(violation.invariant).toMatch(found);
    return;
  }
  expect.fail('a hundred and fifty seeds found nothing');
}

/** The due set as it is, to be changed in part. */
export function bound(set: DueSet): DueSet {
  return {
    exchange: (request) => set.exchange(request),
    schedule: (entries, mode) => set.schedule(entries, mode),
    enqueue: (entries) => set.enqueue(entries),
    tidy: () => set.tidy(),
    absent: (ids) => set.absent(ids),
    workload: () => set.workload(),
    nowMs: () => set.nowMs(),
  };
}

/** The record with another update. */
export function updating(store: MemoryJobStore, update: JobStore['update']): JobStore {
  return {
    update,
    create: (job) => store.create(job),
    get: (id) => store.get(id),
    getMany: (ids) => store.getMany(ids),
    list: (owner, query) => store.list(owner, query),
    activeIds: (shard, after) => store.activeIds(shard, after),
  };
}
