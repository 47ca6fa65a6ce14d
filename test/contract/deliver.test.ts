import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventBridge } from '../../lib/aws/event-bridge.ts';
import { jobIdFor } from '../../lib/identify.ts';
import { acceptedJob, enter, type Job } from '../../lib/job.ts';
import { sweep } from '../../lib/sweep.ts';
import { deliver } from '../../lib/webhooks/deliver.ts';
import { busId, type Delivery } from '../../lib/webhooks/delivery.ts';
import { EventBus } from '../../lib/webhooks/event-bus.ts';
import { wireDeliver } from '../../lib/wire/deliver.ts';
import { type DeliveryParts, startDeliveryParts } from '../support/delivery-parts.ts';
import { noPauses } from '../support/no-pauses.ts';
import { answer, hang, json, type ScriptedServer } from '../support/scripted-server.ts';

/* Deliver on real parts: Redis, DynamoDB, receivers over HTTP. */

let parts: DeliveryParts;
beforeAll(async () => {
  parts = await startDeliveryParts();
});
beforeEach(() => parts.fresh());
afterAll(() => parts.close());

const idsAndBodies = ({ received }: ScriptedServer) =>
  received.map(({ headers, body }) => [headers['webhook-id'], body]);
const of = ({ eventId, body }: Delivery) => [eventId, body];

describe('a receiver that does not answer', () => {
  it('gets the same id and the same bytes again, and another event has others (T95)', async () => {
    const { server, endpoint } = await parts.receiver();
    server.script(hang, hang, json({}));
    const [one, two] = (await parts.put(endpoint.id, 2)) as [Delivery, Delivery];
    expect(await parts.run()).toMatchObject({ attempts: 2, failed: 2, delivered: 0 });
    expect(await parts.stored(one)).toMatchObject({
      state: 'pending',
      attempts: 1,
      log: [{ status: null, fault: 'timeout' }],
    });
    parts.clock.advance(6_000);
    expect(await parts.run()).toMatchObject({ attempts: 2, delivered: 2 });
    for (const delivery of [one, two]) {
      expect(idsAndBodies(server).filter(([id]) => id === delivery.eventId)).toEqual([of(delivery), of(delivery)]);
      expect(await parts.stored(delivery)).toMatchObject({
        state: 'delivered',
        attempts: 2,
        log: [{}, { status: 200 }],
      });
    }
    expect(await parts.dueIds()).toEqual(new Map());
  });
});

it('a sender that is killed between the answer and the record sends once more, under the same id (T101)', async () => {
  const { server, endpoint } = await parts.receiver();
  server.script(json({}));
  const [delivery] = (await parts.put(endpoint.id, 1)) as [Delivery];
  let sent: () => void = () => {};
  const wasSent = new Promise<void>((resolve) => {
    sent = resolve;
  });
  const never = () => new Promise<never>(() => sent());
  const { deliveries } = parts.ports;
  // From here on it does nothing any more, not even at the end of its time.
  const dead = { getMany: deliveries.getMany.bind(deliveries), update: never, list: never, create: never };
  const killed = parts.run({ deliveries: dead }, { windowMs: 1 });
  await wasSent;
  expect(await parts.stored(delivery)).toMatchObject({ state: 'pending', attempts: 0 });
  expect(Number([...(await parts.dueIds()).values()][0]) % 1).toBe(1 / 16);
  parts.clock.advance(11_000);
  expect(await parts.run()).toMatchObject({ delivered: 1 });
  expect(idsAndBodies(server)).toEqual([of(delivery), of(delivery)]);
  expect(await parts.stored(delivery)).toMatchObject({ state: 'delivered', attempts: 1 });
  parts.clock.advance(60_000);
  await killed;
});

describe('a receiver that answers', () => {
  it('410 is disabled, and what waits for it is canceled; 404, 429 and 503 are tried again, when they say (T98)', async () => {
    const gone = await parts.receiver();
    gone.server.script(answer(410));
    const [first] = (await parts.put(gone.endpoint.id, 1)) as [Delivery];
    const later = { nextAtMs: parts.clock.nowMs() + 300_000, attempts: 2 };
    const waiting = await parts.put(gone.endpoint.id, 5, later).then((all) => all.slice(1));
    const others = await Promise.all(
      [answer(404), answer(429, '', { 'retry-after': '90' }), answer(503)].map(async (said) => {
        const { server, endpoint } = await parts.receiver();
        server.script(said);
        const [delivery] = (await parts.put(endpoint.id, 1)) as [Delivery];
        return delivery;
      }),
    );
    const startedAtMs = parts.clock.nowMs();
    await parts.run({}, { windowMs: 1_000 });
    expect(await parts.stores.endpoints.get(gone.endpoint.id)).toMatchObject({ state: 'disabled', disabledBy: 'gone' });
    expect(await parts.stored(first)).toMatchObject({ state: 'canceled', log: [{ status: 410 }] });
    for (const delivery of waiting) expect(await parts.stored(delivery)).toMatchObject({ state: 'canceled', log: [] });
    expect(gone.server.received).toHaveLength(1);
    const waits: number[] = [];
    for (const delivery of others) {
      const { state, nextAtMs } = await parts.stored(delivery);
      expect(state).toBe('pending');
      waits.push(Math.round((nextAtMs - startedAtMs) / 1_000));
    }
    expect(waits).toEqual([5, 90, 5]);
  });

  it('with failures only has its events dead after ten attempts, never delivered; asked for again, one comes with the same id (T102)', async () => {
    const { server, endpoint } = await parts.receiver();
    server.script(answer(500, 'Database is down.'));
    const [delivery] = (await parts.put(endpoint.id, 1)) as [Delivery];
    for (let attempts = 1; attempts <= 10; attempts++) {
      await parts.run({}, { windowMs: 1_000, tickMs: 80 });
      const { state, nextAtMs, log } = await parts.stored(delivery);
      expect([state, log.length]).toEqual([attempts === 10 ? 'dead' : 'pending', attempts]);
      expect(log.at(-1)).toMatchObject({ status: 500, fault: 'status', snippet: 'Database is down.' });
      parts.clock.advance(Math.max(0, nextAtMs - parts.clock.nowMs()));
    }
    expect(server.received).toHaveLength(10);
    const { deliveries } = await parts.stores.deliveries.list({ deadOf: 'acme' }, { limit: 10 });
    expect(deliveries.map(({ id }) => id)).toEqual([delivery.id]);
    const { endedAtMs: _, ...dead } = await parts.stored(delivery);
    await parts.stores.deliveries.update({ ...dead, state: 'pending', attempts: 0, nextAtMs: parts.clock.nowMs() });
    await parts.dueSet.schedule([{ id: delivery.id, delayMs: 0 }]);
    server.script(json({}));
    expect(await parts.run()).toMatchObject({ delivered: 1 });
    expect(new Set(idsAndBodies(server).map(String)).size).toBe(1);
  });
});

it('an endpoint that is removed or disabled while retries wait gets nothing more, and they are canceled (T99)', async () => {
  const removed = await parts.receiver();
  const disabled = await parts.receiver();
  const waiting: Delivery[] = [];
  for (const { server, endpoint } of [removed, disabled]) {
    server.script(answer(500));
    waiting.push(...(await parts.put(endpoint.id, 1)));
  }
  await parts.run({}, { windowMs: 1_000 });
  await parts.stores.endpoints.remove(removed.endpoint.id);
  const stored = await parts.stores.endpoints.get(disabled.endpoint.id);
  if (stored !== null) await parts.stores.endpoints.update({ ...stored, state: 'disabled', disabledBy: 'owner' });
  parts.clock.advance(6_000);
  expect(await parts.run()).toMatchObject({ attempts: 0, canceled: 2 });
  expect([removed.server.received.length, disabled.server.received.length]).toEqual([1, 1]);
  for (const delivery of waiting) {
    expect(await parts.stored(delivery)).toMatchObject({ state: 'canceled', attempts: 1, log: [{ status: 500 }] });
  }
  expect(await parts.dueIds()).toEqual(new Map());
});

/** A job of acme's that is in the record as completed, its event still to be told. */
async function putCompleted(key: string): Promise<Job> {
  const nowMs = parts.clock.nowMs();
  const given = { owner: 'acme', account: 'sume', input: {}, fingerprint: 'f', metadata: {} };
  const id = jobIdFor('acme', `${key} ${nowMs}`);
  const job = acceptedJob({ ...given, id, deadlineAtMs: nowMs + 3_600_000 }, nowMs);
  await parts.stores.store.create(job);
  const written = await parts.stores.store.update(enter(job, 'completed', nowMs));
  if (written.kind !== 'updated') throw new Error('It was written by somebody else.');
  return written.job;
}

it('a receiver that asks for the job when its event arrives sees the end, well under a second after it was announced (T103)', async () => {
  const { server } = await parts.receiver();
  const job = await putCompleted('seen');
  const seen: unknown[] = [];
  const asked: Promise<unknown>[] = [];
  server.reply = ({ body }) => {
    const { data } = JSON.parse(body) as { data: { id: string; state: string } };
    const tookMs = performance.now() - announcedAtMs;
    asked.push(
      parts.stores.store.get(data.id).then((stored) => seen.push([data.state, stored?.state, tookMs < 1_000])),
    );
    return json({});
  };
  await parts.dueSet.schedule([{ id: job.id, delayMs: 0 }]);
  const announcedAtMs = performance.now();
  expect(await parts.run({}, { windowMs: 1_000 })).toMatchObject({ madeOut: expect.any(Number), delivered: 1 });
  await Promise.all(asked);
  expect(seen).toEqual([['completed', 'completed', true]]);
  const stored = await parts.stores.store.get(job.id);
  const { pending: _, ...told } = job.events[0] ?? {};
  expect(stored?.events).toEqual([{ ...told, deliveries: [expect.stringMatching(/^dlv_/)] }]);
});

it('what Redis has lost is put back by a sweep: a job with news, and a delivery that waits', async () => {
  const { server, endpoint } = await parts.receiver();
  server.script(answer(503), json({}));
  const [delivery] = (await parts.put(endpoint.id, 1)) as [Delivery];
  await parts.run({}, { windowMs: 1_000 });
  const job = await putCompleted('lost');
  await parts.upstash.direct('FLUSHALL');
  const wokenBy: string[] = [];
  const ports = {
    ...noPauses,
    ...parts.ports,
    ...parts.stores,
    clock: parts.clock,
    queues: new Map([['sume', { dueSet: parts.dueSet, waker: { wake: async () => {} } }]]),
    events: { dueSet: parts.dueSet, waker: { wake: async () => void wokenBy.push('sweep') } },
  };
  const settings = { shardCount: 8, pageMs: 1_000, periodMs: 300_000 };
  const report = await sweep(ports, settings, () => 60_000);
  expect(report).toMatchObject({ complete: true, restored: 0, broken: 0 });
  const due = await parts.dueIds();
  expect([...due.keys()]).toEqual(expect.arrayContaining([delivery.id, job.id]));
  expect(wokenBy.length).toBeGreaterThan(0);
  parts.clock.advance(61_000);
  await parts.run({}, { windowMs: 1_000 });
  expect(await parts.stored(delivery)).toMatchObject({ state: 'delivered', attempts: 2 });
});

it('what goes to the event bus is gathered, and an entry that was refused is put again (T95)', async () => {
  const { server } = await parts.receiver();
  let refused = 0;
  server.reply = ({ body }) => {
    const { Entries } = JSON.parse(body) as { Entries: { Detail: string }[] };
    const Results = Entries.map((_, place) => {
      if (place > 0 || refused++ > 0) return { EventId: `made-${place}` };
      return { ErrorCode: 'ThrottlingException', ErrorMessage: 'Slow down.' };
    });
    return json({ Entries: Results, FailedEntryCount: 0 }, 200, { 'content-type': 'application/x-amz-json-1.1' });
  };
  const all = await parts.put(busId, 12);
  const bus = new EventBus(eventBridge({ busName: 'studio', endpoint: server.url }, 'test'), parts.clock);
  expect(await parts.run({ bus }, { windowMs: 1_000 })).toMatchObject({ attempts: 12, delivered: 11, failed: 1 });
  parts.clock.advance(6_000);
  expect(await parts.run({ bus }, { windowMs: 1_000 })).toMatchObject({ attempts: 1, delivered: 1 });
  const calls = server.received.map(({ headers, body }) => {
    expect(headers['x-amz-target']).toBe('AWSEvents.PutEvents');
    return (JSON.parse(body) as { Entries: { Resources: string[] }[] }).Entries;
  });
  expect(calls.map(({ length }) => length)).toEqual([10, 2, 1]);
  expect(calls[0]?.[0]).toEqual(calls[2]?.[0]);
  const [first] = all.filter(({ eventId }) => calls[0]?.[0]?.Resources[0] === eventId);
  expect(calls[0]?.[0]).toEqual({
    EventBusName: 'studio',
    Source: 'pollkeeper.test',
    DetailType: 'job.completed',
    Resources: [first?.eventId, first?.subjectId],
    Detail: first?.body,
  });
  expect(await parts.stored(first as Delivery)).toMatchObject({
    state: 'delivered',
    log: [{ status: null, fault: 'event_bus', snippet: 'ThrottlingException: Slow down.' }, { status: 200 }],
  });
  // Without a bus, nobody is left to tell.
  await parts.put(busId, 1, { id: `dlv_${'z'.repeat(32)}` });
  expect(await parts.run()).toMatchObject({ attempts: 0, canceled: 1 });
});

it('the function as it is wired from its environment delivers, signed, and says what it did', async () => {
  const { server, endpoint } = await parts.receiver();
  server.script(json({}));
  const environment = {
    ...{ STAGE: 'test', TABLE_NAME: parts.table, DYNAMODB_ENDPOINT: parts.dynamo.url, WEBHOOK_ALLOW_LOCAL: 'on' },
    ...{ UPSTASH_REDIS_REST_URL: parts.upstash.url, UPSTASH_REDIS_REST_TOKEN: parts.upstash.token },
    ...{ EVENT_BUS_NAME: 'studio', EVENTBRIDGE_ENDPOINT: server.url },
  };
  const { ports, settings, stage } = await wireDeliver(environment);
  expect(settings).toMatchObject({ tickMs: 500, leaseMs: 10_000, windowMs: 65_000, stepMs: 18_000, concurrency: 100 });
  expect(stage).toBe('test');
  const [delivery] = (await parts.put(endpoint.id, 1, { nextAtMs: 0 })) as [Delivery];
  await parts.upstash.fresh();
  await ports.dueSet.schedule([{ id: delivery.id, delayMs: 0 }]);
  const report = await deliver({ ...ports, log: parts.ports.log }, { ...settings, tickMs: 100 }, () => 20_000);
  expect(report).toMatchObject({ ended: 'idle', claims: 1, attempts: 1, delivered: 1 });
  const [received] = server.received;
  expect(() =>
    new Webhook(endpoint.secrets[0]?.secret ?? '').verify(received?.body ?? '', received?.headers ?? {}),
  ).not.toThrow();
});

it('a receiver that does not answer, with two hundred events, delays those of another by less than a tick, and holds few claims (T92)', async () => {
  const bad = await parts.receiver();
  const good = await parts.receiver();
  bad.server.script(hang);
  good.server.script(json({}));
  await parts.put(bad.endpoint.id, 200);
  await parts.put(good.endpoint.id, 20);
  const startedAtMs = performance.now();
  const arrivals: number[] = [];
  good.server.reply = () => {
    arrivals.push(performance.now() - startedAtMs);
    return json({});
  };
  const report = await parts.run({}, { windowMs: 1_500 });
  expect(arrivals).toHaveLength(20);
  expect(Math.max(...arrivals)).toBeLessThan(1_000);
  expect(report).toMatchObject({ ended: 'window', delivered: 20, dead: 0, lostLeases: 0 });
  // Eight at first, then fewer and fewer: it had eight lanes for a second, four for the next …
  expect(bad.server.received.length).toBeLessThan(30);
  expect(report.turnedAway).toBeGreaterThan(100);
  const left = [...(await parts.dueIds()).values()];
  expect(left).toHaveLength(200);
  expect(left.every((score) => Number.isInteger(Number(score)))).toBe(true);
});
