import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { seededRandom } from '../../infra/local/sume-simulator/simulator.ts';
import { type EventStage, startEventStage } from '../events-load/event-stage.ts';
import { type Arrival, type Manner, startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

/*
 * From the submit to a receiver that is not ours, while drain and deliver are really killed, each several times in the middle
 * of its work. The kills and the renders follow from the seed: SEED=… npx vitest run test/e2e/events.test.ts.
 */

const seed = process.env.SEED ?? randomBytes(4).toString('hex');
const random = seededRandom(seed);
const jobCount = 20;
const batchName = 'campaign-814';
const drainKills = 3;
const deliverKills = 4;
const killSpanMs = 8_000;
/** At the receiver: of the owner's registered endpoint, and of the one that came with the jobs. */
const paths = ['/owner', '/jobs'];

interface JobView {
  id: string;
  state: string;
  finished_at: string | null;
  events: { id: string; type: string }[];
  webhook: { endpoint_id: string } | null;
}
let stage: EventStage;
let receiver: WebhookReceiver;
let failed = true;

beforeAll(async () => {
  console.log(`seed ${seed}`);
  stage = await startEventStage({
    provider: {
      ...{ seed, timeScale: 30, limits: false, failureShare: 0.1 },
      ...{ renderSeconds: { least: 60, most: 240 }, answerDelayMs: { mean: 20, spread: 10 } },
    },
    env: { LEASE_MS: '4000', TICK_MS: '500', WEBHOOK_TIMEOUT_MS: '1000' },
    ...{ atMost: 3, pollingFirst: false },
  });
  receiver = await startWebhookReceiver(answer);
});

afterAll(async () => {
  await receiver?.close();
  await stage?.close(failed);
});

async function call<T>(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const reply = await fetch(`${stage.apiUrl}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...sent,
  });
  const told = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${told}`);
  return JSON.parse(told) as T;
}

const jobAtArrival: { wanted: string; found: string; finishedAt: string | null }[] = [];
const seen = new Set<string>();

/** The first time that it gets an event it may take it in and fail all the same; never twice. */
async function answer({ path, id, event }: Arrival): Promise<Manner> {
  if (seen.has(`${path} ${id}`)) return 'ok';
  const number = seen.add(`${path} ${id}`).size;
  if (number % 3 === 0 && event.type !== 'batch.completed') {
    const { state, finished_at: finishedAt } = await call<JobView>('GET', `/v1/jobs/${event.data.id}`);
    jobAtArrival.push({ wanted: event.type, found: `job.${state}`, finishedAt });
  }
  if (number === 10) return 'silence';
  return number % 7 === 2 ? 'error' : number % 7 === 5 ? 'hang_up' : 'ok';
}

const clip = (name: string) => ({ model: 'seedance-2-mini', prompt: name, duration: 5, resolution: '720p' });

async function register(): Promise<string> {
  const made = await call<{ id: string; secret: string }>('POST', '/v1/endpoints', { url: `${receiver.url}/owner` });
  receiver.trust('/owner', made.secret);
  return made.id;
}

/** The ids of the batch's jobs, and that of the endpoint that came with them. */
async function submitBatch(): Promise<{ ids: string[]; endpointId: string }> {
  const items = Array.from({ length: jobCount }, (_, job) => ({
    idempotency_key: `${seed}-batch-${job}`,
    input: clip(`lighthouse ${job}`),
  }));
  const body = { batch: batchName, webhook_url: `${receiver.url}/jobs`, items };
  const { items: results } = await call<{ items: { job: { id: string } }[] }>('POST', '/v1/jobs/batch', body);
  const ids = results.map(({ job }) => job.id);
  const { webhook } = await call<JobView>('GET', `/v1/jobs/${ids[0]}`);
  const endpointId = webhook?.endpoint_id ?? '';
  const { secret } = await call<{ secret: string }>('GET', `/v1/endpoints/${endpointId}/secret`);
  receiver.trust('/jobs', secret);
  return { ids, endpointId };
}

/** A batch stays open for a minute after jobs were added. Nobody waits for it here: they were added a minute ago. */
async function ageBatch(): Promise<void> {
  const { endpoint, name, region } = stage.table;
  const { id } = await call<{ id: string }>('GET', `/v1/batches/${batchName}`);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDBClient({ endpoint, region, credentials });
  await client.send(
    new UpdateItemCommand({
      TableName: name,
      Key: { id: { S: id } },
      UpdateExpression: 'ADD touched_at_ms :minute',
      ExpressionAttributeValues: { ':minute': { N: '-60000' } },
    }),
  );
  client.destroy();
}

async function submitOne(job: number): Promise<string> {
  await pause(random() * 3_000);
  const body = { input: clip(`harbour ${job}`), webhook_url: `${receiver.url}/jobs` };
  const { id } = await call<JobView>('POST', '/v1/jobs', body, { 'idempotency-key': `${seed}-${job}` });
  return id;
}

async function killSome(name: 'drain' | 'deliver', times: number): Promise<void> {
  for (let kill = 0; kill < times; kill++) {
    await pause(((0.5 + random()) * killSpanMs) / times);
    await vi.waitUntil(() => stage.functions[name].kill(random()), { timeout: 5_000, interval: 10 });
  }
}

/** What came to this path about the job or the batch, each event once: its type and its id. */
function toldOf(subjectId: string, path: string): string[] {
  const about = receiver.arrivals.filter((arrival) => arrival.path === path && arrival.event.data.id === subjectId);
  return [...new Set(about.map(({ event, id }) => `${event.type} ${id}`))];
}

function expectOneEventEach(jobs: readonly JobView[]): void {
  for (const { id, state, events } of jobs) {
    const ends = events.filter(({ type }) => type === `job.${state}`).map((event) => `${event.type} ${event.id}`);
    expect(ends, seed).toHaveLength(1);
    for (const path of paths) expect(toldOf(id, path), `${seed} ${id}`).toEqual(ends);
  }
}

async function expectOneEventOfTheBatch(): Promise<void> {
  const { id, ...batch } = await call<{ id: string }>('GET', `/v1/batches/${batchName}`);
  expect(batch, seed).toMatchObject({ state: 'completed', jobs: jobCount });
  const told = paths.map((path) => toldOf(id, path));
  expect(told[0], seed).toEqual([expect.stringMatching(/^batch\.completed evt_/)]);
  expect(told[1], seed).toEqual(told[0]);
}

function expectTheSameBytesAgain(): void {
  const bodies = new Map<string, string>();
  for (const { path, id, body } of receiver.arrivals) {
    expect(body === (bodies.get(`${path} ${id}`) ?? body), `${seed} ${id}`).toBe(true);
    bodies.set(`${path} ${id}`, body);
  }
  expect(receiver.arrivals.length, seed).toBeGreaterThan(bodies.size);
}

function expectTheEndAtArrival(): void {
  expect(jobAtArrival.length, seed).toBeGreaterThan(10);
  for (const { wanted, found, finishedAt } of jobAtArrival) {
    expect(found, seed).toBe(wanted);
    expect(finishedAt, seed).not.toBeNull();
  }
}

async function untilDelivered(ids: readonly string[], endpoints: readonly string[]): Promise<void> {
  const deliveriesAt = async (path: string) =>
    (await call<{ deliveries: { state: string }[] }>('GET', path)).deliveries;
  for (const id of ids) {
    const isDone = async () => {
      const deliveries = await deliveriesAt(`/v1/jobs/${id}/deliveries`);
      return deliveries.length === paths.length && deliveries.every(({ state }) => state === 'delivered');
    };
    await vi.waitUntil(isDone, { timeout: 10_000, interval: 50 });
  }
  for (const id of endpoints) {
    const isDone = async () => (await deliveriesAt(`/v1/deliveries?endpoint_id=${id}`)).length === 0;
    await vi.waitUntil(isDone, { timeout: 10_000, interval: 50 });
  }
}

it('tells every end to each endpoint under one event id, signed as Standard Webhooks verify it, through kills of drain and deliver (T95, T101, T103)', async () => {
  const registered = await register();
  const batch = await submitBatch();
  await ageBatch();
  const { drain, deliver, sweep } = stage.functions;
  drain.every(1_000);
  deliver.every(1_000);
  sweep.every(4_000);
  const singles = Array.from({ length: jobCount }, (_, job) => submitOne(job));
  await Promise.all([...singles, killSome('drain', drainKills), killSome('deliver', deliverKills)]);
  const ids = [...batch.ids, ...(await Promise.all(singles))];

  const wanted = paths.length * (ids.length + 1);
  // The checks tell more of what is missing than a time that is over.
  await vi.waitUntil(() => seen.size >= wanted, { timeout: 20_000, interval: 50 }).catch(() => {});
  expectOneEventEach(await Promise.all(ids.map((id) => call<JobView>('GET', `/v1/jobs/${id}`))));
  await expectOneEventOfTheBatch();
  expectTheSameBytesAgain();
  expectTheEndAtArrival();
  await untilDelivered(ids, [registered, batch.endpointId]);
  expect(receiver.refused, seed).toEqual([]);
  expect(seen.size, seed).toBe(wanted);
  expect([drain.kills, deliver.kills]).toEqual([drainKills, deliverKills]);
  expect([drain.crashes, deliver.crashes, sweep.crashes]).toEqual([0, 0, 0]);
  expect(sweep.reports.length).toBeGreaterThan(2);
  failed = false;
});
