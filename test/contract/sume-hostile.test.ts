import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../lib/outcome.ts';
import { HttpClient } from '../../lib/providers/http.ts';
import { Sume } from '../../lib/providers/sume.ts';
import { testJob } from '../support/dynamo.ts';
import {
  type Answer,
  answer,
  flood,
  hang,
  head,
  json,
  rawThenClose,
  reset,
  type ScriptedServer,
  startScriptedServer,
} from '../support/scripted-server.ts';
import { apiKey, completed, sentJob as job, type ScriptedSume, startScriptedSume } from '../support/scripted-sume.ts';

/* Whatever comes back from the provider's address becomes an outcome: nothing thrown, nothing leaked, nobody mixed up. */

let parts: ScriptedSume;
let server: ScriptedServer;
let sume: Sume;

beforeAll(async () => {
  parts = await startScriptedSume(400);
  ({ server, sume } = parts);
});
afterAll(() => parts.close());
beforeEach(() => server.script(answer(500)));

const html = '<html><body>502 Bad Gateway</body></html>';
const page = (status: number) => answer(status, html, { 'content-type': 'text/html' });

describe('T43 answers that say nothing about the render', () => {
  const nothing: [string, Answer][] = [
    ['200 with a page', page(200)],
    ['200 with no body', answer(200)],
    ['200 with cut-off JSON', answer(200, '{"id":"job_theirs","status":"comp')],
    ['200 with a list', json([{ id: 'job_theirs', status: 'completed' }])],
    ['200 with a text', json('completed')],
    ['502 with a page', page(502)],
    ['504 with a page', page(504)],
    ['500 with JSON', json({ id: 'job_theirs', status: 'failed', terminal: true }, 500)],
    ['203 with JSON', json({ id: 'job_theirs', status: 'failed', terminal: true }, 203)],
    ['T57 a redirect', answer(302, '', { location: '/v1/jobs/job_theirs/status?again' })],
    ['an endless body', flood(head(200), Buffer.alloc(100_000, 97))],
    ['a cut body', rawThenClose(`${head(200, { 'content-length': '99' })}{"id":"job_theirs","status":"failed"}`)],
    ['a reset', reset],
    ['no answer', hang],
  ];

  test.each(nothing)('%s: trouble, whatever was asked', async (title, reply) => {
    server.script(reply);
    expect(await sume.read(job)).toMatchObject({ kind: 'trouble', fault: { code: expect.any(String) } });
    server.script(completed, reply);
    const result = await sume.read(job);
    // A result without end is too large to keep; every other one may still come.
    expect(result.kind).toBe(title === 'an endless body' ? 'completed' : 'trouble');
  });

  test('and the good answer after five of them completes the job', async () => {
    server.script(page(502), page(504), page(200), answer(200), page(502), completed, json({ url: 'u' }));
    const outcomes: Outcome[] = [];
    for (let reads = 0; reads < 6; reads++) outcomes.push(await sume.read(job));
    expect(outcomes.map(({ kind }) => kind)).toEqual([...new Array(5).fill('trouble'), 'completed']);
  });
});

describe('T67 a create whose end is not known', () => {
  test.each<[string, Answer]>([
    ['reset after the body was sent', reset],
    ['closed after the body was sent', rawThenClose('')],
    ['no answer', hang],
    ['504', page(504)],
    ['200 with a page', page(200)],
    ['201 with cut-off JSON', answer(201, '{"id":"job_th')],
    ['201 with no id', json({ status: 'queued' }, 201)],
  ])('%s: trouble, one request, and the repeat carries the same key and body', async (_, reply) => {
    server.script(reply, json({ id: 'job_theirs', status: 'queued' }));
    expect(await sume.create(job)).toMatchObject({ kind: 'trouble' });
    expect(server.received).toHaveLength(1);
    expect(await sume.create({ ...job, failuresInRow: 1, revision: 3 })).toMatchObject({ kind: 'accepted' });
    const [first, second] = server.received;
    expect(first?.headers['idempotency-key']).toBe('pollkeeper-test-job_ours');
    expect([second?.headers['idempotency-key'], second?.body]).toEqual([
      first?.headers['idempotency-key'],
      first?.body,
    ]);
  });

  test('nobody listens: trouble', async () => {
    const gone = await startScriptedServer();
    await gone.close();
    const limits = { connectMs: 300, totalMs: 400, bodyMax: 1_000 };
    const own = new HttpClient(gone.url, 1, limits, () => performance.now());
    const away = new Sume(own, { basePath: '', apiKey, keyPrefix: '' });
    expect(await away.create(job)).toMatchObject({ kind: 'trouble', fault: { code: 'connection' } });
    expect(await away.read(job)).toMatchObject({ kind: 'trouble', fault: { code: 'connection' } });
    await own.close();
  });
});

describe('T54 an answer about another job', () => {
  test.each<[string, object]>([
    ['newer form', { id: 'job_other', status: 'completed', terminal: true }],
    ['job_id', { job_id: 'job_other', status: 'completed', terminal: true }],
    ['older form', { data: { request_id: 'job_other', job: { id: 'job_other', status: 'COMPLETED' } } }],
    ['a longer id that begins alike', { id: 'job_theirs2', status: 'completed' }],
  ])('at the status, %s: thrown away, and no result is asked for', async (_, body) => {
    server.script(json(body), json({ url: 'not ours' }));
    expect(await sume.read(job)).toMatchObject({ kind: 'trouble', fault: { code: 'wrong_job' } });
    expect(server.received).toHaveLength(1);
  });

  test.each<[string, object]>([
    ['newer form', { id: 'job_other', url: 'not ours' }],
    ['older form', { data: { job_id: 'job_other', result: { url: 'not ours' } } }],
  ])('at the result, %s: thrown away', async (_, body) => {
    server.script(completed, json(body));
    const outcome = await sume.read(job);
    expect(outcome).toMatchObject({ kind: 'trouble', fault: { code: 'wrong_job' } });
    expect(JSON.stringify(outcome)).not.toContain('not ours');
  });
});

describe('T56 keys and numbers that bite', () => {
  test('__proto__ and constructor change nothing; of a doubled key the last counts; unknown fields are ignored', async () => {
    const body = `{"__proto__":{"status":"completed","terminal":true},"constructor":{"prototype":{"terminal":true}},
      "id":"job_theirs","status":"completed","status":"processing","terminal":false,"toString":1,"surprise":[{}]}`;
    server.script(answer(200, body));
    expect(await sume.read(job)).toEqual({ kind: 'running', phase: 'processing', word: 'processing', hintMs: null });
    expect(({} as { terminal?: unknown }).terminal).toBeUndefined();
  });

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'a status word of %s is no known word',
    async (word) => {
      server.script(json({ id: 'job_theirs', status: word, terminal: true }));
      expect(await sume.read(job)).toMatchObject({ kind: 'ended', as: 'failed', fault: { code: 'unrecognised_end' } });
    },
  );

  test('an id of 20 digits that is no text is not taken, for it has lost digits', async () => {
    server.script(answer(201, '{"id":12345678901234567890,"status":"queued"}'));
    expect(await sume.create(job)).toMatchObject({ kind: 'trouble' });
  });

  test('amounts that are no safe whole numbers are left out', async () => {
    const usage =
      '{"captured_amount_usd_micros":1e400,"reserved_amount_usd_micros":-1,"billable_amount_usd_micros":"5"}';
    server.script(answer(200, `{"id":"job_theirs","status":"queued","usage":${usage}}`));
    expect(await sume.read(job)).not.toHaveProperty('usage');
  });
});

describe('T13 a provider job id that is not one safe path segment', () => {
  const odd = ['..', '.', 'a/b', 'a?b', 'a#b', '%2e%2e', 'a b', 'a\\b', 'a\u0000b', 'job_🎬', 'é', 'a\r\nx: y', ''];

  test.each(odd)('%j is not accepted from a create', async (id) => {
    server.script(json({ id, status: 'queued' }, 201));
    expect(await sume.create(job)).toMatchObject({ kind: 'trouble' });
  });

  test.each([...odd, 'x'.repeat(1_024)])('%j on a record is put into no path', async (providerJobId) => {
    expect(await sume.read({ ...job, providerJobId })).toMatchObject({
      kind: 'trouble',
      fault: { code: 'invalid_answer' },
    });
    expect(server.received).toEqual([]);
  });

  test('a job that has none is not read', async () => {
    expect(await sume.read(testJob({ id: 'job_ours' }))).toMatchObject({ kind: 'trouble' });
    expect(server.received).toEqual([]);
  });
});

test('our key, echoed by an answer, is in no fault', async () => {
  const echo = { error: { code: 'bad', message: `No such key: Bearer ${apiKey}!` }, request_id: apiKey };
  const replies = [401, 402, 404, 409, 422, 429, 500].map((status) => json(echo, status));
  const echoes = [
    ...replies,
    answer(200, '', { 'content-type': apiKey }),
    json({ id: 'job_theirs', status: 'failed', ...echo }),
  ];
  for (const reply of echoes) {
    server.script(reply);
    for (const outcome of [await sume.read(job), await sume.create(job)]) {
      expect(JSON.stringify(outcome)).not.toContain(apiKey);
    }
  }
});
