import { describe, expect, test } from 'vitest';
import { batchQuietMs } from '../../lib/batch.ts';
import { dueSetKeys, eventsSetId } from '../../lib/due-set/keys.ts';
import { batchIdFor, deliveryIdFor, endpointIdFor, eventIdFor, jobIdFor } from '../../lib/identify.ts';
import { enter, type Job } from '../../lib/job.ts';
import { closeBatch } from '../../lib/webhooks/close-batch.ts';
import { makeOut } from '../../lib/webhooks/make-out.ts';
import { testEndpoint } from '../support/deliveries.ts';
import { putJobs, testJob, testNowMs } from '../support/dynamo.ts';
import {
  deliveriesAbout,
  dueSet,
  dyingAt,
  endedJob,
  eventsDue,
  newKey,
  on,
  portsWith,
  upstash,
  url,
  useEventRoom,
} from '../support/event-room.ts';
import { membersOf } from '../support/upstash.ts';

/* From ended jobs to the end of a batch. */

useEventRoom();

describe('the end of a batch', () => {
  const id = (owner: string) => batchIdFor(owner, 'b');
  const about = (owner: string) => deliveriesAbout(id(owner));
  const quiet = () => {
    on.clock.ms = testNowMs + batchQuietMs;
  };
  /** So many jobs in a touched batch, each in its state. */
  async function batchOf(owner: string, states: readonly Job['state'][]): Promise<Job[]> {
    await on.batches.touch({ owner, name: 'b', webhookUrl: url, atMs: testNowMs });
    const jobs = states.map((state) => testJob({ id: jobIdFor(owner, newKey()), owner, batch: 'b', state }));
    await putJobs(on.dynamo.client, on.table, jobs);
    return jobs;
  }

  test('is told once its last job has ended and no sooner, with counts and ids', async () => {
    const owner = 'desk';
    const jobs = await batchOf(owner, ['completed', 'failed', 'completed', 'processing']);
    await batchOf('rival', ['completed']);
    const ports = portsWith();
    expect((await closeBatch(ports, id(owner))).settle).toEqual({ kind: 'due', delayMs: batchQuietMs });
    quiet();
    expect((await closeBatch(ports, id(owner))).settle).toEqual({ kind: 'remove' });
    expect(ports.seenOpen.get(id(owner))).toBe(jobs[3]?.id);
    expect((await closeBatch(ports, id(owner))).settle).toEqual({ kind: 'remove' });
    await on.store.update(enter(jobs[3] as Job, 'lost', testNowMs));
    await makeOut(ports, [jobs[3]?.id ?? '']);
    expect(await eventsDue()).toEqual([id(owner)]);
    expect(await closeBatch(ports, id(owner))).toEqual({ settle: { kind: 'remove' }, scheduled: 1 });
    const [delivery, ...more] = await about(owner);
    expect(more).toEqual([]);
    expect(delivery).toMatchObject({ type: 'batch.completed', eventId: eventIdFor(id(owner), 'batch.completed') });
    expect(JSON.parse(delivery?.body ?? '')).toMatchObject({
      type: 'batch.completed',
      data: { name: 'b', state: 'completed', jobs: 4, counts: { completed: 2, failed: 1, lost: 1 } },
    });
    expect(JSON.parse(delivery?.body ?? '').data.job_ids).toEqual(jobs.map((job) => job.id).sort());
    expect(await on.batches.get(id(owner))).not.toHaveProperty('pending');
    expect(await about('rival')).toEqual([]);
    expect((await closeBatch(ports, id(owner))).settle).toEqual({ kind: 'remove' });
    expect(await on.batches.touch({ owner, name: 'b', atMs: on.clock.ms })).toBe('completed');
  });

  test('is told once, whoever closes it at the same time', async () => {
    const owner = 'closers';
    await on.endpoints.create(testEndpoint({ owner, url: 'https://a.example/' }));
    await batchOf(owner, ['completed', 'completed']);
    quiet();
    const clockOf = (n: number) => ({ nowMs: () => on.clock.ms + n });
    await Promise.all(Array.from({ length: 5 }, (_, n) => closeBatch(portsWith({ clock: clockOf(n) }), id(owner))));
    await closeBatch(portsWith(), id(owner));
    expect(await about(owner)).toHaveLength(2);
    expect((await on.batches.get(id(owner)))?.deliveries).toHaveLength(2);
    expect(on.logged.filter(({ event }) => event === 'batch_completed')).toHaveLength(1);
  });

  test('does not come when jobs are added while it is looked for', async () => {
    const owner = 'late';
    await batchOf(owner, ['completed']);
    quiet();
    const jobs = async (batch: string) => {
      const found = await on.batches.jobs(batch);
      await on.batches.touch({ owner, name: 'b', atMs: on.clock.ms });
      return found;
    };
    const { get, update } = { get: on.batches.get.bind(on.batches), update: on.batches.update.bind(on.batches) };
    const look = await closeBatch(portsWith({ batches: { get, update, jobs } }), id(owner));
    expect(look.settle).toEqual({ kind: 'due', delayMs: 0 });
    expect((await closeBatch(portsWith(), id(owner))).settle).toEqual({ kind: 'due', delayMs: batchQuietMs });
    expect(await about(owner)).toEqual([]);
  });

  test('does not come to one that no job was ever added to', async () => {
    await batchOf('empty', []);
    quiet();
    expect((await closeBatch(portsWith(), id('empty'))).settle).toEqual({ kind: 'remove' });
    expect(await on.batches.get(id('empty'))).not.toHaveProperty('completedAtMs');
    expect((await closeBatch(portsWith(), id('nobody'))).settle).toEqual({ kind: 'remove' });
  });

  test('T101 may be cut off at any moment: the next look goes on, and tells it once', async () => {
    let deaths = 0;
    const made: string[] = [];
    for (let fatal = 1, alive = false; !alive; fatal++) {
      const owner = `cut-${fatal}`;
      on.clock.ms = testNowMs;
      await batchOf(owner, ['completed', 'failed']);
      quiet();
      const { ports, died } = dyingAt(fatal, 'after');
      await closeBatch(ports, id(owner)).catch(() => {});
      alive = !died();
      if (!alive) deaths++;
      await closeBatch(portsWith({ bus: true }), id(owner));
      const event = eventIdFor(id(owner), 'batch.completed');
      const wanted = [endpointIdFor(owner, url), 'bus'].map((to) => deliveryIdFor(event, to));
      made.push(...wanted);
      const batch = await on.batches.get(id(owner));
      expect(batch).toMatchObject({ counts: { completed: 1, failed: 1 }, deliveries: wanted });
      expect(batch).not.toHaveProperty('pending');
    }
    expect(deaths).toBeGreaterThan(7);
    const stored = (await on.itemsOf('dlv_')).filter((item) => item.belongs_to?.S?.startsWith('cut-'));
    expect(stored.map((item) => item.id?.S).sort()).toEqual(made.sort());
  });

  test('of a thousand jobs is told with counts, trusts the record and not a stale index, and links what does not fit', async () => {
    const owner = 'thousand';
    const jobs = await batchOf(owner, Array(1_000).fill('completed'));
    quiet();
    // The index still shows a third of them as they were before.
    const stale = async () =>
      jobs.map((job, n) => ({ id: job.id, state: n % 3 === 0 ? ('processing' as const) : job.state }));
    const { get, update } = { get: on.batches.get.bind(on.batches), update: on.batches.update.bind(on.batches) };
    await closeBatch(portsWith({ batches: { get, update, jobs: stale } }), id(owner));
    const body = (await about(owner))[0]?.body ?? '';
    expect(Buffer.byteLength(body)).toBeLessThan(20_000);
    expect(JSON.parse(body).data).toMatchObject({
      ...{ jobs: 1_000, counts: { completed: 1_000 }, job_ids: null, job_ids_truncated: true },
      links: { jobs: '/v1/jobs?batch=b' },
    });
  });
});

test('a batch and a delivery that a sweep has put in for later are due as soon as there is something to do', async () => {
  const owner = 'swept';
  const batch = batchIdFor(owner, 'night');
  const job = await endedJob({ owner, batch: 'night', webhookUrl: url });
  const delivery = deliveryIdFor(eventIdFor(job.id, 'job.completed'), endpointIdFor(owner, url));
  await dueSet.schedule([batch, delivery].map((id) => ({ id, delayMs: 50_000 })));
  await makeOut(portsWith(), [job.id]);
  const due = await membersOf(upstash, dueSetKeys('test', eventsSetId).due);
  expect([batch, delivery].map((id) => Number(due.get(id)) - testNowMs)).toEqual([1_000, 0]);
});
