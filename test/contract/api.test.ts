import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readAccounts } from '../../lib/accounts.ts';
import { createApp } from '../../lib/http/app.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import { type Parts, startParts } from '../support/parts.ts';
import { waitingKey } from '../support/upstash.ts';

/* The HTTP API over real stores, as the gateway calls it; only the gateway's own part is left out here. */

let parts: Parts;
let app: ReturnType<typeof createApp>;
let keys = 0;

beforeAll(async () => {
  parts = await startParts();
  app = createApp({ ...parts.ports, stage: 'test', accounts: readAccounts(undefined) });
});
afterAll(() => parts.close());

const clip = { input: { model: 'seedance-2-mini', prompt: 'a lighthouse at dusk', duration: 8, resolution: '720p' } };

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked field by field, their shape is what is tested
  body: any;
}

async function call(
  method: string,
  path: string,
  init: { owner?: string | null; key?: string; body?: unknown; raw?: string } = {},
): Promise<Answer> {
  const { owner = 'acme', key, body, raw } = init;
  const headers: Record<string, string> = { ...(key === undefined ? {} : { 'Idempotency-Key': key }) };
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const event = { requestContext: { authorizer: { lambda: owner === null ? {} : { owner } } } };
  const reply = await app.request(path, { method, headers, ...(content === undefined ? {} : { body: content }) }, {
    event,
  } as never);
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
}

const submit = (init: Parameters<typeof call>[2] = {}) =>
  call('POST', '/v1/jobs', { key: `key-${keys++}`, body: clip, ...init });

function expectProblem(answer: Answer, status: number, field?: string): void {
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.body).toMatchObject({ status, type: expect.stringContaining('urn:pollkeeper:problem:') });
  expect(answer.body.title).toBeTruthy();
  expect(answer.body.detail).toBeTruthy();
  if (field !== undefined) expect(answer.body.field).toBe(field);
}

/** The kind of record that a broken release might leave behind. */
async function breakRecord(id: string): Promise<void> {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDBClient({ endpoint: parts.dynamo.url, region: 'us-east-1', credentials });
  await client.send(
    new UpdateItemCommand({
      TableName: 'pollkeeper-test',
      Key: { id: { S: id } },
      UpdateExpression: 'SET deadline_at_ms = :odd, history = :list',
      ExpressionAttributeValues: { ':odd': { N: '1e30' }, ':list': { S: '[null]' } },
    }),
  );
  client.destroy();
}

describe('submit', () => {
  test('answers 202 with the job and its links, after the record and the due time are written', async () => {
    const { status, headers, body } = await submit({
      body: { ...clip, deadline_seconds: 7_200, metadata: { campaign: '814' } },
    });
    expect(status).toBe(202);
    expect(body).toMatchObject({
      state: 'waiting',
      input: clip.input,
      metadata: { campaign: '814' },
      error: null,
      result: null,
    });
    expect(body.links.self).toBe(`/v1/jobs/${body.id}`);
    expect(headers.get('location')).toBe(body.links.self);
    expect(Date.parse(body.deadline_at) - Date.parse(body.created_at)).toBe(7_200_000);
    expect(await parts.ports.store.get(body.id)).toMatchObject({ state: 'waiting', owner: 'acme' });
    expect(await parts.upstash.direct('ZSCORE', waitingKey, body.id)).not.toBeNull();
  });

  test('T58 the same key and body is the same job, marked as a replay, whatever the order of its fields', async () => {
    const first = await submit({ key: 'same' });
    const again = await submit({
      key: '"same"',
      raw: '{ "input": {"resolution":"720p","duration":8.0, "prompt":"a lighthouse at dusk","model":"seedance-2-mini"} }',
    });
    expect(again.status).toBe(202);
    expect(again.body.id).toBe(first.body.id);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  test('T60 fifty at once with one new key make one record and one due member', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => submit({ key: 'fifty' })));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(202));
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
  });

  test('the same key with another body is refused and names the job it belongs to', async () => {
    const first = await submit({ key: 'taken' });
    const other = await submit({ key: 'taken', body: { input: { ...clip.input, duration: 9 } } });
    expectProblem(other, 422, 'Idempotency-Key');
    expect(other.body.job_id).toBe(first.body.id);
  });

  test('two owners may use the same key', async () => {
    const ids = await Promise.all(
      ['acme', 'globex'].map(async (owner) => (await submit({ key: 'shared', owner })).body.id),
    );
    expect(new Set(ids).size).toBe(2);
  });

  test.each([
    ['none', undefined],
    ['an empty one', ''],
    ['300 characters', 'k'.repeat(300)],
    ['one that was sent twice', 'a, b'],
    ['a space inside', 'a b'],
    ['an accent', 'clé'],
    ['an open quote', '"abc'],
  ])('T66 an Idempotency-Key that is %s is a 400', async (_, key) => {
    const init = { body: clip, ...(key === undefined ? {} : { key }) };
    expectProblem(await call('POST', '/v1/jobs', init), 400, 'Idempotency-Key');
  });

  test.each([
    ['cut-off JSON', '{"input":', 400, 'body'],
    ['nothing', '', 400, 'body'],
    ['null', 'null', 400, 'body'],
    ['a list', '[]', 400, 'body'],
    ['a string', '"x"', 400, 'body'],
    ['5 MB', JSON.stringify({ input: { ...clip.input, prompt: 'x'.repeat(5_000_000) } }), 413, 'body'],
    ['10,000 levels', `{"input":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`, 400, 'body'],
    ['no input', '{}', 400, 'input'],
    ['no model', '{"input":{"prompt":"x"}}', 400, 'input.model'],
    ['a number as prompt', '{"input":{"model":"m","prompt":5}}', 400, 'input.prompt'],
    ['a negative duration', '{"input":{"model":"m","prompt":"x","duration":-1}}', 400, 'input.duration'],
    [
      'a deadline in milliseconds',
      '{"input":{"model":"m","prompt":"x"},"deadline_seconds":1800000000000}',
      400,
      'deadline_seconds',
    ],
    ['a deadline as text', '{"input":{"model":"m","prompt":"x"},"deadline_seconds":"60"}', 400, 'deadline_seconds'],
    ['metadata of numbers', '{"input":{"model":"m","prompt":"x"},"metadata":{"a":1}}', 400, 'metadata.a'],
    ['a misspelt field', '{"input":{"model":"m","prompt":"x"},"deadline_secs":60}', 400, 'deadline_secs'],
  ])('T72 a body of %s is refused, names the field and writes nothing', async (_, raw, status, field) => {
    const writes = parts.dynamo.counts().writes;
    expectProblem(await submit({ raw }), status, field);
    expect(parts.dynamo.counts().writes).toBe(writes);
  });

  test('fields of the input that we do not know go to the provider as they are', async () => {
    const raw =
      '{"input":{"model":"m","prompt":"x\\u0000\\ud83c\\udfac","seed":12,"__proto__":{"a":1},"nested":{"deep":[1,"1",null]}}}';
    const { body } = await submit({ raw });
    const stored = await parts.ports.store.get(body.id);
    expect(JSON.stringify(stored?.input)).toBe(JSON.stringify(JSON.parse(raw).input));
  });

  test('T69 with Redis away the job is durable, answered 202, and a repeat or the sweep makes it due', async () => {
    await parts.upstash.setFaults({ failWith: { status: 500, body: { error: 'ERR away' } } });
    const { status, body } = await submit({ key: 'while-away' });
    await parts.upstash.setFaults({});
    expect(status).toBe(202);
    expect(await parts.ports.dueSet.absent([body.id])).toEqual([body.id]);
    await submit({ key: 'while-away' });
    expect(await parts.upstash.direct('ZSCORE', waitingKey, body.id)).not.toBeNull();
  });
});

describe('read', () => {
  test('T105 without a known token every route below /v1 is a 401 problem', async () => {
    for (const path of ['/v1/jobs', '/v1/jobs/x', '/v1/nothing']) {
      const answer = await call('GET', path, { owner: null });
      expectProblem(answer, 401, 'Authorization');
      expect(answer.headers.get('www-authenticate')).toContain('Bearer');
    }
  });

  test('shows a job to its owner, and to nobody else', async () => {
    const { body } = await submit();
    expect((await call('GET', `/v1/jobs/${body.id}`)).body).toMatchObject(body);
    const foreign = await call('GET', `/v1/jobs/${body.id}`, { owner: 'globex' });
    const unknown = await call('GET', `/v1/jobs/job_${'a'.repeat(32)}`);
    expectProblem(foreign, 404, 'id');
    expect({ ...foreign.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
  });

  test.each(['..', '%2e%2e', 'a%2Fb', 'a/b', 'x'.repeat(1_024), 'job_%00', '%F0%9F%8E%AC', 'job_ABC', '%'])(
    'T13 the id %s is a 404 problem',
    async (id) => {
      expectProblem(await call('GET', `/v1/jobs/${id}/`.replace(/\/$/, '')), 404);
    },
  );

  test('a path that is not there is a 404, a method that is not a 405 which names the others', async () => {
    expectProblem(await call('GET', '/nothing', { owner: null }), 404);
    for (const method of ['DELETE', 'PUT', 'OPTIONS']) {
      const answer = await call(method, '/v1/jobs');
      expectProblem(answer, 405);
      expect(answer.headers.get('allow')).toBe('GET, POST');
    }
  });

  test('one record that can not be read is a 500 of its own, and no 500 for the list', async () => {
    const owner = 'unlucky';
    const { body } = await submit({ owner });
    const good = await submit({ owner });
    await breakRecord(body.id);
    expectProblem(await call('GET', `/v1/jobs/${body.id}`, { owner }), 500);
    expect((await call('GET', '/v1/jobs', { owner })).body.jobs).toMatchObject([{ id: good.body.id }]);
  });

  test('health needs no token', async () => {
    expect(await call('GET', '/health', { owner: null })).toMatchObject({ status: 200, body: { status: 'up' } });
  });
});

describe('list', () => {
  const owner = 'lister';
  const ids: string[] = [];

  beforeAll(async () => {
    for (let i = 0; i < 12; i++) ids.unshift((await submit({ owner })).body.id);
  });

  test('is newest first, page by page, without a gap or a repeat', async () => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await call('GET', `/v1/jobs?limit=5${cursor}`, { owner });
      seen.push(...body.jobs.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(ids);
  });

  test('filters by state, and shows only the own jobs', async () => {
    const waiting = await call('GET', '/v1/jobs?state=waiting', { owner });
    expect(waiting.body.jobs).toHaveLength(12);
    expect((await call('GET', '/v1/jobs?state=completed', { owner })).body).toEqual({ jobs: [], next_cursor: null });
    expect((await call('GET', '/v1/jobs', { owner: 'nobody' })).body.jobs).toEqual([]);
  });

  test.each(['0', '-1', '101', '1e9', 'abc', '', '2.5'])('T109 limit=%s is a 400', async (limit) => {
    expectProblem(await call('GET', `/v1/jobs?limit=${limit}`, { owner }), 400, 'limit');
  });

  test('a state that does not exist is a 400', async () => {
    expectProblem(await call('GET', '/v1/jobs?state=done', { owner }), 400, 'state');
  });

  test('T107 a cursor that was edited, cut, or is of another owner or filter is a 400', async () => {
    const { body } = await call('GET', '/v1/jobs?limit=5', { owner });
    const cursor: string = body.next_cursor;
    const edited = cursor.slice(0, 4) + (cursor[4] === 'A' ? 'B' : 'A') + cursor.slice(5);
    for (const wrong of [edited, cursor.slice(0, -3), 'x', '', '%00', 'e30']) {
      expectProblem(await call('GET', `/v1/jobs?cursor=${wrong}`, { owner }), 400, 'cursor');
    }
    expectProblem(await call('GET', `/v1/jobs?cursor=${cursor}`, { owner: 'acme' }), 400, 'cursor');
    expectProblem(await call('GET', `/v1/jobs?cursor=${cursor}&state=waiting`, { owner }), 400, 'cursor');
  });
});

test('T63 with the record out of reach a submit is a 503 that burns nothing: the key works afterwards', async () => {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const nowhere = new DynamoDBClient({
    endpoint: 'http://127.0.0.1:9',
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
  });
  const store = new DynamoJobStore(nowhere, 'pollkeeper-test', parts.ports.clock);
  const reachable = app;
  app = createApp({ ...parts.ports, store, stage: 'test', accounts: readAccounts(undefined) });
  const failed = await submit({ key: 'later' });
  app = reachable;
  expectProblem(failed, 503);
  expect(failed.headers.get('retry-after')).toBe('5');
  expect((await submit({ key: 'later' })).headers.get('idempotent-replayed')).toBeNull();
});
