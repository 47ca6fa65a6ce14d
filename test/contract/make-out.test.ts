import { describe, expect, test } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { batchIdFor, deliveryIdFor, endpointIdFor, eventIdFor } from '../../lib/identify.ts';
import { enter, type Job } from '../../lib/job.ts';
import { makeOut } from '../../lib/webhooks/make-out.ts';
import { testEndpoint } from '../support/deliveries.ts';
import { testNowMs } from '../support/dynamo.ts';
import {
  deliveriesAbout,
  dyingAt,
  endedJob,
  eventsDue,
  on,
  portsWith,
  upstash,
  url,
  useEventRoom,
} from '../support/event-room.ts';

/* From pending events to deliveries. */

useEventRoom();

describe('making out a job’s events', () => {
  test('gives each that listens one delivery, makes it due, and takes the job out of the index', async () => {
    const owner = 'listeners';
    const hears = testEndpoint({ owner, url: 'https://a.example/' });
    const deaf = testEndpoint({ owner, url: 'https://b.example/', events: ['job.failed'] });
    const disabled = testEndpoint({ owner, url: 'https://c.example/', state: 'disabled' });
    const other = testEndpoint({ owner: 'somebody', url: 'https://a.example/' });
    for (const endpoint of [hears, deaf, disabled, other]) await on.endpoints.create(endpoint);
    const job = await endedJob({ owner, webhookUrl: url, result: { value: { clip: '🎬 \u2028' }, truncated: false } });
    const { settle, scheduled } = await makeOut(portsWith({ bus: true }), [job.id, 'job_none']);
    expect(Object.fromEntries(settle)).toEqual({ [job.id]: { kind: 'remove' }, job_none: { kind: 'remove' } });
    const event = eventIdFor(job.id, 'job.completed');
    const ids = [endpointIdFor(owner, url), hears.id, 'bus'].map((endpoint) => deliveryIdFor(event, endpoint));
    expect(await on.store.get(job.id)).toEqual({
      ...job,
      events: [{ id: event, type: 'job.completed', atMs: testNowMs, deliveries: ids }],
      revision: 2,
    });
    expect(scheduled).toBe(3);
    expect(await eventsDue()).toEqual([...ids].sort());
    const made = await on.deliveries.getMany(ids);
    expect(made.map(({ state, owner: of, eventId }) => [state, of, eventId])).toEqual(
      Array(3).fill(['pending', owner, event]),
    );
    expect(new Set(made.map(({ body }) => body)).size).toBe(1);
    expect(JSON.parse(made[0]?.body ?? '')).toMatchObject({
      ...{ type: 'job.completed', timestamp: new Date(testNowMs).toISOString() },
      data: { id: job.id, state: 'completed', result: { clip: '🎬 \u2028' } },
    });
    expect(await on.endpoints.get(endpointIdFor(owner, url))).toMatchObject({ kind: 'job', url, state: 'enabled' });
    expect(await on.itemsOf(job.id)).not.toHaveProperty('0.active');
    expect(await deliveriesAbout(job.id)).toHaveLength(3);
  });

  test('is done by two at once, and again and again, with one delivery for each event and endpoint', async () => {
    const owner = 'twice';
    await on.endpoints.create(testEndpoint({ owner, url: 'https://a.example/' }));
    const jobs = await Promise.all(Array.from({ length: 12 }, () => endedJob({ owner, webhookUrl: url })));
    const ids = jobs.map(({ id }) => id);
    await Promise.all([makeOut(portsWith(), ids), makeOut(portsWith(), ids)]);
    const first = await on.itemsOf('dlv_');
    await makeOut(portsWith(), ids);
    const stored = (await on.store.getMany(ids)).jobs;
    expect(stored.every(({ events }) => events.length === 1 && events[0]?.pending === undefined)).toBe(true);
    for (const job of stored) {
      const made = await on.deliveries.getMany(job.events[0]?.deliveries ?? []);
      expect(new Set(made.map(({ endpointId }) => endpointId)).size).toBe(2);
    }
    const ours = first.filter((item) => ids.includes(item.subject_id?.S ?? ''));
    expect(ours).toHaveLength(24);
    expect(await on.itemsOf('dlv_')).toEqual(first);
  });

  test('T101 may die at any moment, before or after a call took effect: the next look makes the same, and nothing twice', async () => {
    const owner = 'mortal';
    const registered = testEndpoint({ owner, url: 'https://a.example/' });
    await on.endpoints.create(registered);
    await on.batches.touch({ owner, name: 'b', atMs: testNowMs });
    let deaths = 0;
    const made: string[] = [];
    for (let fatal = 1, alive = false; !alive; fatal++) {
      for (const when of ['before', 'after'] as const) {
        await upstash.fresh();
        const webhookUrl = `${url}?${fatal}${when}`;
        const job = await endedJob({ owner, webhookUrl, batch: 'b' });
        const { ports, died } = dyingAt(fatal, when);
        await makeOut(ports, [job.id]).catch(() => {});
        alive = !died();
        if (!alive) deaths++;
        await makeOut(portsWith({ bus: true }), [job.id]);
        const event = eventIdFor(job.id, 'job.completed');
        const wanted = [endpointIdFor(owner, webhookUrl), registered.id, 'bus'].map((to) => deliveryIdFor(event, to));
        const stored = await on.store.get(job.id);
        expect(stored?.events).toEqual([{ id: event, type: 'job.completed', atMs: testNowMs, deliveries: wanted }]);
        made.push(...wanted);
        expect(await eventsDue()).toEqual([...wanted, batchIdFor(owner, 'b')].sort());
      }
    }
    expect(deaths).toBeGreaterThan(16);
    const stored = (await on.itemsOf('dlv_')).filter((item) => item.belongs_to?.S === owner);
    expect(stored.map((item) => item.id?.S).sort()).toEqual(made.sort());
  });

  test('of a job that moves on meanwhile keeps its newest state, and comes back at once for the newer event', async () => {
    const owner = 'moving';
    const job = await endedJob({ owner, webhookUrl: url }, 'overdue');
    const store = {
      get: on.store.get.bind(on.store),
      getMany: on.store.getMany.bind(on.store),
      async update(next: Job) {
        const stored = await on.store.get(job.id);
        if (stored?.state === 'overdue') await on.store.update(enter(stored, 'completed', testNowMs + 1));
        return on.store.update(next);
      },
    };
    const { settle } = await makeOut(portsWith({ store }), [job.id]);
    expect(settle.get(job.id)).toEqual({ kind: 'due', delayMs: 0 });
    const between = await on.store.get(job.id);
    expect(between).toMatchObject({ state: 'completed', revision: 3 });
    expect(between?.events.map(({ pending }) => pending)).toEqual([undefined, true]);
    expect((await makeOut(portsWith(), [job.id])).settle.get(job.id)).toEqual({ kind: 'remove' });
    const bodies = (await deliveriesAbout(job.id)).map(({ body }) => JSON.parse(body));
    const told = bodies.map(({ type, data }) => `${type} ${data.state}`).sort();
    expect(told).toEqual(['job.completed completed', 'job.overdue overdue']);
  });

  test('looks once more at a job that may have more to tell, and then no more', async () => {
    const job = await endedJob({ owner: 'again', webhookUrl: url }, 'overdue');
    const look = async () => (await makeOut(portsWith(), [job.id])).settle.get(job.id);
    expect(await look()).toEqual({ kind: 'due', delayMs: 5_000 });
    expect(await look()).toEqual({ kind: 'remove' });
  });

  test('to an endpoint of the job’s own that is disabled is kept as canceled, and never due', async () => {
    const owner = 'gone';
    await on.endpoints.create(testEndpoint({ owner, url, kind: 'job', state: 'disabled', disabledBy: 'gone' }));
    const job = await endedJob({ owner, webhookUrl: url });
    await makeOut(portsWith(), [job.id]);
    expect(await deliveriesAbout(job.id)).toMatchObject([{ state: 'canceled', endedAtMs: testNowMs }]);
    expect(await eventsDue()).toEqual([]);
  });

  test('when a store or the set fails, brings back those concerned and no other', async () => {
    const owner = 'trouble';
    const [good, bad] = [await endedJob({ owner }), await endedJob({ owner, webhookUrl: url })];
    const create = async () => Promise.reject(new JobStoreError('throttled'));
    const later = { kind: 'due', delayMs: 5_000 };
    const half = await makeOut(portsWith({ deliveries: { create } }), [good.id, bad.id]);
    expect([half.settle.get(good.id), half.settle.get(bad.id)]).toEqual([{ kind: 'remove' }, later]);
    expect((await on.store.get(bad.id))?.events[0]?.pending).toBe(true);
    await upstash.setFaults({ failWith: { status: 500, body: { error: 'ERR busy' } } });
    const unscheduled = await makeOut(portsWith(), [good.id, bad.id]);
    expect([unscheduled.settle.get(good.id), unscheduled.settle.get(bad.id)]).toEqual([{ kind: 'remove' }, later]);
    expect((await on.store.get(bad.id))?.events[0]?.pending).toBe(true);
    await upstash.setFaults({});
    expect((await makeOut(portsWith(), [good.id, bad.id])).scheduled).toBe(1);
    expect(await deliveriesAbout(bad.id)).toHaveLength(1);
    expect(on.logged.map(({ event }) => event)).toEqual(['events_not_made_out', 'events_not_made_out']);
  });
});
