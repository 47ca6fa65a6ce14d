import { describe, expect, test } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { batchIdFor, endpointIdFor, jobIdFor } from '../../lib/identify.ts';
import type { Job } from '../../lib/job.ts';
import { useNewsApi } from '../support/news-api.ts';

/* POST /v1/jobs/batch, and what a batch and a webhook mean for a submit, over a real Redis and a real record. */

const api = useNewsApi();
const input = { model: 'seedance-2-mini', prompt: 'a lighthouse', duration: 8, resolution: '720p' };
const item = (key: string, given = {}) => ({ idempotency_key: key, input, ...given });
const submitAll = (items: unknown[], sent: { top?: object } & Parameters<typeof api.send>[2] = {}) =>
  api.send('POST', '/v1/jobs/batch', { ...sent, body: { items, ...sent.top } });
const statuses = (body: { items: { status: number }[] }) => body.items.map(({ status }) => status);
const url = 'https://hooks.example.com/a';

/** The record, which fails for the jobs of these keys. */
function failingFor(...keys: string[]) {
  const ids = keys.map((key) => jobIdFor('acme', key));
  const create = async (job: Job) => {
    if (ids.includes(job.id)) throw new JobStoreError('throttled');
    return api.ports.store.create(job);
  };
  const { store } = api.ports;
  return {
    get: store.get.bind(store),
    getMany: store.getMany.bind(store),
    list: store.list.bind(store),
    update: store.update.bind(store),
    create,
  };
}

describe('many jobs in one request', () => {
  test('each has its own result, in its place; what is wrong with one is nothing to the others', async () => {
    const items: unknown[] = Array.from({ length: 60 }, (_, place) => item(`key-${place}`, { priority: place % 10 }));
    items[3] = item('key-3', { input: { model: 'm' } });
    items[7] = { input };
    items[9] = item('key-9', { account: 'own' });
    items[11] = 5;
    const { status, body } = await submitAll(items);
    expect(status).toBe(200);
    expect(body).toMatchObject({ accepted: 56, replayed: 0, refused: 4 });
    expect(body.items.map(({ index }: { index: number }) => index)).toEqual(items.map((_, place) => place));
    expect(body.items[3]).toMatchObject({ status: 400, problem: { code: 'body_invalid', field: 'input.prompt' } });
    expect(body.items[9]).toMatchObject({ status: 403, problem: { code: 'account_not_allowed' } });
    expect(body.items[20]).toMatchObject({ status: 202, replayed: false, job: { id: jobIdFor('acme', 'key-20') } });
    // Two accounts are open to acme, with one weight.
    const [studio, open] = [await api.scores('waiting', 'studio'), await api.scores('waiting', 'open')];
    expect([studio.size, open.size]).toEqual([28, 28]);
    expect(api.woken.sort()).toEqual(['open', 'studio']);
    expect((await api.stored(jobIdFor('acme', 'key-20'))).state).toBe('waiting');
  });

  test('a key twice in one request is a replay, or a conflict if the body is another', async () => {
    const other = item('twice', { input: { ...input, duration: 9 } });
    const { body } = await submitAll([item('twice'), item('once'), other, item('twice')]);
    expect(statuses(body)).toEqual([202, 202, 422, 202]);
    expect(body).toMatchObject({ accepted: 2, replayed: 1, refused: 1 });
    expect(body.items[3].replayed).toBe(true);
    expect(body.items[2].problem).toMatchObject({ job_id: jobIdFor('acme', 'twice') });
    // A submit of its own under the same key is the same job.
    const alone = await api.send('POST', '/v1/jobs', { key: 'twice', body: { input } });
    expect(alone.headers.get('idempotent-replayed')).toBe('true');
    // And the same key of another owner is another job.
    expect((await submitAll([item('twice')], { owner: 'globex' })).body).toMatchObject({ accepted: 1 });
  });

  test('T63 an item whose record can not be written is a 503 of its own, and its key works afterwards', async () => {
    const items = [item('a'), item('b'), item('c')];
    const failed = await submitAll(items, { ports: { store: failingFor('b') } });
    expect(statuses(failed.body)).toEqual([202, 503, 202]);
    expect(failed.body.items[1].problem.code).toBe('record_unavailable');
    const again = await submitAll(items);
    expect(again.body).toMatchObject({ accepted: 1, replayed: 2, refused: 0 });
  });

  test('when time runs out the rest is not tried, what is written is in line, and the same request goes on', async () => {
    const items = Array.from({ length: 60 }, (_, place) => item(`key-${place}`));
    let asked = 0;
    const { body } = await submitAll(items, { remainingMs: () => (asked++ < 40 ? 20_000 : 5_000) });
    expect(body).toMatchObject({ accepted: 40, replayed: 0, refused: 20 });
    expect(body.items.at(-1).problem).toMatchObject({ status: 503, code: 'not_tried' });
    const lined = async () => (await api.scores('waiting', 'studio')).size + (await api.scores('waiting', 'open')).size;
    expect(await lined()).toBe(40);
    expect((await submitAll(items)).body).toMatchObject({ accepted: 20, replayed: 40, refused: 0 });
    expect(await lined()).toBe(60);
  });

  test('with Redis away all are durable, and a repeat puts them in line', async () => {
    await api.upstash.setFaults({ failWith: { status: 500, body: { error: 'ERR away' } } });
    expect((await submitAll([item('a'), item('b')], { top: { account: 'open' } })).body).toMatchObject({ accepted: 2 });
    await api.upstash.setFaults({});
    expect((await submitAll([item('a'), item('b')], { top: { account: 'open' } })).body).toMatchObject({ replayed: 2 });
    expect((await api.scores('waiting', 'open')).size).toBe(2);
  });

  test('a body that is wrong as a whole is refused as a whole', async () => {
    for (const items of [[], Array(501).fill(item('a')), 'no list', undefined]) {
      expect(await submitAll(items as unknown[])).toMatchObject({ status: 400, body: { field: 'items' } });
    }
    expect((await api.send('GET', '/v1/jobs/batch')).status).toBe(405);
  });
});

describe('a batch', () => {
  test('is noted once for a request, before its jobs are; its jobs and counts are seen by its owner alone', async () => {
    const touched: string[] = [];
    const { batches, store } = api.ports;
    const touch: typeof batches.touch = async (batch) => {
      touched.push(`${batch.name} ${(await store.list('acme', { limit: 10 })).jobs.length}`);
      return batches.touch(batch);
    };
    const spied = {
      ...batches,
      touch,
      get: batches.get.bind(batches),
      update: batches.update.bind(batches),
      jobs: batches.jobs.bind(batches),
    };
    const items = [item('a'), item('b'), item('c', { batch: 'other' })];
    await submitAll(items, { top: { batch: 'campaign' }, ports: { batches: spied } });
    expect(touched.sort()).toEqual(['campaign 0', 'other 0']);
    const seen = await api.send('GET', '/v1/batches/campaign');
    expect(seen.body).toMatchObject({
      name: 'campaign',
      state: 'open',
      jobs: 2,
      counts: { waiting: 2 },
      completed_at: null,
    });
    expect((await api.send('GET', seen.body.links.jobs)).body.jobs).toHaveLength(2);
    expect((await api.send('GET', '/v1/jobs?batch=campaign', { owner: 'globex' })).body.jobs).toEqual([]);
  });

  test('T107 is listed page by page, and its cursor is good for nothing else', async () => {
    await submitAll(
      ['a', 'b', 'c', 'd', 'e'].map((key) => item(key)),
      { top: { batch: 'campaign' } },
    );
    const ids: string[] = [];
    let page = await api.send('GET', '/v1/jobs?batch=campaign&limit=2');
    for (;;) {
      ids.push(...page.body.jobs.map(({ id }: { id: string }) => id));
      const { next_cursor: cursor } = page.body;
      if (cursor === null) break;
      for (const path of [
        '/v1/jobs?',
        '/v1/jobs?batch=other&',
        '/v1/jobs?state=waiting&batch=campaign&',
        '/v1/deliveries?state=dead&',
      ]) {
        expect(await api.send('GET', `${path}cursor=${cursor}`)).toMatchObject({
          status: 400,
          body: { code: 'cursor_invalid' },
        });
      }
      expect((await api.send('GET', `/v1/jobs?batch=campaign&cursor=${cursor}`, { owner: 'globex' })).status).toBe(400);
      page = await api.send('GET', `/v1/jobs?batch=campaign&limit=2&cursor=${cursor}`);
    }
    expect(new Set(ids).size).toBe(5);
    expect(ids).toHaveLength(5);
  });

  test('that has ended takes no new job, and still knows its own', async () => {
    const { batches } = api.ports;
    await api.send('POST', '/v1/jobs', { key: 'a', body: { input, batch: 'done' } });
    const batch = await batches.get(batchIdFor('acme', 'done'));
    if (batch === null) throw new Error('There is no batch.');
    await batches.update({ ...batch, completedAtMs: api.clock.ms, counts: { completed: 1 } });
    const late = await api.send('POST', '/v1/jobs', { key: 'b', body: { input, batch: 'done' } });
    expect(late).toMatchObject({ status: 409, body: { code: 'batch_completed', field: 'batch' } });
    expect(await api.stored(jobIdFor('acme', 'b'))).toBeNull();
    const repeat = await api.send('POST', '/v1/jobs', { key: 'a', body: { input, batch: 'done' } });
    expect([repeat.status, repeat.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
    const { body } = await submitAll([item('a'), item('b')], { top: { batch: 'done' } });
    expect(statuses(body)).toEqual([202, 409]);
    expect((await api.send('GET', '/v1/batches/done')).body).toMatchObject({
      state: 'completed',
      jobs: 1,
      counts: { completed: 1 },
    });
    // Another owner's batch of this name is another batch.
    expect((await submitAll([item('a')], { owner: 'globex', top: { batch: 'done' } })).body.accepted).toBe(1);
  });
});

describe('a webhook of a job', () => {
  test('is looked at once for many jobs, and shown with its endpoint, whose secret can be read', async () => {
    const items = Array.from({ length: 20 }, (_, place) => item(`key-${place}`));
    const { body } = await submitAll(items, { top: { webhook_url: url, webhook_events: ['job.completed'] } });
    expect(body.accepted).toBe(20);
    expect(api.checked).toEqual([url]);
    const shown = await api.send('GET', `/v1/jobs/${body.items[0].job.id}`);
    const id = endpointIdFor('acme', url);
    expect(shown.body.webhook).toEqual({ url, endpoint_id: id, events: ['job.completed'] });
    expect((await api.send('GET', `/v1/endpoints/${id}/secret`)).body.secret).toMatch(/^whsec_/);
    expect(await api.send('PATCH', `/v1/endpoints/${id}`, { body: { url: `${url}2` } })).toMatchObject({ status: 409 });
  });

  test('that may not be called, or is disabled, refuses new jobs and no repeats', async () => {
    await api.send('POST', '/v1/jobs', { key: 'a', body: { input, webhook_url: url } });
    const refused = await api.send('POST', '/v1/jobs', {
      key: 'b',
      body: { input, webhook_url: 'https://refused.example' },
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'webhook_url_refused', field: 'webhook_url' } });
    const id = endpointIdFor('acme', url);
    await api.send('PATCH', `/v1/endpoints/${id}`, { body: { state: 'disabled' } });
    // What was found ready is not looked at again for a minute.
    api.clock.ms += 61_000;
    const { body } = await submitAll([item('a'), item('c')], { top: { webhook_url: url } });
    expect(statuses(body)).toEqual([202, 409]);
    expect(body.items[1].problem).toMatchObject({ code: 'webhook_disabled', endpoint_id: id });
    await api.send('PATCH', `/v1/endpoints/${id}`, { body: { state: 'enabled' } });
    expect((await submitAll([item('c')], { top: { webhook_url: url } })).body.accepted).toBe(1);
  });

  test('is part of what a repeat must have in common; without one the repeat of an older job is known', async () => {
    await api.send('POST', '/v1/jobs', { key: 'a', body: { input } });
    expect((await api.send('POST', '/v1/jobs', { key: 'a', body: { input } })).status).toBe(202);
    for (const more of [{ webhook_url: url }, { webhook_events: ['job.failed'] }, { batch: 'x' }]) {
      expect((await api.send('POST', '/v1/jobs', { key: 'a', body: { input, ...more } })).status).toBe(422);
    }
  });
});
