import { describe, expect, test } from 'vitest';
import { eventTypes } from '../../lib/event.ts';
import { deliveryIdFor, endpointIdFor, eventIdFor } from '../../lib/identify.ts';
import { endpointsMax, jobEndpointsListed } from '../../lib/webhooks/endpoint.ts';
import { testEndpoint } from '../support/deliveries.ts';
import { testNowMs } from '../support/dynamo.ts';
import { useNewsApi } from '../support/news-api.ts';

/* Registering endpoints, their secrets, and what each owner sees of all this, over a real record. */

const api = useNewsApi();
const url = 'https://hooks.example.com/a';
const register = (given: object = {}, owner = 'acme') =>
  api.send('POST', '/v1/endpoints', { owner, body: { url, ...given } });
const secretOf = async (id: string) => (await api.send('GET', `/v1/endpoints/${id}/secret`)).body;

describe('an endpoint', () => {
  test('is registered with a secret of its own, shown then and on demand only', async () => {
    const { status, headers, body } = await register({ events: ['job.failed'], description: 'alerts' });
    expect(status).toBe(201);
    const { secret, ...shown } = body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toMatchObject({
      kind: 'registered',
      url,
      events: ['job.failed'],
      state: 'enabled',
      disabled_by: null,
    });
    expect([headers.get('location'), headers.get('cache-control')]).toEqual([body.links.self, 'no-store']);
    expect((await api.send('GET', body.links.self)).body).toEqual(shown);
    expect((await api.send('GET', '/v1/endpoints')).body).toEqual({ endpoints: [shown] });
    expect(await secretOf(body.id)).toEqual({ secret, created_at: shown.created_at, previous: [] });
    // Two may lead to one URL.
    expect((await register()).body.id).not.toBe(body.id);
    expect(JSON.stringify(api.logged)).not.toMatch(/whsec_|hooks\.example/);
  });

  test('is changed as far as it may be, each change checked as at the start', async () => {
    const { id } = (await register()).body;
    const change = (body: unknown, path = id) => api.send('PATCH', `/v1/endpoints/${path}`, { body });
    const moved = await change({ url: 'https://hooks.example.com/b', events: [...eventTypes], description: 'x' });
    expect(moved.body).toMatchObject({ url: 'https://hooks.example.com/b', description: 'x', state: 'enabled' });
    expect(await change({ url: 'https://refused.example' })).toMatchObject({
      status: 400,
      body: { code: 'webhook_url_refused', field: 'url' },
    });
    expect(await register({ url: 'https://refused.example' })).toMatchObject({ status: 400, body: { field: 'url' } });
    expect((await change({ state: 'disabled' })).body).toMatchObject({
      state: 'disabled',
      disabled_by: 'owner',
      disabled_at: expect.any(String),
    });
    expect((await change({ state: 'enabled', events: null })).body).toMatchObject({
      state: 'enabled',
      disabled_by: null,
      disabled_at: null,
      events: null,
    });
    for (const body of [{ secret: 'x' }, { state: 'gone' }, { events: ['job.nothing'] }, { events: [] }, { url: 5 }]) {
      expect((await change(body)).status).toBe(400);
    }
    expect(await api.ports.endpoints.get(id)).toMatchObject({ url: 'https://hooks.example.com/b', events: null });
  });

  test('keeps its older secrets for the overlap, and none after one of 0', async () => {
    const { id, secret: first } = (await register()).body;
    const rotate = (overlap?: number) =>
      api.send(
        'POST',
        `/v1/endpoints/${id}/rotate-secret`,
        overlap === undefined ? {} : { body: { overlap_seconds: overlap } },
      );
    const rotated = await rotate(3_600);
    expect(rotated.body.secret).not.toBe(first);
    const until = new Date(api.clock.ms + 3_600_000).toISOString();
    expect(rotated.body.previous).toEqual([{ secret: first, expires_at: until }]);
    const again = await rotate();
    expect(again.body.previous.map(({ expires_at: at }: { expires_at: string }) => at)).toEqual([
      expect.any(String),
      until,
    ]);
    api.clock.ms += 3_601_000;
    expect((await secretOf(id)).previous).toMatchObject([{ secret: rotated.body.secret }]);
    for (let times = 0; times < 4; times++) await rotate(600_000);
    expect(await rotate()).toMatchObject({ status: 409, body: { code: 'too_many_secrets' } });
    expect((await rotate(0)).body.previous).toEqual([]);
    expect((await rotate(604_801)).status).toBe(400);
  });

  test('is gone once it was removed; an owner has so many at most', async () => {
    const { id } = (await register()).body;
    expect(await api.send('DELETE', `/v1/endpoints/${id}`)).toMatchObject({ status: 204, body: null });
    expect((await api.send('GET', `/v1/endpoints/${id}`)).status).toBe(404);
    expect((await api.send('DELETE', `/v1/endpoints/${id}`)).status).toBe(404);
    const more = Array.from({ length: endpointsMax }, (_, place) =>
      testEndpoint({ url: `https://hooks.example.com/${place}` }),
    );
    await Promise.all(more.map((endpoint) => api.ports.endpoints.create(endpoint)));
    expect(await register()).toMatchObject({ status: 409, body: { code: 'too_many_endpoints' } });
    expect((await register({}, 'globex')).status).toBe(201);
  });

  test('takes acts of an admin only, and is seen with read', async () => {
    const { id } = (await register()).body;
    const as = async (scopes: string, method: string, path: string, body?: string) => {
      const event = { requestContext: { authorizer: { lambda: { owner: 'acme', scopes } } } };
      const init = { method, ...(body === undefined ? {} : { body }) };
      return (await api.app().request(`/v1/endpoints${path}`, init, { event } as never)).status;
    };
    expect([await as('read', 'GET', ''), await as('read', 'GET', `/${id}`)]).toEqual([200, 200]);
    const acts = [
      ['POST', ''],
      ['PATCH', `/${id}`],
      ['DELETE', `/${id}`],
      ['GET', `/${id}/secret`],
      ['POST', `/${id}/rotate-secret`],
    ];
    for (const [method = '', path = ''] of acts)
      expect(await as('read submit', method, path, '{}'.slice(method === 'GET' ? 2 : 0) || undefined)).toBe(403);
  });
});

describe('what another owner has', () => {
  test('is the same 404 as what does not exist, byte for byte but for the request’s id', async () => {
    const endpoint = testEndpoint({ url });
    await api.ports.endpoints.create(endpoint);
    const job = await api.toldJob('a', [endpoint.id]);
    await api.send('POST', '/v1/jobs', { key: 'b', body: { input: { model: 'm', prompt: 'x' }, batch: 'campaign' } });
    const delivery = deliveryIdFor(eventIdFor(job.id, 'job.completed'), endpoint.id);
    const unknown = {
      job: `job_${'a'.repeat(32)}`,
      endpoint: `whe_${'a'.repeat(32)}`,
      delivery: `dlv_${'a'.repeat(32)}`,
    };
    const paths: [string, (ids: { job: string; endpoint: string; delivery: string; batch: string }) => string][] = [
      ['GET', ({ job: id }) => `/v1/jobs/${id}`],
      ['GET', ({ job: id }) => `/v1/jobs/${id}?wait=25`],
      ['GET', ({ job: id }) => `/v1/jobs/${id}/deliveries`],
      ['POST', ({ job: id }) => `/v1/jobs/${id}/cancel`],
      ['POST', ({ job: id }) => `/v1/jobs/${id}/poll`],
      ['POST', ({ job: id }) => `/v1/jobs/${id}/redeliver`],
      ['GET', ({ batch }) => `/v1/batches/${batch}`],
      ['GET', ({ endpoint: id }) => `/v1/endpoints/${id}`],
      ['PATCH', ({ endpoint: id }) => `/v1/endpoints/${id}`],
      ['DELETE', ({ endpoint: id }) => `/v1/endpoints/${id}`],
      ['GET', ({ endpoint: id }) => `/v1/endpoints/${id}/secret`],
      ['POST', ({ endpoint: id }) => `/v1/endpoints/${id}/rotate-secret`],
      ['GET', ({ endpoint: id }) => `/v1/deliveries?endpoint_id=${id}`],
      ['POST', ({ delivery: id }) => `/v1/deliveries/${id}/redeliver`],
    ];
    for (const [method, path] of paths) {
      const foreign = await api.send(
        method,
        path({ job: job.id, endpoint: endpoint.id, delivery, batch: 'campaign' }),
        { owner: 'globex' },
      );
      const none = await api.send(method, path({ ...unknown, batch: 'nowhere' }), { owner: 'globex' });
      expect([method, path(unknown as never), foreign.status]).toEqual([method, path(unknown as never), 404]);
      expect(JSON.stringify({ ...foreign.body, request_id: '' })).toBe(
        JSON.stringify({ ...none.body, request_id: '' }),
      );
    }
    for (const path of ['/v1/endpoints', '/v1/jobs', '/v1/jobs?batch=campaign', '/v1/deliveries?state=dead']) {
      const { body } = await api.send('GET', path, { owner: 'globex' });
      expect(Object.values(body).filter((value) => Array.isArray(value))).toEqual([[]]);
    }
    expect(await api.ports.endpoints.get(endpoint.id)).toEqual(endpoint);
  });

  test('T107 T109 a page of deliveries has a limit, and a cursor that is good for its owner and filter only', async () => {
    const endpoint = testEndpoint({ url });
    await api.ports.endpoints.create(endpoint);
    for (const key of ['a', 'b', 'c']) await api.toldJob(key, [endpoint.id], { state: 'dead', endedAtMs: testNowMs });
    await api.toldJob('d', [endpoint.id], { state: 'pending', nextAtMs: testNowMs + 5_000 });
    const first = await api.send('GET', '/v1/deliveries?state=dead&limit=2');
    const cursor: string = first.body.next_cursor;
    expect(first.body.deliveries).toHaveLength(2);
    const rest = await api.send('GET', `/v1/deliveries?state=dead&limit=2&cursor=${cursor}`);
    expect([rest.body.deliveries.length, rest.body.next_cursor]).toEqual([1, null]);
    const edited = cursor.slice(0, 9) + (cursor[9] === 'A' ? 'B' : 'A') + cursor.slice(10);
    for (const wrong of [
      `state=dead&cursor=${edited}`,
      `state=dead&cursor=${cursor.slice(0, -4)}`,
      `endpoint_id=${endpoint.id}&cursor=${cursor}`,
    ]) {
      expect(await api.send('GET', `/v1/deliveries?${wrong}`)).toMatchObject({
        status: 400,
        body: { code: 'cursor_invalid' },
      });
    }
    expect((await api.send('GET', `/v1/jobs?cursor=${cursor}`)).status).toBe(400);
    expect((await api.send('GET', `/v1/deliveries?state=dead&cursor=${cursor}`, { owner: 'globex' })).status).toBe(400);
    for (const limit of ['0', '-1', '1e9', 'abc', '101']) {
      expect(await api.send('GET', `/v1/deliveries?state=dead&limit=${limit}`)).toMatchObject({
        status: 400,
        body: { field: 'limit' },
      });
    }
    const pending = await api.send('GET', `/v1/deliveries?endpoint_id=${endpoint.id}`);
    expect(pending.body.deliveries).toMatchObject([
      { state: 'pending', next_at: new Date(testNowMs + 5_000).toISOString() },
    ]);
    for (const query of ['', '?state=pending', `?state=dead&endpoint_id=${endpoint.id}`, '?endpoint_id=x']) {
      expect((await api.send('GET', `/v1/deliveries${query}`)).status).toBe(400);
    }
  });

  test('T109 a list of endpoints has the newest of those that came with jobs, however many there are', async () => {
    const { id } = (await register()).body;
    const brought = Array.from({ length: jobEndpointsListed + 20 }, (_, place) =>
      testEndpoint({ url: `${url}?job=${place}`, kind: 'job', createdAtMs: testNowMs + place }),
    );
    await Promise.all(brought.map((endpoint) => api.ports.endpoints.create(endpoint)));
    const { body } = await api.send('GET', '/v1/endpoints');
    const listed: string[] = body.endpoints.map((endpoint: { id: string }) => endpoint.id);
    expect(listed).toContain(id);
    expect(new Set(listed)).toEqual(new Set([id, ...brought.slice(20).map((endpoint) => endpoint.id)]));
    // Its id stands in the job: it is looked at all the same.
    expect((await api.send('GET', `/v1/endpoints/${brought[0]?.id}`)).body.id).toBe(brought[0]?.id);
  });

  test('T109 a page of jobs ends before the answer is more than Lambda hands over, and the next one goes on there', async () => {
    const value = '\u0001'.repeat(512);
    const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, place) => [`key ${place}`, value]));
    const keys = Array.from({ length: 80 }, (_, place) => String(place));
    await Promise.all(keys.map((key) => api.job(key, { metadata })));
    const first = (await api.send('GET', '/v1/jobs?limit=80')).body;
    expect(Buffer.byteLength(JSON.stringify(JSON.stringify(first)))).toBeLessThan(5_100_000);
    const rest = (await api.send('GET', `/v1/jobs?limit=80&cursor=${first.next_cursor}`)).body;
    expect(rest.next_cursor).toBeNull();
    const ids = [...first.jobs, ...rest.jobs].map(({ id }: { id: string }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([80, 80]);
  });

  test('an endpoint that came with a job has an id that no registered one can have', async () => {
    await api.send('POST', '/v1/jobs', { key: 'a', body: { input: { model: 'm', prompt: 'x' }, webhook_url: url } });
    await register();
    const { body } = await api.send('GET', '/v1/endpoints');
    expect(body.endpoints.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['job', 'registered']);
    expect(body.endpoints.filter(({ id }: { id: string }) => id === endpointIdFor('acme', url))).toMatchObject([
      { kind: 'job' },
    ]);
  });
});
