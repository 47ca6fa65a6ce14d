import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAccounts } from '../../lib/accounts.ts';
import { createApp } from '../../lib/http/app.ts';
import { type Operation, type OperationName, operations } from '../../lib/http/operations.ts';
import { deliveryIdFor, eventIdFor, jobIdFor } from '../../lib/identify.ts';
import type { Job } from '../../lib/job.ts';
import type { Delivery } from '../../lib/webhooks/delivery.ts';
import { batchEventBody, jobEventBody } from '../../lib/webhooks/event-body.ts';
import { confirmedJob, jobWith, someResult } from '../support/jobs.ts';
import {
  type DocumentedOperation,
  documentedOperations,
  faultsBySchema,
  faultsOfAnswer,
  openapiText,
} from '../support/openapi.ts';
import { type Parts, startParts } from '../support/parts.ts';

/* The document and the handlers over real stores: each example in it is sent, and each answer is held to its schema. */

const owner = 'acme';
const hookSecret = 'a-secret-of-this-test';

let parts: Parts;
let app: ReturnType<typeof createApp>;
let made = 0;

beforeAll(async () => {
  parts = await startParts();
  const hooks = { secrets: new Map([['sume', [hookSecret]]]), counts: { add: async () => {}, read: async () => [] } };
  app = createApp({ ...parts.ports, stage: 'test', accounts: readAccounts(undefined), hooks });
});
afterAll(() => parts.close());

interface Sent {
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string;
  caller?: { owner?: string; scopes?: string };
}

const documented = (name: string): DocumentedOperation => {
  const found = documentedOperations.find(({ operationId }) => operationId === name);
  if (found === undefined) throw new Error(`${name} is not documented`);
  return found;
};

/** Sends a request of the operation, and expects an answer that its document has. */
async function send(name: OperationName, { path = {}, query = {}, headers = {}, body, caller = { owner } }: Sent = {}) {
  const operation = documented(name);
  const url = operation.path.replace(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(path[part] ?? ''));
  const event = { requestContext: { authorizer: { lambda: caller } } };
  const init = { method: operation.method, headers, ...(body === undefined ? {} : { body }) };
  const answer = await app.request(`${url}?${new URLSearchParams(query)}`, init, { event } as never);
  const text = await answer.text();
  expect(faultsOfAnswer(operation, answer, text), `${name}: ${text}`).toEqual([]);
  expect(answer.headers.get('x-request-id'), name).toBeTruthy();
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) };
}

/** A job of the owner as its record may be, with a delivery of its event. */
async function storeJob(job: Job): Promise<{ id: string }> {
  const id = jobIdFor(owner, `example-${made++}`);
  const eventId = eventIdFor(id, 'job.completed');
  const delivery = await storeDelivery(id, eventId);
  const events: Job['events'] = [
    { id: eventId, type: 'job.completed', atMs: job.createdAtMs, deliveries: [delivery.id] },
  ];
  const nowMs = parts.ports.clock.nowMs();
  const ended = job.state === 'completed' ? { finishedAtMs: nowMs } : {};
  await parts.ports.store.create({ ...job, id, createdAtMs: nowMs, deadlineAtMs: nowMs + 3_600_000, ...ended, events });
  return { id };
}

async function storeDelivery(subjectId: string, eventId: string): Promise<{ id: string }> {
  const endpoint = await registerEndpoint();
  const nowMs = parts.ports.clock.nowMs();
  const delivery: Delivery = {
    ...{ id: deliveryIdFor(eventId, endpoint.id), owner, subjectId, eventId, type: 'job.completed' },
    ...{ endpointId: endpoint.id, body: '{}', state: 'dead', attempts: 10, nextAtMs: nowMs },
    ...{ createdAtMs: nowMs, updatedAtMs: nowMs, endedAtMs: nowMs, revision: 1 },
    log: [{ atMs: nowMs, status: null, tookMs: 15_000, fault: 'timeout', snippet: '' }],
  };
  await parts.ports.deliveries.create(delivery);
  return { id: delivery.id };
}

async function registerEndpoint(): Promise<{ id: string }> {
  const { body } = await send('createEndpoint', { body: JSON.stringify({ url: `https://example.com/${made++}` }) });
  return { id: body.id };
}

const completed = () => confirmedJob('completed', { result: someResult });
const onePath = (one: Promise<{ id: string }>) => one.then((path) => ({ path }));

/** What has to be there before an operation's examples can be sent, and how they are sent to it. */
const preparations: Partial<Record<OperationName, (body: string | undefined) => Promise<Sent>>> = {
  submitJob: async () => ({ headers: { 'Idempotency-Key': `example-${made++}` } }),
  getJob: () => onePath(storeJob(completed())),
  cancelJob: () => onePath(storeJob(jobWith())),
  pollJob: () => onePath(storeJob(confirmedJob('processing'))),
  redeliverJob: () => onePath(storeJob(completed())),
  listJobDeliveries: () => onePath(storeJob(completed())),
  getBatch: async () => {
    const item = { idempotency_key: `example-${made++}`, input: { model: 'm', prompt: 'p' } };
    await send('submitBatch', { body: JSON.stringify({ batch: 'campaign-814', items: [item] }) });
    return { path: { name: 'campaign-814' } };
  },
  getEndpoint: () => onePath(registerEndpoint()),
  changeEndpoint: () => onePath(registerEndpoint()),
  removeEndpoint: () => onePath(registerEndpoint()),
  getEndpointSecret: () => onePath(registerEndpoint()),
  rotateEndpointSecret: () => onePath(registerEndpoint()),
  redeliver: () => onePath(storeDelivery(jobIdFor(owner, 'x'), eventIdFor('x', `${made++}`))),
  receiveSumeHook: async (body = '') => {
    const timestamp = String(Math.floor(parts.ports.clock.nowMs() / 1_000));
    const digest = createHmac('sha256', hookSecret).update(`${timestamp}.${body}`).digest('hex');
    return { headers: { 'X-Sume-Timestamp': timestamp, 'X-Sume-Signature': `v1=${digest}`, 'X-Sume-Event-Id': 'e' } };
  },
};

/** The values of the parameters as the document has them. */
function exampleParameters({
  parameters = [],
}: DocumentedOperation): Required<Pick<Sent, 'path' | 'query' | 'headers'>> {
  const values = { path: {}, query: {}, header: {} } as Record<string, Record<string, string>>;
  for (const { name, in: place, example } of parameters) {
    if (example !== undefined) values[place] = { ...values[place], [name]: String(example) };
  }
  const { path = {}, query = {}, header: headers = {} } = values;
  return { path, query, headers };
}

const examples = documentedOperations.flatMap((operation) => {
  const bodies = Object.entries(operation.requestBody?.content['application/json'].examples ?? { '': undefined });
  return bodies.map(([title, example]): [string, DocumentedOperation, string | undefined] => {
    const body = example === undefined ? undefined : JSON.stringify(example.value);
    return [`${operation.operationId} ${title}`.trim(), operation, body];
  });
});

describe('every example in the document', () => {
  it.each(examples)('%s is answered as the document says', async (_title, operation, body) => {
    const name = operation.operationId as OperationName;
    const given = exampleParameters(operation);
    const own = (await preparations[name]?.(body)) ?? {};
    const sent = { ...given, ...own, headers: { ...given.headers, ...own.headers } };
    const { status } = await send(name, body === undefined ? sent : { ...sent, body });
    const good = Object.keys(operation.responses)
      .map(Number)
      .filter((known) => known < 300);
    expect(good).toContain(status);
  });

  it('is of a batch whose second item alone is refused', async () => {
    const [, , body = ''] = examples.find(([title]) => title === 'submitBatch oneRefused') ?? [];
    const answer = await send('submitBatch', { body });
    expect(answer.body).toMatchObject({ refused: 1, items: [{ status: 202 }, { status: 422 }] });
  });
});

const secured = Object.entries<Operation>(operations).filter(([, { scope }]) => scope !== null) as [
  OperationName,
  Operation,
][];
const anyPath = { id: `job_${'a'.repeat(32)}`, name: 'nobody' };

describe('the table of operations, the document and the handlers', () => {
  it('have the same routes, and the document is what is served', async () => {
    const written = documentedOperations.map(({ operationId, method, path, security }) => {
      return [operationId, { method, path, scope: security[0]?.bearer?.[0] ?? null }];
    });
    expect(Object.fromEntries(written)).toEqual(operations);
    const methods = new Set(['GET', 'POST', 'PATCH', 'DELETE', 'PUT']);
    const handled = app.routes
      .filter(({ method }) => methods.has(method))
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}').replace(/(?<=.)\/$/, '')}`);
    const tabled = Object.values<Operation>(operations).map(({ method, path }) => `${method} ${path}`);
    expect([...new Set(handled)].sort()).toEqual(tabled.sort());
    expect((await send('getOpenapi')).body).toEqual(JSON.parse(openapiText));
  });

  it('take no other method on any path, and name those that they take', async () => {
    for (const path of new Set(Object.values<Operation>(operations).map((operation) => operation.path))) {
      const taken = Object.values<Operation>(operations).filter((operation) => operation.path === path);
      const event = { requestContext: { authorizer: { lambda: { owner } } } };
      const answer = await app.request(path.replace(/\{(\w+)\}/g, 'x'), { method: 'PUT' }, { event } as never);
      expect(answer.status, path).toBe(405);
      const allowed = answer.headers.get('allow')?.split(', ').sort();
      expect(allowed, path).toEqual(taken.map(({ method }) => method).sort());
    }
  });

  it.each(secured)('T105 %s takes a token with its scope only', async (name, { scope }) => {
    expect(await send(name, { path: anyPath, caller: {} })).toMatchObject({
      status: 401,
      body: { code: 'token_invalid' },
    });
    const others = ['read', 'submit', 'admin'].filter((other) => other !== scope).join(' ');
    const refused = await send(name, { path: anyPath, caller: { owner, scopes: others } });
    expect(refused).toMatchObject({ status: 403, body: { code: 'scope_missing' } });
  });

  it('answer what is not there, and what is wrong, as the document says', async () => {
    for (const [name, { path }] of secured) {
      if (!path.includes('{')) continue;
      const { status } = await send(name, { path: anyPath, body: documented(name).requestBody && '{}' } as Sent);
      expect(status, name).toBe(404);
    }
    for (const [name, { path }] of secured) {
      if (documented(name).requestBody === undefined || path.includes('{')) continue;
      for (const body of ['nope', '[]', '{"__proto__":1}', '{"items":[],"url":5}', 'x'.repeat(6_000_000)]) {
        const { status } = await send(name, { body, headers: { 'Idempotency-Key': 'wrong' } });
        expect(status, `${name} ${body.slice(0, 30)}`).toBe(body.length > 1_000 ? 413 : 400);
      }
    }
    for (const query of [
      { limit: '0' },
      { state: 'done' },
      { batch: 'a b' },
      { cursor: 'x' },
      { state: 'dead', cursor: 'x' },
    ]) {
      expect((await send('listJobs', { query })).status, JSON.stringify(query)).toBe(400);
      expect((await send('listDeliveries', { query })).status, JSON.stringify(query)).toBe(400);
    }
  });

  it('answer a job by its tag, an asked cancel, and one that comes too late', async () => {
    const running = await storeJob(confirmedJob('processing'));
    const first = await send('getJob', { path: running });
    const etag = first.headers.get('etag') ?? '';
    expect((await send('getJob', { path: running, headers: { 'If-None-Match': etag } })).status).toBe(304);
    expect((await send('cancelJob', { path: running })).status).toBe(202);
    const late = await send('cancelJob', { path: await storeJob(completed()) });
    expect(late).toMatchObject({ status: 409, body: { code: 'job_ended' } });
  });
});

it('the bodies of events are as the document says', () => {
  const webhook = (name: string) => ['webhooks', name, 'post', 'requestBody', 'content', 'application/json', 'schema'];
  const large = completed();
  const event = { type: 'job.completed', atMs: 1_790_000_100_000 } as const;
  for (const job of [completed(), { ...large, input: { model: 'm', prompt: 'p'.repeat(30_000) } }]) {
    expect(faultsBySchema(webhook('jobEvent'), JSON.parse(jobEventBody(job, event)))).toEqual([]);
  }
  const batch = {
    id: `bat_${'a'.repeat(32)}`,
    owner,
    name: 'b',
    createdAtMs: 1,
    touchedAtMs: 1,
    completedAtMs: 2,
    revision: 1,
  };
  const ended = { ...batch, counts: { completed: 1 } };
  for (const ids of [[large.id], Array<string>(1_000).fill(large.id)]) {
    expect(faultsBySchema(webhook('batchEvent'), JSON.parse(batchEventBody(ended, ids)))).toEqual([]);
  }
});
