import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, vi } from 'vitest';
import { startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { hookHour } from '../../lib/hooks/hook-health.ts';
import type { ApiPorts } from '../../lib/http/app.ts';
import { jobIdFor } from '../../lib/identify.ts';
import type { Job } from '../../lib/job.ts';
import { DynamoHookCounts } from '../../lib/job-store/dynamo-hook-counts.ts';
import { useAccountApi } from '../support/account-api.ts';
import { testNowMs as nowMs } from '../support/dynamo.ts';
import { ask, CLIP, create } from '../support/sume-requests.ts';

/* The provider's own word of ends, over a real Redis and a real record. */

const api = useAccountApi();
const hookUrl = 'https://api.example.com/v1/hooks/sume';
const secrets = new Map([
  ['studio', ['studio-old', 'studio-new']],
  ['own', ['own-secret']],
]);
const hour = hookHour(nowMs);
const later = nowMs + 90_000;
const counts = () => new DynamoHookCounts(api.dynamo.client, api.table, api.clock);
const app = (ports: Partial<ApiPorts> = {}) => api.app({ hooks: { secrets, counts: counts() }, ...ports });

interface Sent {
  job?: string;
  body?: string | Uint8Array<ArrayBuffer>;
  eventId?: string;
  secret?: string;
  headers?: Record<string, string>;
}

const bodyOf = (providerJobId: string) =>
  JSON.stringify({ id: 'evt_1', type: 'job.completed', data: { job_id: providerJobId } });

async function send(
  { job, body = bodyOf('p1'), eventId = 'evt_1', secret = 'studio-new', headers = {} }: Sent,
  ports = {},
) {
  const seconds = String(Math.floor(api.clock.ms / 1000));
  const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  const signed = { 'x-sume-event-id': eventId, 'x-sume-timestamp': seconds, 'x-sume-signature': `v1=${digest}` };
  const path = `/v1/hooks/sume${job === undefined ? '' : `?job=${job}`}`;
  const reply = await app(ports).request(path, { method: 'POST', body, headers: { ...signed, ...headers } });
  const answer = (await reply.json()) as Record<string, unknown>;
  return { status: reply.status, code: answer.code, accepted: answer.accepted };
}

/** A job at the provider, due later; in the record and in the due set. */
async function sentJob(given: Partial<Job> = {}): Promise<Job> {
  const job = await api.job('key-1', {
    state: 'processing',
    providerJobId: 'p1',
    submittedAtMs: nowMs - 5_000,
    hookUrl,
    ...given,
  });
  await api.put('due', 'studio', later, job.id);
  return job;
}
const dueAt = async (id: string) => Number(await api.upstash.direct('ZSCORE', 'pk:{test}:due:studio', id));
const stored = async (id: string) => (await api.ports.store.get(id)) as Job;
const accepted = { status: 202, accepted: true };
const refused = { status: 401, code: 'signature_invalid' };

describe('a hook', () => {
  it('makes the job due now, is noted, wakes a drain, and decides nothing', async () => {
    const job = await sentJob({ notBeforeMs: later });
    expect(await send({ job: job.id })).toMatchObject(accepted);
    expect(await dueAt(job.id)).toBe(nowMs);
    expect(api.woken).toEqual(['studio']);
    const { notBeforeMs, hook, revision, ...rest } = await stored(job.id);
    expect({ notBeforeMs, hook }).toEqual({ notBeforeMs: undefined, hook: { eventId: 'evt_1', atMs: nowMs } });
    expect(rest).toMatchObject({ state: 'processing', events: [], updatedAtMs: job.updatedAtMs });
  });

  it('is taken under either secret while they are exchanged, and whatever its bytes are', async () => {
    const job = await sentJob();
    expect(await send({ job: job.id, secret: 'studio-old', body: new Uint8Array([0xff, 0, 0xfe]) })).toMatchObject(
      accepted,
    );
    expect(await dueAt(job.id)).toBe(nowMs);
  });

  it('that is not signed as it must be is the same 401 whatever is wrong, and nothing is looked up (T104)', async () => {
    const job = await sentJob();
    const store = { get: vi.fn(), update: vi.fn() };
    const wrong: Sent[] = [
      { secret: 'somebody-else' },
      { headers: { 'x-sume-timestamp': String(nowMs / 1000 - 301) } },
      { headers: { 'x-sume-timestamp': 'soon' } },
      { headers: { 'x-sume-signature': 'v1=00' } },
      { headers: { 'x-sume-signature': '' } },
      { eventId: '' },
      { eventId: 'e'.repeat(201) },
    ];
    const ports = { store: store as never };
    for (const sent of wrong) expect(await send({ job: job.id, ...sent }, ports)).toMatchObject(refused);
    expect(await send({ job: job.id }, { ...ports, hooks: undefined })).toMatchObject(refused);
    const bare = await app(ports).request(`/v1/hooks/sume?job=${job.id}`, { method: 'POST' });
    expect(bare.status).toBe(401);
    expect([store.get, store.update].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
    expect(await dueAt(job.id)).toBe(later);
  });

  it('of a job that is not there, is another account’s, or is another one than its body names is taken, and nothing is done', async () => {
    const job = await sentJob();
    for (const sent of [
      {},
      { job: 'job_1' },
      { job: jobIdFor('acme', 'never') },
      { job: job.id, secret: 'own-secret' },
      { job: job.id, body: bodyOf('p2') },
      { job: job.id, body: JSON.stringify({ id: 'job_other', status: 'completed' }) },
    ]) {
      expect(await send(sent)).toMatchObject(accepted);
    }
    expect([await dueAt(job.id), (await stored(job.id)).hook]).toEqual([later, undefined]);
    const waiting = await api.job('key-2', { state: 'waiting' });
    await api.put('waiting', 'studio', 5, waiting.id);
    expect(await send({ job: waiting.id })).toMatchObject(accepted);
    expect(Number(await api.upstash.direct('ZSCORE', 'pk:{test}:waiting:studio', waiting.id))).toBe(5);
  });

  it('that comes again writes nothing and counts nothing', async () => {
    const job = await sentJob();
    await send({ job: job.id });
    const { revision } = await stored(job.id);
    expect(await send({ job: job.id })).toMatchObject(accepted);
    await api.ports.store.update({ ...(await stored(job.id)), state: 'completed', finishedAtMs: nowMs });
    await api.upstash.direct('ZREM', 'pk:{test}:due:studio', job.id);
    expect(await send({ job: job.id })).toMatchObject(accepted);
    expect(await send({ job: job.id, eventId: 'evt_2' })).toMatchObject(accepted);
    expect((await stored(job.id)).revision).toBe(revision + 1);
    expect(await api.upstash.direct('ZSCORE', 'pk:{test}:due:studio', job.id)).toBeNull();
    expect(await counts().read(['studio'], [hour])).toEqual([]);
  });

  it('that finds no Redis is to be sent again, and is then no duplicate that is let lie', async () => {
    const job = await sentJob();
    const down = { view: api.viewAt('http://127.0.0.1:1') };
    expect(await send({ job: job.id }, down)).toMatchObject({ status: 503, code: 'due_set_unavailable' });
    expect(await dueAt(job.id)).toBe(later);
    expect(await send({ job: job.id })).toMatchObject(accepted);
    expect(await dueAt(job.id)).toBe(nowMs);
  });

  it('waits for a read that is under way, and pulls the job forward after it', async () => {
    const job = await sentJob();
    const leaseEnd = nowMs + 8_000.0625;
    await api.put('due', 'studio', leaseEnd, job.id);
    const waits: number[] = [];
    const clock = {
      ...{ nowMs: api.clock.nowMs, monotonicMs: api.clock.nowMs },
      async sleep(delayMs: number) {
        waits.push(delayMs);
        if (waits.length === 2) await api.put('due', 'studio', later, job.id);
      },
    };
    await send({ job: job.id }, { clock });
    expect([waits, await dueAt(job.id)]).toEqual([[700, 700], nowMs]);
    // One that stays in a drain's hands is left to it, and one that ended meanwhile does not come back.
    await api.put('due', 'studio', leaseEnd, job.id);
    await send({ job: job.id }, { clock: { ...clock, sleep: async () => {} } });
    expect(await dueAt(job.id)).toBe(leaseEnd);
    const gone = async () => void (await api.upstash.direct('ZREM', 'pk:{test}:due:studio', job.id));
    await send({ job: job.id }, { clock: { ...clock, sleep: gone } });
    expect(await api.upstash.direct('ZSCORE', 'pk:{test}:due:studio', job.id)).toBeNull();
  });

  it('that loses the race to a drain’s write is noted on what the drain wrote', async () => {
    const job = await sentJob();
    const { store } = api.ports;
    let raced = false;
    const racing = {
      get: (id: string) => store.get(id),
      async update(next: Job) {
        if (!raced) await store.update({ ...job, providerStatus: 'processing', failuresInRow: 2 });
        raced = true;
        return store.update(next);
      },
    };
    expect(await send({ job: job.id }, { store: racing })).toMatchObject(accepted);
    expect(await stored(job.id)).toMatchObject({ failuresInRow: 2, hook: { eventId: 'evt_1' } });
  });

  it('that comes after the end was read is noted and counted as late, once, in the hour of that end', async () => {
    const finishedAtMs = nowMs - 3_600_000;
    await counts().add('studio', hour - 1, { missed: 3 });
    const job = await sentJob({ state: 'completed', finishedAtMs });
    for (const eventId of ['evt_1', 'evt_1', 'evt_2'])
      expect(await send({ job: job.id, eventId })).toMatchObject(accepted);
    expect(await counts().read(['studio'], [hour, hour - 1])).toEqual([
      { account: 'studio', hour: hour - 1, arrived: 0, missed: 2, late: 1 },
    ]);
    expect(await stored(job.id)).toMatchObject({ state: 'completed', hook: { eventId: 'evt_1' }, finishedAtMs });
    expect(await dueAt(job.id)).toBe(later);
    const elsewhere = await api.job('key-3', { state: 'lost', providerJobId: 'p1', hookUrl });
    await send({ job: elsewhere.id });
    expect(await counts().read(['studio'], [hour])).toEqual([]);
  });

  it('of more than 256 KB is refused before anything, and no other method is taken', async () => {
    expect(await send({ body: 'x'.repeat(256 * 1024 + 1) })).toMatchObject({ status: 413, code: 'body_too_large' });
    expect(await send({ body: 'x'.repeat(256 * 1024) })).toMatchObject(accepted);
    const reply = await app().request('/v1/hooks/sume');
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('of the simulator is taken as it is sent', async () => {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', async () => {
        const headers = new Headers(request.headers as Record<string, string>);
        const reply = await app().request(String(request.url), {
          method: 'POST',
          headers,
          body: Buffer.concat(chunks),
        });
        response.writeHead(reply.status, { connection: 'close' }).end(await reply.text());
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const id = jobIdFor('acme', 'key-1');
    const webhook_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/hooks/sume?job=${id}`;
    const simulator = await startSumeSimulator({ seed: 'hook', webhookSecret: 'studio-old', nowMs: api.clock.nowMs });
    const providerJobId = (await create(simulator, 'k', { ...CLIP, webhook_url })).json.id;
    await sentJob({ providerJobId });
    await ask(simulator, 'POST', `/__control/jobs/${providerJobId}`, { body: { state: 'failed' } });
    await vi.waitUntil(async () => (await dueAt(id)) === nowMs, { timeout: 5_000 });
    expect(await stored(id)).toMatchObject({ state: 'processing', hook: { atMs: nowMs } });
    await simulator.close();
    server.close();
  });
});

describe('the stats', () => {
  it('show what arrived, was missed and was late in a day, and whether reads are slowed for it', async () => {
    const store = counts();
    await Promise.all([
      store.add('studio', hour, { arrived: 7, missed: 1 }),
      store.add('studio', hour, { arrived: 1 }),
      store.add('studio', hour - 5, { missed: 9, late: 4 }),
      store.add('studio', hour - 24, { missed: 50 }),
      // Late word of an end that its drain has not counted yet.
      store.add('studio', hour - 1, { missed: -1, late: 1 }),
      store.add('own', hour - 1, { missed: 2 }),
    ]);
    const stats = async (ports: Partial<ApiPorts>) => {
      const event = { requestContext: { authorizer: { lambda: { owner: 'globex' } } } };
      const reply = await app(ports).request('/v1/stats', {}, { event } as never);
      const { accounts } = (await reply.json()) as { accounts: { id: string; hooks: unknown }[] };
      return Object.fromEntries(accounts.map(({ id, hooks }) => [id, hooks]));
    };
    expect(await stats({})).toEqual({
      studio: { arrived: 8, missed: 10, late: 5, reads_slowed: true },
      own: { arrived: 0, missed: 2, late: 0, reads_slowed: false },
      open: null,
    });
    const lost = new DynamoHookCounts(api.dynamo.client, 'no-such-table', api.clock);
    expect(await stats({ hooks: { secrets, counts: lost } })).toEqual({ studio: null, own: null, open: null });
    const key = { id: { S: `hooks_studio_${hour}` } };
    const { Item: item = {} } = await api.dynamo.client.send(new GetItemCommand({ TableName: api.table, Key: key }));
    expect(Object.keys(item).sort()).toEqual(['arrived_count', 'expires_at', 'id', 'missed_count']);
    expect(Number(item.expires_at?.N) * 1000).toBe((hour + 49) * 3_600_000);
  });
});
