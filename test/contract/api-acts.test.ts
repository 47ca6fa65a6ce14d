import { describe, expect, test } from 'vitest';
import { eventsSetId } from '../../lib/due-set/keys.ts';
import { eventIdFor, jobIdFor } from '../../lib/identify.ts';
import { enter, type Job } from '../../lib/job.ts';
import { RequestLimit } from '../../lib/request-limit.ts';
import { testEndpoint } from '../support/deliveries.ts';
import { testNowMs } from '../support/dynamo.ts';
import { useNewsApi } from '../support/news-api.ts';

/* Adopting, canceling, waiting for a change and sending news again, over a real Redis and a real record. */

const api = useNewsApi();
const input = { model: 'seedance-2-mini', prompt: 'a lighthouse', duration: 8, resolution: '720p' };
const submit = async (key: string) =>
  (await api.send('POST', '/v1/jobs', { key, body: { input, account: 'studio' } })).body;
const queuedJob = (key: string, given: Partial<Job> = {}) =>
  api.job(key, { state: 'queued', providerJobId: `sume-${key}`, submittedAtMs: testNowMs, ...given });

describe('adopting', () => {
  const adopt = (ids: unknown[], top: object = { account: 'studio' }, owner = 'acme') =>
    api.send('POST', '/v1/jobs/adopt', { owner, body: { items: ids.map((id) => ({ provider_job_id: id })), ...top } });

  test('takes renders over by their provider ids: never sent, in the due set one after another, once each', async () => {
    const { status, body } = await adopt(['sume-1', '../x', 'sume-2', 'sume-1'], { account: 'studio', batch: 'moved' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ accepted: 2, replayed: 1, refused: 1 });
    expect(body.items[1]).toMatchObject({ status: 400, problem: { field: 'provider_job_id' } });
    const job = await api.stored(body.items[0].job.id);
    expect(job).toMatchObject({ state: 'queued', providerJobId: 'sume-1', adopted: true, input: {}, batch: 'moved' });
    const due = await api.scores('due', 'studio');
    expect([...due.keys()].sort()).toEqual([body.items[0].job.id, body.items[2].job.id].sort());
    expect(Math.max(...due.values()) - Math.min(...due.values())).toBe(100);
    expect((await api.scores('waiting', 'studio')).size).toBe(0);
    expect(api.woken).toEqual(['studio']);
    // Later, and with other words: the same job, whose due time is left alone.
    api.clock.ms += 60_000;
    const again = await adopt(['sume-1', 'sume-2']);
    expect(again.body).toMatchObject({ accepted: 0, replayed: 2, refused: 0 });
    expect(await api.scores('due', 'studio')).toEqual(due);
    const { body: accounts } = await api.send('GET', '/v1/accounts/studio');
    expect(accounts.slots).toMatchObject({ used: 2, waiting: 0 });
  });

  test('asks for the account where the owner has several, and takes none that is not its own', async () => {
    expect(await adopt(['a'], {})).toMatchObject({ status: 400, body: { code: 'account_needed', field: 'account' } });
    expect((await adopt(['a'], {}, 'other')).body.items[0].job.account).toBe('open');
    const foreign = await adopt(['a'], { account: 'own' });
    const unknown = await adopt(['a'], { account: 'nowhere' });
    expect(foreign).toMatchObject({ status: 403, body: { code: 'account_not_allowed' } });
    expect({ ...foreign.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
    // Two owners of one account may both take over what is in its workspace, each as a job of its own.
    const ids = [await adopt(['a']), await adopt(['a'], { account: 'studio' }, 'globex')].map(
      ({ body }) => body.items[0].job.id,
    );
    expect(new Set(ids).size).toBe(2);
  });

  test('a try that got no further than the record is made up for by its repeat', async () => {
    await api.upstash.setFaults({ failWith: { status: 500, body: { error: 'ERR away' } } });
    expect((await adopt(['sume-1'])).body.accepted).toBe(1);
    await api.upstash.setFaults({});
    expect((await adopt(['sume-1'])).body.replayed).toBe(1);
    expect((await api.scores('due', 'studio')).size).toBe(1);
  });
});

describe('canceling', () => {
  const cancel = (id: string, sent = {}) => api.send('POST', `/v1/jobs/${id}/cancel`, sent);

  test('a job that waits has ended with it: told, out of line, and nothing is sent; a repeat says the same', async () => {
    const { id } = await submit('a');
    const { status, body } = await cancel(id);
    expect([status, body.state, body.finished_at]).toEqual([200, 'canceled', expect.any(String)]);
    expect(body.events).toMatchObject([{ id: eventIdFor(id, 'job.canceled'), type: 'job.canceled' }]);
    expect(body.history.at(-1)).toMatchObject({ reason: 'canceled_by_owner' });
    expect((await api.stored(id)).events).toMatchObject([{ pending: true }]);
    expect([...(await api.scores('due', eventsSetId)).keys()]).toEqual([id]);
    expect((await api.scores('waiting', 'studio')).size).toBe(0);
    const again = await cancel(id);
    expect([again.status, again.body]).toEqual([200, body]);
  });

  test('of a job that the provider may have is noted once, and made due now', async () => {
    for (const state of ['submitting', 'queued', 'processing', 'overdue'] as const) {
      const { id } = await queuedJob(state, { state, adopted: true });
      await api.put('due', 'studio', testNowMs + 900_000, id);
      const { status, body } = await cancel(id);
      expect([status, body.state]).toEqual([202, state]);
      expect(body.cancel_requested_at).not.toBeNull();
      expect((await api.scores('due', 'studio')).get(id)).toBeLessThanOrEqual(api.clock.ms);
      const again = await cancel(id);
      expect([again.status, again.body]).toEqual([202, body]);
      expect((await api.stored(id)).revision).toBe(2);
    }
    expect(api.woken).toContain('studio');
  });

  test('of a job that has ended is a 409, also of one that was canceled at the provider; of another owner a 404', async () => {
    for (const state of ['completed', 'canceled', 'given_up'] as const) {
      const { id } = await queuedJob(state, { state, finishedAtMs: testNowMs });
      expect(await cancel(id)).toMatchObject({ status: 409, body: { code: 'job_ended' } });
      expect((await cancel(id, { owner: 'globex' })).status).toBe(404);
    }
    const { id } = await submit('a');
    expect((await cancel(id, { owner: 'globex' })).status).toBe(404);
    expect(await cancel(id, { body: { reason: 'x' } })).toMatchObject({ status: 400 });
    expect((await api.stored(id)).state).toBe('waiting');
  });

  test('T22 that meets a drain which has just sent the job is taken to the provider', async () => {
    const { id } = await submit('a');
    const { store } = api.ports;
    const found = await api.stored(id);
    const update: typeof store.update = async (job) => {
      if (job.state === 'canceled') await store.update(enter(found, 'submitting', api.clock.ms));
      return store.update(job);
    };
    const raced = {
      ...api.ports.store,
      update,
      get: store.get.bind(store),
      create: store.create.bind(store),
      list: store.list.bind(store),
      getMany: store.getMany.bind(store),
    };
    const { status, body } = await cancel(id, { ports: { store: raced } });
    expect([status, body.state]).toEqual([202, 'submitting']);
    expect((await api.stored(id)).cancelAskedAtMs).toBeDefined();
  });

  test('is kept by the record while Redis is away', async () => {
    const { id } = await submit('a');
    await api.upstash.setFaults({ failWith: { status: 500, body: { error: 'ERR away' } } });
    expect((await cancel(id)).status).toBe(200);
    const queued = await queuedJob('b');
    expect((await cancel(queued.id)).status).toBe(202);
    expect(api.logged.filter(({ event }) => event === 'job_not_scheduled')).toHaveLength(2);
  });
});

describe('waiting for a change', () => {
  /** A clock whose sleep passes at once; `act` runs at the third. */
  function stepped(act: () => Promise<unknown> = async () => {}) {
    let sleeps = 0;
    const clock = {
      ...api.clock,
      nowMs: () => api.clock.ms,
      monotonicMs: () => api.clock.ms,
      sleep: async (delayMs: number) => {
        api.clock.ms += delayMs;
        if (++sleeps === 3) await act();
      },
    };
    return { clock };
  }

  test('answers when the state changes, when the time is up, and at once when there is nothing to wait for', async () => {
    const job = await queuedJob('a');
    const changes = stepped(() => api.ports.store.update(enter(job, 'processing', api.clock.ms)));
    const seen = await api.send('GET', `/v1/jobs/${job.id}?wait=25`, { ports: changes });
    expect([seen.body.state, seen.headers.get('etag')]).toEqual(['processing', 'W/"2"']);
    expect(api.clock.ms - testNowMs).toBeLessThan(3_000);
    const fromMs = api.clock.ms;
    expect((await api.send('GET', `/v1/jobs/${job.id}?wait=25`, { ports: stepped() })).body.state).toBe('processing');
    expect(api.clock.ms - fromMs).toBe(25_001);
    // Not beyond what the function has left.
    const laterMs = api.clock.ms;
    await api.send('GET', `/v1/jobs/${job.id}?wait=25`, { ports: stepped(), remainingMs: () => 8_000 });
    expect(api.clock.ms - laterMs).toBe(5_001);
    // Nor with more looks in a minute than one owner may have: each wait holds a function.
    let total = 0;
    const counts = {
      add: async (_owner: string, _window: number, count: number) => {
        total += count;
        return total;
      },
    };
    const waitLimit = new RequestLimit(2, { counts, clock: { nowMs: () => api.clock.ms }, log: api.ports.log });
    const limitedMs = api.clock.ms;
    await api.send('GET', `/v1/jobs/${job.id}?wait=25`, { ports: { ...stepped(), waitLimit } });
    expect(api.clock.ms - limitedMs).toBeLessThan(3_000);
    const ended = await queuedJob('b', { state: 'failed', finishedAtMs: testNowMs });
    const endMs = api.clock.ms;
    await api.send('GET', `/v1/jobs/${ended.id}?wait=25`, { ports: stepped() });
    expect(api.clock.ms - endMs).toBe(1);
    for (const wait of ['26', '-1', 'x', '']) {
      expect(await api.send('GET', `/v1/jobs/${job.id}?wait=${wait}`)).toMatchObject({
        status: 400,
        body: { field: 'wait' },
      });
    }
  });

  test('with If-None-Match is for whatever is not known yet, and 304 when there is nothing new', async () => {
    const job = await queuedJob('a');
    const ask = (tag: string, wait: number, ports = stepped()) =>
      api.send('GET', `/v1/jobs/${job.id}?wait=${wait}`, { ports, headers: { 'if-none-match': tag } });
    expect(await ask('W/"1"', 0)).toMatchObject({ status: 304, body: null });
    const same = await ask('"0", "1"', 5);
    expect([same.status, same.headers.get('etag')]).toEqual([304, 'W/"1"']);
    const fromMs = api.clock.ms;
    expect((await ask('W/"7"', 25)).status).toBe(200);
    expect(api.clock.ms - fromMs).toBe(1);
    // The state is the same, the record is not.
    const noted = stepped(() => api.ports.store.update({ ...job, cancelAskedAtMs: testNowMs }));
    const news = await ask('W/"1"', 25, noted);
    expect([news.status, news.headers.get('etag'), news.body.state]).toEqual([200, 'W/"2"', 'queued']);
  });
});

describe('sending news again', () => {
  const redeliver = (id: string, sent = {}) => api.send('POST', `/v1/jobs/${id}/redeliver`, sent);

  test('T102 begins the deliveries of the newest event anew: the same ids and bytes, due now', async () => {
    const [first, second] = [
      testEndpoint({ url: 'https://a.example.com/' }),
      testEndpoint({ url: 'https://b.example.com/' }),
    ];
    for (const endpoint of [first, second]) await api.ports.endpoints.create(endpoint);
    const job = await api.toldJob('a', [first.id, second.id], { state: 'dead', attempts: 10, endedAtMs: testNowMs });
    const dead = await api.send('GET', '/v1/deliveries?state=dead');
    expect(dead.body.deliveries).toHaveLength(2);
    expect((await api.send('GET', '/v1/deliveries?state=dead', { owner: 'globex' })).body.deliveries).toEqual([]);
    const one = dead.body.deliveries.find(({ endpoint_id: id }: { endpoint_id: string }) => id === first.id);
    const { status, body } = await api.send('POST', `/v1/deliveries/${one.id}/redeliver`);
    expect([status, body.id, body.event_id]).toEqual([202, one.id, one.event_id]);
    expect(body).toMatchObject({ state: 'pending', attempts: 0, ended_at: null, log: [{ status: 204 }] });
    const before = await api.ports.deliveries.getMany([one.id]);
    const all = await redeliver(job.id);
    expect([all.status, all.body.deliveries.length]).toEqual([202, 2]);
    expect((await api.ports.deliveries.getMany([one.id]))[0]).toMatchObject({
      body: before[0]?.body,
      eventId: one.event_id,
    });
    expect((await api.scores('due', eventsSetId)).size).toBe(2);
    const shown = await api.send('GET', `/v1/jobs/${job.id}/deliveries`);
    expect(shown.body.deliveries.map(({ state }: { state: string }) => state)).toEqual(['pending', 'pending']);
  });

  test('an endpoint that is disabled or gone takes none; the others of the job do', async () => {
    const [well, off] = [
      testEndpoint({ url: 'https://a.example.com/' }),
      testEndpoint({ url: 'https://b.example.com/', state: 'disabled' }),
    ];
    for (const endpoint of [well, off]) await api.ports.endpoints.create(endpoint);
    const disabled = await api.toldJob('a', [off.id]);
    expect(await redeliver(disabled.id)).toMatchObject({
      status: 409,
      body: { code: 'endpoint_disabled', endpoint_id: off.id },
    });
    const gone = await api.toldJob('b', [`whe_${'a'.repeat(32)}`]);
    expect(await redeliver(gone.id)).toMatchObject({ status: 409, body: { code: 'endpoint_removed' } });
    const both = await api.toldJob('c', [well.id, off.id, 'bus']);
    expect((await redeliver(both.id)).body.deliveries).toHaveLength(2);
  });

  test('an event that nobody listened to is made out for who listens now', async () => {
    const job = await api.toldJob('a', []);
    expect(await redeliver(job.id)).toMatchObject({ status: 202, body: { deliveries: [] } });
    expect((await api.stored(job.id)).events.map(({ pending }) => pending)).toEqual([undefined, true]);
    expect([...(await api.scores('due', eventsSetId)).keys()]).toEqual([job.id]);
    const quiet = await api.toldJob('b', []);
    const address = (addressed: Job) => ({
      ...addressed,
      events: addressed.events.map(({ pending: _, ...event }) => event),
    });
    const deaf = { news: { address, announce: async () => {} } };
    expect(await redeliver(quiet.id, { ports: deaf })).toMatchObject({ status: 409, body: { code: 'nobody_listens' } });
    // What is known of listeners is a minute old: who has just registered is heard of all the same.
    await api.ports.endpoints.create(testEndpoint({ url: 'https://new.example.com/' }));
    expect(await redeliver(quiet.id, { ports: deaf })).toMatchObject({ status: 202, body: { deliveries: [] } });
    expect((await api.stored(quiet.id)).events.at(-1)?.pending).toBe(true);
    const { id } = await submit('c');
    expect(await redeliver(id)).toMatchObject({ status: 409, body: { code: 'no_event' } });
    expect((await redeliver(jobIdFor('acme', 'a'), { owner: 'globex' })).status).toBe(404);
  });
});
