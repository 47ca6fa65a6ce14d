import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { SumeSimulatorOptions } from '../../infra/local/sume-simulator/settings.ts';
import { type RunningSumeSimulator, startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { ask, CLIP, create, testClock } from '../support/sume-requests.ts';

const RATE_HEADERS = ['limit', 'remaining', 'reset'].flatMap((name) => [`ratelimit-${name}`, `x-ratelimit-${name}`]);
const clock = testClock();
let simulator: RunningSumeSimulator;

async function start(options: SumeSimulatorOptions = {}): Promise<void> {
  simulator = await startSumeSimulator({ ...clock, seed: 'contract', ...options });
}
afterEach(() => simulator.close());

describe('bad requests to the Sume simulator', () => {
  const bad: [title: string, body: unknown, field: string | undefined][] = [
    ['no model', { prompt: 'x' }, 'model'],
    ['an empty model', { model: ' ', prompt: 'x' }, 'model'],
    ['no prompt', { model: 'm' }, 'prompt'],
    ['a prompt that is a number', { model: 'm', prompt: 5 }, 'prompt'],
    ['a duration of 0', { ...CLIP, duration: 0 }, 'duration'],
    ['a duration of 61', { ...CLIP, duration: 61 }, 'duration'],
    ['a duration as text', { ...CLIP, duration: '8' }, 'duration'],
    ['an unknown resolution', { ...CLIP, resolution: '9000p' }, 'resolution'],
    ['a webhook over http', { ...CLIP, webhook_url: 'http://example.com' }, 'webhook_url'],
    ['a list', [], 'body'],
    ['nothing', '', 'body'],
    ['10,000 levels', `{"model":"m","prompt":"x","deep":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'body'],
    ['cut-off JSON', '{"model": "m', undefined],
  ];

  it.each(bad)('are refused with the field named: %s', async (_title, body, field) => {
    await start();
    const reply = await ask(simulator, 'POST', '/v1/videos', { body });
    expect(reply.status).toBe(400);
    expect(reply.json).toEqual({
      error: {
        code: field ? 'invalid_request' : 'invalid_json',
        message: expect.any(String),
        details: expect.any(Object),
      },
      request_id: reply.headers.get('x-request-id'),
    });
    expect(reply.json.error.details.field).toBe(field);
    expect(simulator.report().billedClips).toBe(0);
  });

  it('carry the error envelope, a request id and the rate limits on every path', async () => {
    await start();
    const cases: [method: string, path: string, status: number, code: string][] = [
      ['GET', '/v1/nothing', 404, 'not_found'],
      ['GET', '/', 404, 'not_found'],
      ['GET', '/v1/jobs/job_unknown', 404, 'job_not_found'],
      ['GET', `/v1/jobs/${encodeURIComponent('🎬\0')}/status`, 404, 'job_not_found'],
      ['GET', '/v1/jobs/a%2Fb%3Fx/status', 404, 'job_not_found'],
      ['DELETE', '/v1/jobs', 405, 'method_not_allowed'],
      ['GET', '/v1/jobs?limit=0', 400, 'invalid_request'],
      ['GET', '/v1/jobs?cursor=nonsense', 400, 'invalid_request'],
      ['GET', '/media/job_1/video.mp4', 403, 'invalid_signature'],
    ];
    const ids = new Set<string>();
    for (const [method, path, status, code] of cases) {
      const reply = await ask(simulator, method, path);
      expect([path, reply.status, reply.json.error.code]).toEqual([path, status, code]);
      expect(reply.json.request_id).toMatch(/^req_/);
      for (const header of RATE_HEADERS) expect(reply.headers.get(header)).toMatch(/^\d+$/);
      ids.add(reply.json.request_id);
    }
    expect(ids.size).toBe(cases.length);
    expect((await ask(simulator, 'DELETE', '/v1/jobs')).headers.get('allow')).toBe('GET');
  });

  it('are refused when larger than 1 MB, in the middle of the sending if need be', async () => {
    await start();
    const big = await ask(simulator, 'POST', '/v1/videos', { body: { ...CLIP, prompt: 'x'.repeat(5_000_000) } });
    expect([big.status, big.json.error.code]).toEqual([413, 'payload_too_large']);
  });

  it('are answered even when they are not HTTP at all', async () => {
    await start();
    const text = await new Promise<string>((resolve) => {
      const socket = connect(simulator.port, '127.0.0.1', () => socket.write('what is this\r\n\r\n'));
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.on('close', () => resolve(received));
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 .*"code":"bad_request"/s);
  });

  it('refuse an Idempotency-Key that is empty, too long or not plain', async () => {
    await start();
    for (const key of ['x'.repeat(256), 'a b', 'é']) {
      const reply = await create(simulator, key);
      expect([reply.status, reply.json.error.details.field]).toEqual([400, 'Idempotency-Key']);
    }
    const status = await new Promise<number | undefined>((resolve) => {
      const headers = { 'idempotency-key': '', 'x-api-key': 'k' };
      const options = { port: simulator.port, path: '/v1/videos', method: 'POST', headers };
      request(options, (response) => resolve(response.resume().statusCode)).end(JSON.stringify(CLIP));
    });
    expect(status).toBe(400);
  });
});
