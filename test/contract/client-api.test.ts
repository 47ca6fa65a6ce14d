import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Delivery } from '../../lib/client/answers.ts';
import { type Client, createClient } from '../../lib/client/client.ts';
import { type Stage, startStage } from '../fuzz-api/stage.ts';

/* The client on the API's real handlers: what it sends is what they take, and its types are what they answer. */

const input = { model: 'seedance-2-mini', prompt: 'a lighthouse', duration: 8, resolution: '720p' };
let stage: Stage;
let client: Client;
let requests = 0;

/** Puts a request of the client's through the gateway, so to say. */
const throughGateway: typeof fetch = async (address, init = {}) => {
  const { pathname, search } = new URL(String(address));
  const answer = await stage.answer({
    ...{ id: `client-${++requests}`, method: init.method ?? 'GET', rawPath: pathname, rawQueryString: search.slice(1) },
    headers: Object.fromEntries(new Headers(init.headers)),
    body: init.body === undefined ? null : { text: String(init.body), isBase64Encoded: false },
  });
  const hasBody = answer.statusCode !== 204 && answer.statusCode !== 304;
  return new Response(hasBody ? answer.body : null, { status: answer.statusCode, headers: answer.headers });
};

beforeAll(async () => {
  stage = await startStage();
  const token = stage.secrets[0] ?? '';
  client = createClient({ baseUrl: 'https://api.example', token, fetch: throughGateway, sleep: async () => {} });
});

afterAll(() => stage.close());

describe('the client and the API', () => {
  it('agree on jobs', async () => {
    const options = {
      idempotencyKey: 'one',
      priority: 7,
      deadlineSeconds: 3_600,
      metadata: { scene: '12' },
      account: 'sume',
    };
    const job = await client.submit(input, options);
    expect(job).toMatchObject({ state: 'waiting', priority: 7, metadata: { scene: '12' }, account: 'sume' });
    expect((await client.submit(input, options)).id).toBe(job.id);
    await expect(client.submit({ ...input, duration: 5 }, options)).rejects.toMatchObject({
      ...{ status: 422, code: 'idempotency_key_reused', idempotencyKey: 'one', requestId: `client-${requests}` },
    });
    expect(await client.get(job.id)).toMatchObject({ id: job.id, waiting_for: { kind: 'slot' } });
    expect(await client.pollNow(job.id)).toMatchObject({ id: job.id });
    expect(await client.cancel(job.id)).toMatchObject({ state: 'canceled' });
    expect(await client.wait(job.id)).toMatchObject({ state: 'canceled' });
    await expect(client.wait('job_none')).rejects.toMatchObject({ status: 404, code: 'no_such_job' });
  });

  it('agree on many jobs at once, and on lists', async () => {
    const items = ['a', 'b', 'c'].map((key) => ({ idempotency_key: `many-${key}`, input }));
    const wrong = { idempotency_key: 'many-d', input: { ...input, prompt: '' } };
    const shared = {
      batch: 'campaign-7',
      account: 'sume',
      webhookUrl: 'https://8.8.8.8/hook',
      webhookEvents: ['job.failed' as const],
    };
    const told = await client.submitBatch([...items, wrong], shared);
    expect(told).toMatchObject({ accepted: 3, replayed: 0, refused: 1 });
    const ids: string[] = [];
    for await (const { id, batch } of client.list({ batch: 'campaign-7', state: 'waiting', limit: 2 })) {
      expect(batch).toBe('campaign-7');
      ids.push(id);
    }
    expect(new Set(ids).size).toBe(3);
    expect(await client.batch('campaign-7')).toMatchObject({ name: 'campaign-7', state: 'open' });
    const adopted = await client.adopt([{ provider_job_id: 'job_elsewhere' }], { account: 'sume' });
    expect(adopted.items[0]).toMatchObject({ status: 202, job: { state: 'queued' } });
  });

  it('agree on endpoints and deliveries', async () => {
    const { secret, ...made } = await client.endpoints.create({
      url: 'https://8.8.4.4/hook',
      events: ['job.completed'],
    });
    expect(secret).toMatch(/^whsec_/);
    expect(await client.endpoints.get(made.id)).toMatchObject({ id: made.id, events: ['job.completed'] });
    expect(await client.endpoints.update(made.id, { state: 'disabled' })).toMatchObject({ state: 'disabled' });
    expect((await client.endpoints.list()).map(({ id }) => id)).toContain(made.id);
    const rotated = await client.endpoints.rotateSecret(made.id, { overlapSeconds: 600 });
    expect(rotated.previous[0]).toMatchObject({ secret });
    expect(await client.endpoints.secret(made.id)).toEqual(rotated);
    await client.endpoints.remove(made.id);
    await client.endpoints.remove(made.id);
    const first = (await client.endpoints.list()).find(({ url }) => url === 'https://93.184.215.14/hook');
    const pending: Delivery[] = [];
    for await (const delivery of client.pendingDeliveries(first?.id ?? '')) pending.push(delivery);
    expect(pending).toMatchObject([{ state: 'pending', type: 'job.completed' }]);
    const dead: Delivery[] = [];
    for await (const delivery of client.deadDeliveries({ limit: 1 })) dead.push(delivery);
    expect(dead).toMatchObject([{ state: 'dead' }]);
    expect(await client.deliveries(pending[0]?.job_id ?? '')).toHaveLength(4);
    expect(await client.redeliver(pending[0]?.id ?? '')).toMatchObject([{ id: pending[0]?.id }]);
  });

  it('agree on accounts and how the service is doing', async () => {
    expect((await client.accounts()).map(({ id }) => id)).toEqual(['sume', 'studio']);
    expect(await client.account('sume')).toMatchObject({ id: 'sume', state: 'active' });
    expect(await client.operate('sume', 'pause')).toMatchObject({ state: 'paused' });
    expect(await client.operate('sume', 'resume')).toMatchObject({ state: 'active' });
    expect((await client.stats()).accounts.length).toBeGreaterThan(0);
    expect(await client.health()).toMatchObject({ status: 'up' });
  });
});
