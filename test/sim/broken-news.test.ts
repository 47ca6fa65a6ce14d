import { describe, test } from 'vitest';
import { cancel } from '../../lib/cancel.ts';
import { pendingEvents } from '../../lib/event.ts';
import type { DeliveryStore } from '../../lib/event-ports.ts';
import { isActive, type Job } from '../../lib/job.ts';
import type { JobStore, UpdateResult } from '../../lib/ports.ts';
import { expectFound, updating } from './broken.ts';
import type { MemoryDeliveries } from './memory-event-stores.ts';
import type { MemoryJobStore } from './memory-job-store.ts';
import type { Breaks } from './world.ts';

/* As in broken.test.ts, for what is told of jobs, and for jobs that are canceled. */

const wrong: [what: string, breaks: Breaks, found: RegExp][] = [
  [
    'makes an event anew with every write',
    { store: writing((job) => ({ ...job, events: job.events.map((event) => ({ ...event, atMs: job.updatedAtMs })) })) },
    /one event for each told state/,
  ],
  [
    'gives an event an id by the attempt',
    {
      store: writing((job) => ({
        ...job,
        events: job.events.map((event) => ({
          ...event,
          id: `${event.id.slice(0, -1)}${job.revision % 2 ? 'a' : 'b'}`,
        })),
      })),
    },
    /one event for each told state/,
  ],
  [
    'ends a job first, and adds the event later',
    { store: writing((job) => (isActive(job.state) ? job : { ...job, events: job.events.slice(0, -1) })) },
    /without its event in the very same write|one event for each told state/,
  ],
  [
    'leaves ended jobs with news out of the index that is swept',
    {
      store: (store) => ({
        ...updating(store, (job) => store.update(job)),
        activeIds: async (shard, after) => {
          const page = await store.activeIds(shard, after);
          return { ...page, ids: page.ids.filter((id) => isActive((store.all.get(id) as Job).state)) };
        },
      }),
    },
    /every event is made out within a sweep’s period/,
  ],
  [
    'says that an event is made out before it is',
    { deliveries: (store) => ({ ...deliveriesOf(store), create: async () => {} }) },
    /an event is made out once for each that listens/,
  ],
  [
    'makes out two deliveries of one event',
    {
      deliveries: (store) => ({
        ...deliveriesOf(store),
        create: async (delivery) => {
          await store.create(delivery);
          await store.create({ ...delivery, id: `${delivery.id.slice(0, -1)}a` });
          await store.create({ ...delivery, id: `${delivery.id.slice(0, -1)}b` });
        },
      }),
    },
    /an event is made out once for each that listens/,
  ],
  [
    'takes it that somebody always listens',
    { news: ({ announce }) => ({ address: (job) => job, announce }) },
    /what nobody listens to is not made out, and costs no write/,
  ],
  [
    'takes it that nobody ever listens',
    { news: ({ announce }) => ({ address: quietened, announce }) },
    /an event that somebody listens to is pending/,
  ],
  [
    'writes the whole job when it notes its deliveries',
    {
      store: (store) =>
        updating(store, (job) => {
          const stored = store.all.get(job.id);
          const isNoted = stored !== undefined && pendingEvents(job).length < pendingEvents(stored).length;
          return store.update(isNoted ? { ...job, updatedAtMs: job.updatedAtMs + 1 } : job);
        }),
    },
    /who delivers leaves the job as it is|an ended job never changes/,
  ],
  [
    'sends a job by a record from before it was canceled, whatever its revision',
    {
      store: (store) => ({
        ...updating(store, async (job) => {
          if (store.all.get(job.id)?.state !== 'canceled') return store.update(job);
          return job.state === 'submitting' ? asUpdated(job) : store.update({ ...job, state: 'canceled' });
        }),
        getMany: async (ids) => {
          const found = await store.getMany(ids);
          return { ...found, jobs: found.jobs.map(uncanceled) };
        },
      }),
    },
    /a job that was canceled unsent is never sent/,
  ],
  [
    'notes a cancel as told that no call has told',
    {
      store: writing((job) =>
        job.cancelAskedAtMs === undefined ? job : { cancelSentAtMs: job.cancelAskedAtMs, ...job },
      ),
    },
    /the provider is told of a cancel/,
  ],
  [
    'never tells the provider of a cancel',
    {
      store: (store) => ({
        ...updating(store, (job) => store.update(job)),
        get: async (id) => withoutWish(await store.get(id)),
        getMany: async (ids) => {
          const found = await store.getMany(ids);
          return { ...found, jobs: found.jobs.map((job) => withoutWish(job) as Job) };
        },
      }),
    },
    /is canceled first|the provider is told of a cancel|cancelAskedAtMs never changes/,
  ],
  [
    'takes a cancel that was told for the end of the render',
    {
      store: writing((job) => {
        const isOver = isActive(job.state) && job.cancelSentAtMs !== undefined;
        return isOver ? { ...job, state: 'canceled', finishedAtMs: job.updatedAtMs } : job;
      }),
    },
    /a job ends as the provider said|without its event/,
  ],
  [
    'cancels at once a job that may have been sent',
    {
      cancel: (ports, job) => cancel(ports, job.state === 'submitting' ? { ...job, state: 'waiting' } : job),
    },
    /a cancel ends only what waits/,
  ],
  [
    'calls the provider from the API to cancel',
    {
      cancel: async (ports, job) => {
        if (job.providerJobId !== undefined && isActive(job.state)) await ports.provider.cancel?.(job, {});
        return cancel(ports, job);
      },
    },
    /no call begins without a live lease/,
  ],
];

/** The record that stores every job as something else. */
function writing(change: (job: Job) => Job) {
  return (store: MemoryJobStore): JobStore => updating(store, (job) => store.update(change(job)));
}

function asUpdated(job: Job): UpdateResult {
  return { kind: 'updated', job: { ...job, revision: job.revision + 1 } };
}

function quietened(job: Job): Job {
  return { ...job, events: job.events.map(({ pending: _, ...event }) => event) };
}

function uncanceled(job: Job): Job {
  const isUnsent = job.state === 'canceled' && job.history.at(-1)?.reason === 'canceled_by_owner';
  return isUnsent ? { ...job, state: 'waiting' } : job;
}

function withoutWish(job: Job | null): Job | null {
  if (job === null) return null;
  const { cancelAskedAtMs: _, ...rest } = job;
  return rest;
}

function deliveriesOf(store: MemoryDeliveries): DeliveryStore {
  return {
    create: (delivery) => store.create(delivery),
    getMany: (ids) => store.getMany(ids),
    update: (delivery) => store.update(delivery),
    pendingIds: (shard, after) => store.pendingIds(shard, after),
    list: () => store.list(),
  };
}

describe('a product that', () => {
  test.each(wrong)('%s is found out', { timeout: 120_000 }, (_, breaks, found) => expectFound(breaks, found, false));
});
