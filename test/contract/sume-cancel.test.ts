import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import type { Call } from '../../lib/ports.ts';
import { HttpClient } from '../../lib/providers/http.ts';
import { Sume } from '../../lib/providers/sume.ts';
import { answer, hang, json, reset, type ScriptedServer } from '../support/scripted-server.ts';
import { apiKey, envelope, type ScriptedSume, sentJob, startScriptedSume } from '../support/scripted-sume.ts';
import { ask, CLIP, create } from '../support/sume-requests.ts';

/* Asking the provider to end a render, and to tell us of its end; over real HTTP. */

let parts: ScriptedSume;
let server: ScriptedServer;
let sume: Sume;
beforeAll(async () => {
  parts = await startScriptedSume(400);
  ({ server, sume } = parts);
});
afterAll(() => parts.close());

describe('a cancel', () => {
  it('is one POST under a key of its own, the same each time', async () => {
    server.script(
      json({ id: 'job_theirs', canceled: true }, 200, { 'ratelimit-remaining': '3', 'ratelimit-reset': '20' }),
    );
    const call: Call = {};
    expect(await sume.cancel(sentJob, call)).toEqual({ kind: 'told' });
    await sume.cancel({ ...sentJob, revision: 12 });
    expect(call.left).toEqual({ left: 3, forMs: 20_000 });
    for (const received of server.received) {
      expect(received).toMatchObject({
        ...{ method: 'POST', path: '/v1/jobs/job_theirs/cancel', body: '{}' },
        headers: { authorization: `Bearer ${apiKey}`, 'idempotency-key': 'pollkeeper-test-job_ours-cancel' },
      });
    }
    expect(server.received).toHaveLength(2);
  });

  it.each([
    ['done', json({ id: 'job_theirs', canceled: true })],
    ['done in the older form', json({ data: { job_id: 'job_theirs', status: 'CANCELED', canceled: true } })],
    ['taken note of', json({}, 202)],
    ['done without a word', answer(204)],
    ['too late, because it has ended', json(envelope('job_not_cancelable', 'completed already'), 409)],
    ['of no use any more', json(envelope('invalid_state', 'no'), 422)],
    ['no request for such a job', json(envelope('invalid_request', 'no'), 400)],
  ])('that is %s has been told', async (_, reply) => {
    server.script(reply);
    expect(await sume.cancel(sentJob)).toEqual({ kind: 'told' });
  });

  it.each([
    ['missing', json(envelope('job_not_found', 'none'), 404), { kind: 'missing', fault: { code: 'job_not_found' } }],
    [
      'throttled',
      json(envelope('rate_limit_exceeded', 'slow'), 429, { 'retry-after': '7' }),
      { kind: 'throttled', retryAfterMs: 7_000 },
    ],
    ['denied by 401', json(envelope('unauthorized', 'no'), 401), { kind: 'denied', fault: { code: 'unauthorized' } }],
    ['denied by 402', json(envelope('insufficient_credits', 'no'), 402), { kind: 'denied' }],
    ['denied by 403', json(envelope('forbidden', 'no'), 403), { kind: 'denied' }],
    ['a fault of theirs', json(envelope('internal', 'oh'), 500), { kind: 'trouble' }],
    ['a proxy’s 404', answer(404, '<h1>404</h1>'), { kind: 'trouble', fault: { code: 'http_404' } }],
    ['a proxy’s 409', answer(409, 'conflict'), { kind: 'trouble', fault: { code: 'http_409' } }],
    ['a page that says 200', answer(200, '<h1>welcome</h1>'), { kind: 'trouble', fault: { code: 'invalid_answer' } }],
    ['about another job', json({ id: 'job_other', canceled: true }), { kind: 'trouble', fault: { code: 'wrong_job' } }],
    ['a redirect', answer(302, '', { location: '/elsewhere' }), { kind: 'trouble', fault: { code: 'http_302' } }],
    ['a dead connection', reset, { kind: 'trouble', fault: { code: 'connection' } }],
    ['silence', hang, { kind: 'trouble', fault: { code: 'timeout' } }],
  ])('that meets %s is to be sent again, and nothing is thrown', async (_, reply, outcome) => {
    server.script(reply);
    expect(await sume.cancel(sentJob)).toMatchObject(outcome);
    expect(server.received).toHaveLength(1);
  });

  it('of a job without a usable id of the provider is never sent', async () => {
    server.script(answer(500));
    for (const providerJobId of ['', '..', 'a/b', 'a b']) {
      expect(await sume.cancel({ ...sentJob, providerJobId })).toMatchObject({ kind: 'trouble' });
    }
    expect(server.received).toEqual([]);
  });

  it('ends a render at the simulator once, however often it is sent, and is told when there is none to end', async () => {
    const simulator = await startSumeSimulator({ seed: 'cancel', renderSeconds: 600 });
    const http = new HttpClient(simulator.url, 1, { connectMs: 500, totalMs: 2_000, bodyMax: 10_000 }, () =>
      performance.now(),
    );
    const own = new Sume(http, { basePath: '', apiKey: 'key-of-tests', keyPrefix: 't-' });
    const idOf = async (name: string): Promise<string> => (await create(simulator, name, CLIP)).json.id;
    const [running, done] = [await idOf('1'), await idOf('2')];
    await ask(simulator, 'POST', `/__control/jobs/${done}`, { body: { state: 'completed' } });
    const told = { kind: 'told' };
    for (const providerJobId of [running, running, done]) {
      expect(await own.cancel({ ...sentJob, id: `ours-${providerJobId}`, providerJobId })).toEqual(told);
    }
    expect(await own.cancel({ ...sentJob, providerJobId: 'job_never' })).toMatchObject({ kind: 'missing' });
    expect(simulator.report()).toMatchObject({ jobs: { canceled: 1, completed: 1 }, idempotentReplays: 1 });
    await http.close();
    await simulator.close();
  });
});

describe('a create with a hook', () => {
  const hookUrl = 'https://api.example.com/v1/hooks/sume?job=job_ours';

  it('carries the address beside the caller’s own input, which stays as it was', async () => {
    server.script(json({ id: 'job_9', status: 'queued' }));
    const job = { ...sentJob, input: { model: 'm', prompt: 'p', extra: [1] } };
    await sume.create({ ...job, hookUrl });
    await sume.create(job);
    expect(server.received.map(({ body }) => body)).toEqual([
      `{"model":"m","prompt":"p","extra":[1],"webhook_url":"${hookUrl}"}`,
      '{"model":"m","prompt":"p","extra":[1]}',
    ]);
  });

  it('that is refused for our address rejects no job', async () => {
    const refusal = {
      ...envelope('invalid_request', 'must be public'),
      error: { code: 'invalid_request', message: 'must be public', details: { field: 'webhook_url' } },
    };
    server.script(json(refusal, 400));
    expect(await sume.create({ ...sentJob, hookUrl })).toMatchObject({
      kind: 'denied',
      fault: { code: 'invalid_request' },
    });
    expect(await sume.create(sentJob)).toMatchObject({ kind: 'refused' });
  });
});
