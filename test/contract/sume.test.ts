import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readSumeConfig } from '../../lib/config.ts';
import { HttpClient } from '../../lib/providers/http.ts';
import { Sume } from '../../lib/providers/sume.ts';
import { answer, json, type ScriptedServer } from '../support/scripted-server.ts';
import {
  apiKey,
  completed,
  envelope,
  type ScriptedSume,
  sentJob,
  startScriptedSume,
} from '../support/scripted-sume.ts';

/* What each honest answer of the provider means, over real HTTP. The dishonest ones: sume-hostile.test.ts. */

const limits = { connectMs: 300, totalMs: 2_000, bodyMax: 1_000_000 };
const job = { ...sentJob, input: { model: 'm', prompt: 'naïve 🎬', extra: [1] } };
let parts: ScriptedSume;
let server: ScriptedServer;
let sume: Sume;

beforeAll(async () => {
  parts = await startScriptedSume(2_000);
  ({ server, sume } = parts);
});
afterAll(() => parts.close());
beforeEach(() => server.script(answer(500)));

describe('the call', () => {
  test('of a create carries the input as it is, our key and the job’s own idempotency key', async () => {
    server.script(json({ id: 'job_theirs', status: 'queued' }));
    await sume.create(job);
    await sume.create({ ...job, revision: 9, state: 'submitting' });
    const [first, second] = server.received;
    expect(first).toMatchObject({
      method: 'POST',
      path: '/v1/videos',
      body: '{"model":"m","prompt":"naïve 🎬","extra":[1]}',
    });
    expect(first?.headers).toMatchObject({
      ...{ authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      'idempotency-key': 'pollkeeper-test-job_ours',
    });
    expect(second?.headers['idempotency-key']).toBe('pollkeeper-test-job_ours');
    expect(second?.body).toBe(first?.body);
  });

  test('of a read is one GET, and a second for the result once it is completed', async () => {
    server.script(json({ id: 'job_theirs', status: 'processing', terminal: false }));
    await sume.read(job);
    expect(server.received.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /v1/jobs/job_theirs/status']);
    expect(server.received[0]?.headers).toMatchObject({
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
    });
    server.script(completed, json({ url: 'u' }));
    await sume.read(job);
    expect(server.received.map(({ path }) => path)).toEqual([
      '/v1/jobs/job_theirs/status',
      '/v1/jobs/job_theirs/result',
    ]);
  });

  test.each([
    ['', '/v1/videos'],
    ['/', '/v1/videos'],
    ['/v1', '/v1/videos'],
    ['/v1/', '/v1/videos'],
    ['/proxy', '/proxy/v1/videos'],
    ['/proxy/v1//', '/proxy/v1/videos'],
  ])('to a base URL ending in "%s" goes to %s', async (ending, path) => {
    server.script(json({ id: 'job_theirs', status: 'queued' }));
    const config = readSumeConfig({ SUME_API_BASE_URL: server.url + ending, SUME_API_KEY: apiKey });
    const own = new HttpClient(config.origin, 1, limits, () => performance.now());
    expect(await new Sume(own, { ...config, keyPrefix: '' }).create(job)).toMatchObject({ kind: 'accepted' });
    expect(server.received[0]?.path).toBe(path);
    await own.close();
  });
});

describe('a create', () => {
  test.each<[string, unknown, object]>([
    [
      'in the newer form',
      { id: 'job_9', status: 'queued', next_poll_after_seconds: 7 },
      { phase: 'queued', word: 'queued', hintMs: 7_000 },
    ],
    [
      'in the older form',
      { data: { request_id: 'job_9', job: { id: 'job_9', type: 'video', status: 'RUNNING' }, idempotency_hit: true } },
      { phase: 'processing', word: 'RUNNING', hintMs: null },
    ],
    ['with no status', { id: 'job_9' }, { phase: 'queued', hintMs: null }],
    [
      'that is a replay of one that ended',
      { id: 'job_9', status: 'completed', terminal: true },
      { phase: 'queued', hintMs: 0 },
    ],
    ['with an envelope id in front', { id: 'req_1', job_id: 'job_9' }, { phase: 'queued' }],
  ])('%s is accepted', async (_, body, told) => {
    server.script(json(body, 201));
    expect(await sume.create(job)).toMatchObject({ kind: 'accepted', providerJobId: 'job_9', ...told });
  });

  test.each<[number, object, object]>([
    [
      400,
      envelope('invalid_request', 'no prompt'),
      { kind: 'refused', fault: { code: 'invalid_request', message: 'no prompt' } },
    ],
    [422, envelope('content_refused', 'no'), { kind: 'refused' }],
    [404, envelope('model_not_found', 'no'), { kind: 'refused' }],
    [401, envelope('unauthorized', 'bad key'), { kind: 'denied' }],
    [403, envelope('forbidden', 'no'), { kind: 'denied' }],
    [429, envelope('rate_limit_exceeded', 'slow down'), { kind: 'no_slot' }],
    [409, envelope('in_progress', 'wait'), { kind: 'trouble' }],
    [408, envelope('timeout', 'late'), { kind: 'trouble' }],
    [500, envelope('internal', 'oh'), { kind: 'trouble' }],
    [404, { message: 'no route' }, { kind: 'trouble' }],
  ])('answered %i %o is %o', async (status, body, told) => {
    server.script(json(body, status));
    expect(await sume.create(job)).toMatchObject(told);
  });

  test('T46 answered 402 tells code, message and request id', async () => {
    server.script(json(envelope('insufficient_credits', 'Top up\nplease.\u0007'), 402));
    const fault = { code: 'insufficient_credits', message: 'Top up please.', providerRequestId: 'req_77' };
    expect(await sume.create(job)).toEqual({ kind: 'denied', fault, noCredit: true });
    expect(await sume.read(job)).toEqual({ kind: 'denied', fault });
  });
});

describe('T48 too many calls', () => {
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT';
  test.each<[string, Record<string, string>, number | null]>([
    ['seconds', { 'retry-after': '60' }, 60_000],
    ['T27 a date, by the provider’s own clock', { date, 'retry-after': 'Wed, 21 Oct 2026 07:29:30 GMT' }, 90_000],
    ['T27 a date that is past', { date, 'retry-after': 'Wed, 21 Oct 2026 07:00:00 GMT' }, 0],
    ['T27 a date, and no clock to measure it by', { 'retry-after': 'Wed, 21 Oct 2026 07:29:30 GMT' }, null],
    ['only the rate limit’s reset', { 'ratelimit-reset': '12' }, 12_000],
    ['only the older reset', { 'x-ratelimit-reset': '12.5' }, 12_500],
    ['nonsense', { date, 'retry-after': 'soon' }, null],
    ['nothing', {}, null],
  ])('with %s', async (_, headers, retryAfterMs) => {
    server.script(json(envelope('rate_limit_exceeded', 'slow down'), 429, headers));
    expect(await sume.read(job)).toMatchObject({
      kind: 'throttled',
      retryAfterMs,
      fault: { code: 'rate_limit_exceeded' },
    });
    expect(await sume.create(job)).toMatchObject({ kind: 'no_slot', retryAfterMs });
  });

  test('at the result is throttling too, and the verdict waits', async () => {
    server.script(
      json({ id: 'job_theirs', status: 'completed', terminal: true }),
      answer(429, '', { 'retry-after': '3' }),
    );
    expect(await sume.read(job)).toMatchObject({ kind: 'throttled', retryAfterMs: 3_000 });
  });

  test('a 503 that names a time passes it on', async () => {
    server.script(answer(503, 'busy', { 'retry-after': '20' }));
    expect(await sume.read(job)).toMatchObject({ kind: 'trouble', retryAfterMs: 20_000, fault: { code: 'http_503' } });
  });
});

describe('a status', () => {
  test.each<[string, object]>([
    ['queued', { kind: 'running', phase: 'queued' }],
    ['processing', { kind: 'running', phase: 'processing' }],
    ['upscaling', { kind: 'running', phase: 'processing', word: 'upscaling' }],
    ['failed', { kind: 'ended', as: 'failed' }],
    ['errored', { kind: 'ended', as: 'failed' }],
    ['canceled', { kind: 'ended', as: 'canceled' }],
    ['cancelled', { kind: 'ended', as: 'canceled' }],
    ['CANCELED', { kind: 'ended', as: 'canceled', word: 'CANCELED' }],
    ['aborted', { kind: 'ended', as: 'canceled' }],
    ['expired', { kind: 'ended', as: 'expired' }],
    [' COMPLETED ', { kind: 'completed', word: 'COMPLETED' }],
    ['succeeded', { kind: 'completed' }],
  ])('T40 of "%s" without terminal, in both forms', async (word, told) => {
    for (const body of [{ id: 'job_theirs', status: word }, { data: { job: { id: 'job_theirs', status: word } } }]) {
      server.script(json(body), json({ url: 'u' }));
      expect(await sume.read(job)).toMatchObject(told);
    }
  });

  test('prefers sume_status, keeps hint and usage', async () => {
    const usage = { status: 'captured', captured_amount_usd_micros: 1_512_000, reserved_amount_usd_cents: 189 };
    const body = {
      job_id: 'job_theirs',
      status: 'RUNNING',
      sume_status: 'queued',
      terminal: false,
      next_poll_after_seconds: '30',
    };
    server.script(json({ data: { ...body, usage } }));
    expect(await sume.read(job)).toEqual({
      ...{ kind: 'running', phase: 'queued', word: 'queued', hintMs: 30_000 },
      usage: { status: 'captured', capturedMicros: 1_512_000, reservedMicros: 1_890_000 },
    });
  });

  test('of a failed job brings the reason along', async () => {
    server.script(
      json({ id: 'job_theirs', status: 'failed', terminal: true, ...envelope('nsfw', 'refused by the model') }),
    );
    const fault = { code: 'nsfw', message: 'refused by the model', providerRequestId: 'req_77' };
    expect(await sume.read(job)).toEqual({ kind: 'ended', as: 'failed', word: 'failed', fault });
  });

  test('of an unknown word: running unless terminal says otherwise, and never a success', async () => {
    server.script(json({ id: 'job_theirs', status: 'archived', terminal: true }));
    const fault = { code: 'unrecognised_end' };
    expect(await sume.read(job)).toMatchObject({ kind: 'ended', as: 'failed', word: 'archived', fault });
  });

  test.each([
    { id: 'job_theirs', status: 'processing', terminal: true },
    { id: 'job_theirs' },
    {},
    { id: 'job_theirs', status: 5 },
  ])('that says two things, or nothing, is believed in none: %o', async (body) => {
    server.script(json(body));
    expect(await sume.read(job)).toMatchObject({ kind: 'trouble', fault: { code: 'unclear_status' } });
  });

  test('404 is "missing" only in the provider’s own words', async () => {
    server.script(json(envelope('job_not_found', 'no such job'), 404));
    expect(await sume.read(job)).toMatchObject({ kind: 'missing', fault: { code: 'job_not_found' } });
    server.script(answer(404, '<html>nginx</html>', { 'content-type': 'text/html' }));
    expect(await sume.read(job)).toMatchObject({ kind: 'trouble', fault: { code: 'http_404' } });
  });
});
