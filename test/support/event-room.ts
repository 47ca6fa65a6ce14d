import { afterAll, beforeAll, beforeEach } from 'vitest';
import { dueSetKeys, eventsSetId } from '../../lib/due-set/keys.ts';
import { connectUpstash, UpstashDueSet } from '../../lib/due-set/upstash-due-set.ts';
import { jobIdFor } from '../../lib/identify.ts';
import { enter, type Job } from '../../lib/job.ts';
import type { DueSet } from '../../lib/ports.ts';
import type { CloseBatchPorts } from '../../lib/webhooks/close-batch.ts';
import type { Delivery } from '../../lib/webhooks/delivery.ts';
import type { MakeOutPorts } from '../../lib/webhooks/make-out.ts';
import { testJob, testNowMs } from './dynamo.ts';
import { type EventStores, startEventStores } from './event-stores.ts';
import { membersOf, startTestUpstash, type TestUpstash } from './upstash.ts';

/* Where deliveries are made out and batches end: dynalite and a real Redis. */

export type EventRoomPorts = MakeOutPorts & CloseBatchPorts;

export let on: EventStores;
export let upstash: TestUpstash;
export let dueSet: DueSet;
let count = 0;
export const newKey = () => `key-${++count}`;
export const url = 'https://own.example/hook';

/** For a test file's hooks: the room is opened once, and cleared before each test. */
export function useEventRoom(): void {
  beforeAll(async () => {
    [on, upstash] = await Promise.all([startEventStores(), startTestUpstash()]);
    const redis = connectUpstash({ url: upstash.url, token: upstash.token, timeoutMs: 2_000 });
    const lease = { leaseMs: 10_000, aheadMs: 1_100 };
    const given = { stage: 'test', account: eventsSetId, url: upstash.url, token: upstash.token, lease };
    dueSet = new UpstashDueSet(redis, { ...given, nowMs: () => on.clock.ms });
  });
  afterAll(() => Promise.all([upstash.close(), on.close()]));
  beforeEach(async () => {
    await upstash.fresh();
    on.clock.ms = testNowMs;
    on.logged.length = 0;
  });
}

export function portsWith(given: Partial<EventRoomPorts> = {}): EventRoomPorts {
  const { store, endpoints, deliveries, batches, clock, log } = on;
  const newSecret = () => `whsec_${newKey()}`;
  return {
    ...{ store, endpoints, deliveries, batches, clock, log, dueSet, newSecret },
    bus: false,
    seenOpen: new Map(),
    ...given,
  };
}

export const eventsDue = async () => [...(await membersOf(upstash, dueSetKeys('test', eventsSetId).due)).keys()].sort();

/** One that has just ended, its event pending, as it is stored. */
export async function endedJob(
  given: Partial<Job> & { owner: string },
  state: Job['state'] = 'completed',
): Promise<Job> {
  const job = enter(testJob({ id: jobIdFor(given.owner, newKey()), ...given }), state, testNowMs);
  await on.store.create(job);
  return job;
}

export async function deliveriesAbout(subjectId: string): Promise<Delivery[]> {
  const items = (await on.itemsOf('dlv_')).filter((item) => item.subject_id?.S === subjectId);
  return on.deliveries.getMany(items.map((item) => item.id?.S ?? ''));
}

/** Each call through a port to a store or to the set is a moment to die at; in the `fatal`th, before or after it took effect. */
export function dyingAt(fatal: number, when: 'before' | 'after'): { ports: EventRoomPorts; died: () => boolean } {
  let calls = 0;
  const mortal = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, name) {
        const method = (object as Record<string | symbol, unknown>)[name];
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]) => {
          const call = ++calls;
          // After its death nothing of the process reaches the outside.
          if (call > fatal || (call === fatal && when === 'before')) throw new Error('killed');
          const result = await (method as (...args: unknown[]) => unknown).apply(object, args);
          if (call >= fatal) throw new Error('killed');
          return result;
        };
      },
    });
  const { store, endpoints, deliveries, batches, dueSet: set, ...rest } = portsWith({ bus: true });
  return {
    ports: {
      ...rest,
      ...{ store: mortal(store), endpoints: mortal(endpoints), deliveries: mortal(deliveries) },
      ...{ batches: mortal(batches), dueSet: mortal(set) },
    },
    died: () => calls >= fatal,
  };
}
