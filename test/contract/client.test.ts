import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ClientOptions, createClient } from '../../lib/client/client.ts';
import { PollkeeperError } from '../../lib/client/error.ts';
import { usualRuntime } from '../../lib/client/runtime.ts';
import { answer, hang, json, reset, type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

/* The client against a server that answers as it is told, over HTTP. */

const token = 'tok_0123456789abcdef';
const input = { model: 'seedance-2-mini', prompt: 'a lighthouse' };
const problem = (status: number, code: string, headers = {}, more = {}) =>
  json(
    { type: `urn:pollkeeper:problem:${code}`, title: 'x', status, detail: `It is ${code}.`, code, ...more },
    status,
    headers,
  );

let server: ScriptedServer;
const slept: number[] = [];
const client = (options: Partial<ClientOptions> = {}) =>
  createClient({
    ...{ baseUrl: `${server.url}/`, token, random: () => 0.5 },
    sleep: async (delayMs) => void slept.push(delayMs),
    ...options,
  });
const job = (state: string, more = {}) => ({ id: 'job_1', state, updated_at: state, finished_at: null, ...more });
const failed = (promise: Promise<unknown>): Promise<PollkeeperError> =>
  promise.then(
    () => expect.unreachable('no error'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(PollkeeperError);
      return error as PollkeeperError;
    },
  );

beforeAll(async () => {
  server = await startScriptedServer();
});
beforeEach(() => {
  slept.length = 0;
  server.received = [];
});
afterAll(() => server.close());

describe('a submit', () => {
  it('keeps its one new key over every repeat, whatever went wrong', async () => {
    const busy = problem(429, 'rate_limited', { 'retry-after': '2' });
    server.script(reset, answer(502, 'Bad gateway'), busy, json(job('waiting'), 202));
    expect(await client().submit(input, { metadata: { a: 'b' }, webhookUrl: 'https://a.example' })).toMatchObject({
      id: 'job_1',
    });
    const keys = server.received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(server.received.map(({ body }) => body)).size).toBe(1);
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({
      ...{ input, metadata: { a: 'b' }, webhook_url: 'https://a.example' },
    });
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${token}`);
    expect(slept).toEqual([375, 750, 2_250]);
  });

  it('gives up with an error that names the key, so that the caller can repeat it', async () => {
    server.script(answer(503, '{"message":"Service Unavailable"}', { 'x-request-id': 'req-1' }));
    const error = await failed(client({ retries: 2 }).submit(input));
    expect(server.received).toHaveLength(3);
    expect(error).toMatchObject({ status: 503, code: 'http_503', retryable: true, requestId: 'req-1' });
    expect(error.message).toBe('Service Unavailable');
    expect(error.idempotencyKey).toBe(server.received[0]?.headers['idempotency-key']);
    server.script(json(job('waiting'), 202));
    await client().submit(input, { idempotencyKey: 'mine' });
    expect(server.received[0]?.headers['idempotency-key']).toBe('mine');
  });

  it('that is refused is not repeated', async () => {
    server.script(problem(400, 'body_invalid', { 'x-request-id': 'req-2' }, { field: 'input.model' }));
    const error = await failed(client().submit(input));
    expect(server.received).toHaveLength(1);
    expect(error).toMatchObject({
      status: 400,
      code: 'body_invalid',
      field: 'input.model',
      requestId: 'req-2',
      retryable: false,
    });
    expect(error.problem).toMatchObject({ title: 'x' });
  });

  it('waits no hour because it is told to: the caller decides', async () => {
    server.script(problem(429, 'rate_limited', { 'retry-after': '3600' }));
    expect(await failed(client().submit(input))).toMatchObject({
      status: 429,
      retryAfterMs: 3_600_000,
      retryable: true,
    });
    expect(server.received).toHaveLength(1);
  });

  it('that is broken off rejects with the reason of its signal, at once', async () => {
    server.script(hang);
    const stop = new AbortController();
    const submitting = client().submit(input, { signal: stop.signal });
    await expect.poll(() => server.received.length).toBe(1);
    stop.abort(new Error('enough'));
    await expect(submitting).rejects.toThrow('enough');
    await expect(client().submit(input, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
    expect(server.received).toHaveLength(1);
  });

  it('whose server hangs is a timeout', async () => {
    server.script(hang);
    expect(await failed(client({ timeoutMs: 50, retries: 1 }).submit(input))).toMatchObject({
      status: null,
      code: 'timeout',
    });
    expect(server.received).toHaveLength(2);
  });

  it('may have a limit longer than any timer, and pause for longer', async () => {
    server.script(json(job('waiting'), 202));
    expect(await client({ timeoutMs: Number.MAX_SAFE_INTEGER }).submit(input)).toMatchObject({ id: 'job_1' });
    const stop = new AbortController();
    const pause = usualRuntime.sleep(2 ** 40, stop.signal).then(() => stop.signal.aborted);
    await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort();
    expect(await pause).toBe(true);
  });
});

describe('a wait', () => {
  const tagged = (state: string, tag: string, more = {}) => json(job(state, more), 200, { etag: tag });

  it('asks for news only, survives failures, and ends with the job', async () => {
    const ended = tagged('completed', '"3"', { finished_at: '2027-01-15T08:00:00.000Z' });
    server.script(tagged('queued', '"1"'), answer(304), reset, answer(503), tagged('processing', '"2"'), ended);
    const seen: string[] = [];
    const done = await client().wait('job_1', { onChange: ({ state }) => void seen.push(state) });
    expect(done.state).toBe('completed');
    expect(seen).toEqual(['queued', 'processing', 'completed']);
    expect(server.received.map(({ path }) => path)).toEqual([
      '/v1/jobs/job_1?wait=0',
      ...Array(5).fill('/v1/jobs/job_1?wait=25'),
    ]);
    expect(server.received.map(({ headers }) => headers['if-none-match'])).toEqual([
      ...[undefined, '"1"', '"1"', '"1"', '"1"', '"2"'],
    ]);
    // After the 304 that came at once, and after each failure.
    expect(slept).toHaveLength(3);
    expect(slept.slice(1)).toEqual([375, 750]);
  });

  it('ends at once for a job that is not there, and for a token that is not taken any more', async () => {
    server.script(problem(404, 'no_such_job'));
    expect(await failed(client().wait('job_1'))).toMatchObject({ status: 404, code: 'no_such_job' });
    server.script(tagged('queued', '"1"'), problem(401, 'token_invalid'));
    expect(await failed(client().wait('job_1'))).toMatchObject({ status: 401 });
  });

  it('gives up when its time is over, while the job goes on', async () => {
    let nowMs = 0;
    server.reply = () => answer(304);
    const sleep = async (delayMs: number) => {
      nowMs += delayMs;
    };
    const error = await failed(client({ nowMs: () => nowMs, sleep }).wait('job_1', { timeoutMs: 5_000 }));
    expect(error).toMatchObject({ code: 'wait_timeout', retryable: true, jobId: 'job_1' });
    expect(server.received).toHaveLength(5);
  });

  it('does not run in circles when something on the way keeps the tag back', async () => {
    const ended = json(job('failed', { finished_at: '2027-01-15T08:00:00.000Z' }));
    server.script(json(job('queued')), json(job('queued')), ended);
    const seen: string[] = [];
    await client({ nowMs: () => 0 }).wait('job_1', { onChange: ({ state }) => void seen.push(state) });
    expect(seen).toEqual(['queued', 'failed']);
    expect(slept).toEqual([1_000, 1_000]);
  });

  it('follows a submit under one signal', async () => {
    const ended = tagged('completed', '"3"', { finished_at: '2027-01-15T08:00:00.000Z' });
    server.script(json(job('waiting'), 202), ended);
    expect(await client().submitAndWait(input, { timeoutMs: 60_000 })).toMatchObject({ state: 'completed' });
  });
});

describe('the other calls', () => {
  it('walk through a list page by page', async () => {
    const page = (ids: string[], next: string | null) => json({ jobs: ids.map((id) => ({ id })), next_cursor: next });
    server.script(page(['a', 'b'], 'c/1'), page(['c'], null));
    const ids: string[] = [];
    for await (const { id } of client().list({ state: 'completed', batch: 'campaign-814', limit: 2 })) ids.push(id);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(server.received.map(({ path }) => path)).toEqual([
      '/v1/jobs?state=completed&batch=campaign-814&limit=2',
      '/v1/jobs?state=completed&batch=campaign-814&limit=2&cursor=c%2F1',
    ]);
  });

  it('know a cancel that was obeyed though its answer was lost', async () => {
    server.script(reset, problem(409, 'job_ended'), json(job('canceled')));
    expect(await client().cancel('job_1')).toMatchObject({ state: 'canceled' });
    server.script(problem(409, 'job_ended'), json(job('completed')));
    expect(await failed(client().cancel('job_1'))).toMatchObject({ code: 'job_ended' });
  });

  it('never do twice what would count twice', async () => {
    server.script(reset);
    expect(await failed(client().endpoints.create({ url: 'https://a.example' }))).toMatchObject({
      code: 'network_error',
    });
    server.script(answer(503));
    expect(await failed(client().endpoints.rotateSecret('whe_1'))).toMatchObject({ status: 503 });
    server.script(problem(429, 'rate_limited'), json({ secret: 'whsec_x' }));
    expect(await client().endpoints.rotateSecret('whe_1', { overlapSeconds: 0 })).toEqual({ secret: 'whsec_x' });
    expect(server.received.map(({ body }) => body)).toEqual(['{"overlap_seconds":0}', '{"overlap_seconds":0}']);
    server.script(reset, problem(404, 'no_such_endpoint'));
    await client().endpoints.remove('whe_1');
  });

  it('send a job and a delivery again, each by its own path', async () => {
    server.script(json({ deliveries: [{ id: 'dlv_1' }] }, 202), json({ id: 'dlv_2' }, 202));
    expect(await client().redeliver('job_1')).toEqual([{ id: 'dlv_1' }]);
    expect(await client().redeliver('dlv_2')).toEqual([{ id: 'dlv_2' }]);
    expect(server.received.map(({ path }) => path)).toEqual([
      '/v1/jobs/job_1/redeliver',
      '/v1/deliveries/dlv_2/redeliver',
    ]);
  });

  it('put nothing but an id into a path', async () => {
    server.script(json({}));
    await client().get('a/../b?c');
    expect(server.received[0]?.path).toBe('/v1/jobs/a%2F..%2Fb%3Fc');
    for (const id of ['', '.', '..']) await expect(client().get(id)).rejects.toThrow(TypeError);
  });

  it('follow no redirect, and take no page for an answer', async () => {
    server.script(answer(302, '', { location: 'http://127.0.0.1:1/elsewhere' }));
    expect(await failed(client().stats())).toMatchObject({ status: 302, retryable: false });
    server.script(answer(200, '<html>'));
    expect(await failed(client().stats())).toMatchObject({ code: 'answer_invalid' });
    expect(server.received).toHaveLength(1);
  });
});

describe('the token', () => {
  it('is in no error, also when the server or the fetch that was given tells it', async () => {
    server.script(problem(500, token, {}, { detail: `You sent Bearer ${token}.`, field: token }));
    const leaking = async () => {
      throw new Error(`headers: {"authorization":"Bearer ${token}"}`);
    };
    const errors = [
      await failed(client({ retries: 0 }).stats()),
      await failed(client({ retries: 0, fetch: leaking }).submit(input)),
    ];
    for (const error of errors) {
      const told = `${error.stack} ${JSON.stringify(error)} ${JSON.stringify(Object.values(error))} ${String(error.cause)}`;
      expect(told).not.toContain(token);
    }
  });

  it('and the options are checked before anything is sent, without being repeated', () => {
    const wrong: Partial<ClientOptions>[] = [
      ...[{ token: '' }, { token: 'tök' }, { token: 'a\nb' }, { retries: -1 }, { timeoutMs: 0.5 }],
      ...[
        { baseUrl: 'nonsense' },
        { baseUrl: 'ftp://a' },
        { baseUrl: 'https://user:tok_secret@a' },
        { baseUrl: 'https://a?tok_secret' },
      ],
    ];
    for (const options of wrong) {
      expect(() => client(options)).toThrow(TypeError);
      expect(() => client(options)).not.toThrow(/tok_secret|tök/);
    }
  });
});
