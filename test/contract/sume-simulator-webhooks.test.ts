import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SumeSimulatorOptions } from '../../infra/local/sume-simulator/settings.ts';
import { type RunningSumeSimulator, startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { ask, CLIP, create, readStatus } from '../support/sume-requests.ts';

/* What the simulator tells of ends by itself, to a real receiver. */

interface Got {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
}

let receiver: Server;
let hookUrl: string;
let got: Got[];
let statuses: number[];
let simulator: RunningSumeSimulator;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push({ path: request.url ?? '', headers: request.headers, text: Buffer.concat(chunks).toString('utf8') });
      response.writeHead(statuses.shift() ?? 202, { connection: 'close' }).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  hookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?job=1`;
});
afterAll(() => void receiver.close());
beforeEach(() => {
  got = [];
  statuses = [];
});
afterEach(() => simulator.close());

const start = async (options: SumeSimulatorOptions = {}) => {
  simulator = await startSumeSimulator({
    seed: 'hooks',
    renderSeconds: 600,
    timeScale: 100,
    webhookSecret: 'secret-one',
    ...options,
  });
};
const made = async (name: string, body: object = {}, key?: string): Promise<string> =>
  (await create(simulator, name, { ...CLIP, webhook_url: hookUrl, ...body }, key)).json.id;
const end = (id: string, state = 'completed') => ask(simulator, 'POST', `/__control/jobs/${id}`, { body: { state } });
const control = (path: string, body: unknown) => ask(simulator, 'POST', `/__control/${path}`, { body });
const logs = async () => (await ask(simulator, 'GET', '/__control/webhooks')).json.webhooks;
const settled = () =>
  vi.waitUntil(
    async () => {
      const all: { outcome: string }[] = await logs();
      return all.length > 0 && all.every(({ outcome }) => outcome !== 'open') ? all : null;
    },
    { timeout: 10_000, interval: 10 },
  );
const signs = ({ headers, text }: Got, secret: string) =>
  headers['x-sume-signature'] ===
  `v1=${createHmac('sha256', secret).update(`${headers['x-sume-timestamp']}.${text}`).digest('hex')}`;

describe('the Sume simulator', () => {
  it('tells of each end once, signed, at the address that the create gave', async () => {
    await start({ renderSeconds: 60, limits: { processing: 2 } });
    const ids = [await made('1'), await made('2')];
    await create(simulator, 'without', CLIP);
    const canceled = await made('3');
    await ask(simulator, 'POST', `/v1/jobs/${canceled}/cancel`);
    await vi.waitUntil(() => got.length === 3, { timeout: 5_000 });
    const bodies = got.map(({ text }) => JSON.parse(text));
    expect(bodies.map(({ data }) => data.job_id).sort()).toEqual([...ids, canceled].sort());
    expect(bodies.map(({ type }) => type).sort()).toEqual(['job.canceled', 'job.completed', 'job.completed']);
    expect(bodies.find(({ type }) => type === 'job.canceled').data).toMatchObject({
      ...{ job_id: canceled, status: 'CANCELED', sume_status: 'canceled', terminal: true },
      usage: { status: 'refunded' },
    });
    for (const one of got) {
      expect(signs(one, 'secret-one')).toBe(true);
      expect(one.headers['x-sume-event-id']).toBe(JSON.parse(one.text).id);
      expect(Math.abs(Number(one.headers['x-sume-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
    }
    expect(got[0]?.path).toBe('/hook?job=1');
    expect((await settled()).map((log) => Object.keys(log)).length).toBe(3);
  });

  it('tries again three times until it is taken, under the same event id, and then gives up', async () => {
    await start();
    statuses = [500, 302, 404];
    const first = await made('1');
    await readStatus(simulator, first);
    await end(first);
    await vi.waitUntil(() => got.length === 4, { timeout: 5_000 });
    await readStatus(simulator, first);
    expect(simulator.report()).toMatchObject({ providerReads: 2, earlyReads: 0 });
    statuses = [500, 500, 500, 500, 500];
    await end(await made('2'));
    await vi.waitUntil(() => got.length === 8, { timeout: 5_000 });
    expect(await settled()).toMatchObject([
      { outcome: 'delivered', attempts: [{ status: 500 }, { status: 302 }, { status: 404 }, { status: 202 }] },
      { outcome: 'given_up', attempts: [{ status: 500 }, { status: 500 }, { status: 500 }, { status: 500 }] },
    ]);
    const eventIds = got.map(({ headers }) => headers['x-sume-event-id']);
    expect(new Set(eventIds.slice(0, 4)).size).toBe(1);
    expect(new Set(eventIds).size).toBe(2);
    expect(new Set(got.slice(0, 4).map(({ text }) => text)).size).toBe(1);
  });

  it('drops, doubles, delays and wrongly signs them where it is told to', async () => {
    await start();
    const [dropped, doubled, late, wrong] = [await made('1'), await made('2'), await made('3'), await made('4')];
    const rules = [
      { kind: 'drop', jobId: dropped },
      { kind: 'duplicate', jobId: doubled, count: 1 },
      { kind: 'delay', jobId: late, ms: 150 },
      { kind: 'wrong-signature', jobId: wrong },
    ];
    expect((await control('webhook-faults', rules)).status).toBe(200);
    for (const id of [dropped, late, doubled, wrong]) await end(id);
    await vi.waitUntil(() => got.length === 4, { timeout: 5_000 });
    const order = got.map(({ text }) => JSON.parse(text).data.job_id);
    expect(order.at(-1)).toBe(late);
    expect(order.filter((id) => id === doubled)).toHaveLength(2);
    expect(order).not.toContain(dropped);
    for (const one of got) expect(signs(one, 'secret-one')).toBe(JSON.parse(one.text).data.job_id !== wrong);
    expect((await settled()).map(({ outcome }) => outcome).sort()).toEqual([
      'delivered',
      'delivered',
      'delivered',
      'dropped',
    ]);
    await ask(simulator, 'DELETE', '/__control/webhook-faults');
    expect((await ask(simulator, 'GET', '/__control/webhook-faults')).json).toEqual({ rules: [] });
    for (const rule of [{ kind: 'lose' }, { kind: 'drop', ms: 5 }, { kind: 'delay' }, { kind: 'drop', times: 2 }]) {
      expect((await control('webhook-faults', rule)).status).toBe(400);
    }
  });

  it('signs each key’s by its own secret, which can be changed, and sends none without', async () => {
    await start({ webhookSecret: { 'key-a': 'secret-a' } });
    await control('webhook-secret', { secret: 'secret-b', apiKey: 'key-b' });
    const ids = [await made('1', {}, 'key-a'), await made('1', {}, 'key-b'), await made('1', {}, 'key-c')];
    for (const id of ids) await end(id);
    await vi.waitUntil(() => got.length === 2, { timeout: 5_000 });
    const keyOf = (one: Got) => (JSON.parse(one.text).data.job_id === ids[0] ? 'secret-a' : 'secret-b');
    for (const one of got) expect(signs(one, keyOf(one))).toBe(true);
    expect(await settled()).toHaveLength(2);
    expect((await control('webhook-secret', { secret: 7 })).status).toBe(400);
  });

  it('refuses an address that the service would not take', async () => {
    await start();
    for (const webhook_url of [
      'http://example.com/hook',
      'ftp://127.0.0.1',
      'https://user:pw@example.com',
      'hook',
      7,
    ]) {
      const reply = await create(simulator, undefined, { ...CLIP, webhook_url });
      expect([reply.status, reply.json.error.details.field]).toEqual([400, 'webhook_url']);
    }
  });
});
