import { type IncomingMessage, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunningSumeSimulator, startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { addFault, ask, create, readStatus } from '../support/sume-requests.ts';

let simulator: RunningSumeSimulator;
let jobId: string;

beforeEach(async () => {
  simulator = await startSumeSimulator({ seed: 'faults', renderSeconds: 3_600 });
  jobId = (await create(simulator)).json.id;
});
afterEach(() => simulator.close());

type Raw = {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
  end: 'whole' | 'cut' | 'given up' | 'reset';
};

/** One status read at the level of bytes, given up after `ms` or after `bytesMax` bytes. */
function rawRead({ ms = 5_000, bytesMax = Number.POSITIVE_INFINITY } = {}): Promise<Raw> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let reply: IncomingMessage | undefined;
    const end = (how: Raw['end']) => {
      clearTimeout(timer);
      resolve({ status: reply?.statusCode ?? 0, headers: reply?.headers ?? {}, body: Buffer.concat(chunks), end: how });
      asked.destroy();
    };
    const timer = setTimeout(() => end('given up'), ms);
    const options = {
      port: simulator.port,
      path: `/v1/jobs/${jobId}/status`,
      headers: { 'x-api-key': 'key-of-tests' },
    };
    const asked = request(options, (response) => {
      reply = response;
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes >= bytesMax) end('given up');
      });
      response.on('end', () => end('whole'));
      response.on('error', () => end('cut'));
    });
    asked.on('error', () => end(reply === undefined ? 'reset' : 'cut'));
    asked.end();
  });
}

const onceOnStatus = (fault: Record<string, unknown>) => addFault(simulator, { route: 'status', count: 1, ...fault });

describe('a fault of the Sume simulator', () => {
  it('is an error in the envelope, with the usual code of its status', async () => {
    const codes: [number, string][] = [
      [401, 'invalid_api_key'],
      [402, 'insufficient_credits'],
      [404, 'job_not_found'],
      [429, 'rate_limit_exceeded'],
      [500, 'internal_error'],
      [503, 'service_unavailable'],
    ];
    for (const [status, code] of codes) {
      await onceOnStatus({ kind: 'error', status });
      const reply = await readStatus(simulator, jobId);
      expect([reply.status, reply.json.error.code]).toEqual([status, code]);
      expect(reply.json.request_id).toBe(reply.headers.get('x-request-id'));
      expect(reply.headers.get('ratelimit-remaining')).toMatch(/^\d+$/);
    }
    expect((await readStatus(simulator, jobId)).status).toBe(200);
  });

  it('is an HTML page, as a proxy in front would send it', async () => {
    await onceOnStatus({ kind: 'error', status: 502, html: true });
    const reply = await readStatus(simulator, jobId);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([502, 'text/html']);
    expect(reply.text).toMatch(/^<html>/);
  });

  it('is a 429 with Retry-After as seconds or as a date', async () => {
    await onceOnStatus({ kind: 'error', status: 429, retryAfter: 7 });
    expect((await readStatus(simulator, jobId)).headers.get('retry-after')).toBe('7');
    await onceOnStatus({ kind: 'error', status: 429, retryAfter: 60, retryAfterForm: 'http-date' });
    const date = Date.parse((await readStatus(simulator, jobId)).headers.get('retry-after') ?? '');
    expect(Math.abs(date - Date.now() - 60_000)).toBeLessThan(5_000);
    expect(simulator.report().refused429.status).toBe(2);
  });

  it('is silence', async () => {
    await onceOnStatus({ kind: 'hang' });
    expect(await rawRead({ ms: 200 })).toMatchObject({ status: 0, end: 'given up' });
  });

  it('is a true answer that comes late', async () => {
    await onceOnStatus({ kind: 'delay', ms: 150 });
    const startedAtMs = performance.now();
    expect((await readStatus(simulator, jobId)).json.id).toBe(jobId);
    expect(performance.now() - startedAtMs).toBeGreaterThan(145);
  });

  it('is a body that drips', async () => {
    await onceOnStatus({ kind: 'slow-body', bytesPerSecond: 40 });
    const slow = await rawRead({ ms: 400 });
    expect([slow.status, slow.end]).toEqual([200, 'given up']);
    expect(slow.body.length).toBeGreaterThan(2);
    expect(slow.body.length).toBeLessThan(40);
    await onceOnStatus({ kind: 'slow-body', bytesPerSecond: 20_000 });
    const whole = await rawRead();
    expect([whole.end, JSON.parse(whole.body.toString()).id]).toEqual(['whole', jobId]);
  });

  it('is a body that stops in the middle', async () => {
    await onceOnStatus({ kind: 'stalled-body' });
    const stalled = await rawRead({ ms: 200 });
    expect([stalled.status, stalled.end]).toEqual([200, 'given up']);
    expect(stalled.body.length).toBe(Math.floor(Number(stalled.headers['content-length']) / 2));
  });

  it('is a huge body, or one without end', async () => {
    await onceOnStatus({ kind: 'huge-body', bytes: 3_000_000 });
    const huge = await rawRead();
    expect(huge.end).toBe('whole');
    expect(huge.body.length).toBeGreaterThan(3_000_000);
    await onceOnStatus({ kind: 'endless-body' });
    expect(await rawRead({ bytesMax: 20_000_000 })).toMatchObject({ status: 200, end: 'given up' });
  });

  it('is a gzip bomb', async () => {
    await onceOnStatus({ kind: 'gzip-bomb', bytes: 10_000_000 });
    const bomb = await rawRead();
    expect(bomb.headers['content-encoding']).toBe('gzip');
    expect(bomb.body.length).toBeLessThan(50_000);
    expect(gunzipSync(bomb.body).length).toBe(10_000_000);
  });

  it('is a body that is no JSON, half of one, or none at all', async () => {
    for (const kind of ['malformed-json', 'cut-off-json', 'empty-body']) {
      await onceOnStatus({ kind });
      const reply = await readStatus(simulator, jobId);
      expect([reply.status, reply.headers.get('content-type'), reply.json]).toEqual([
        200,
        'application/json',
        undefined,
      ]);
    }
  });

  it('is a connection that ends in the middle of the body, or before the first byte', async () => {
    await onceOnStatus({ kind: 'cut-off-connection' });
    expect(await rawRead()).toMatchObject({ status: 200, end: 'cut' });
    await onceOnStatus({ kind: 'reset-before-effect' });
    expect(await rawRead()).toMatchObject({ status: 0, end: 'reset' });
  });

  it('is the answer of another job', async () => {
    await onceOnStatus({ kind: 'wrong-id', id: 'job_other' });
    const reply = await readStatus(simulator, jobId);
    expect([reply.json.id, reply.json.data.job.id, reply.text.includes(jobId)]).toEqual([
      'job_other',
      'job_other',
      false,
    ]);
    await addFault(simulator, { route: 'create', count: 1, kind: 'wrong-id' });
    const made = await create(simulator);
    expect([made.json.id, made.json.data.request_id]).toEqual(['job_of_somebody_else', 'job_of_somebody_else']);
  });

  it('is a redirect to another host', async () => {
    await onceOnStatus({ kind: 'redirect', location: 'https://evil.example/steal' });
    const reply = await readStatus(simulator, jobId);
    expect([reply.status, reply.headers.get('location')]).toEqual([302, 'https://evil.example/steal']);
  });

  it('is any answer that the tester makes up', async () => {
    const body = JSON.stringify({ id: jobId, sume_status: 'aborted', terminal: true });
    await onceOnStatus({ kind: 'answer', status: 203, body, headers: { 'Content-Type': 'text/plain', 'X-Odd': '1' } });
    const reply = await readStatus(simulator, jobId);
    expect([reply.status, reply.headers.get('x-odd'), reply.json.sume_status]).toEqual([203, '1', 'aborted']);
  });
});

describe('the rules of the Sume simulator', () => {
  it('decide whether a struck create makes its job: not before, but after the effect', async () => {
    const billed = () => simulator.report().billedClips;
    await addFault(simulator, { kind: 'reset-before-effect', route: 'create', count: 1 });
    await expect(create(simulator, 'a')).rejects.toThrow();
    await addFault(simulator, { kind: 'error', status: 500, route: 'create', count: 1 });
    expect((await create(simulator, 'a')).status).toBe(500);
    expect(billed()).toBe(1);
    await addFault(simulator, { kind: 'error', status: 500, route: 'create', count: 1, afterEffect: true });
    expect((await create(simulator, 'a')).status).toBe(500);
    await addFault(simulator, { kind: 'reset-after-effect', route: 'create', count: 1 });
    await expect(create(simulator, 'a')).rejects.toThrow();
    expect(billed()).toBe(2);
    expect((await create(simulator, 'a')).json.idempotency_hit).toBe(true);
  });

  it('strike the route and the job they name, as often as they say', async () => {
    const other = (await create(simulator)).json.id;
    await addFault(simulator, [
      { kind: 'error', status: 500, route: 'status', jobId: other, count: 2 },
      { kind: 'error', status: 418, route: 'balance' },
    ]);
    expect((await readStatus(simulator, jobId)).status).toBe(200);
    const reads = [
      await readStatus(simulator, other),
      await readStatus(simulator, other),
      await readStatus(simulator, other),
    ];
    expect(reads.map((reply) => reply.status)).toEqual([500, 500, 200]);
    for (let index = 0; index < 3; index += 1) expect((await ask(simulator, 'GET', '/v1/balance')).status).toBe(418);
    const { rules } = (await ask(simulator, 'GET', '/__control/faults')).json;
    expect(rules).toMatchObject([
      { id: 'fault_1', left: 0, struck: 2 },
      { id: 'fault_2', left: null, struck: 3 },
    ]);
    await ask(simulator, 'DELETE', '/__control/faults?id=fault_2');
    expect((await ask(simulator, 'GET', '/v1/balance')).status).toBe(200);
    await ask(simulator, 'DELETE', '/__control/faults');
    expect((await ask(simulator, 'GET', '/__control/faults')).json).toEqual({ rules: [] });
  });

  it('strike by chance, the same ones for the same seed', async () => {
    const run = async () => {
      const own = await startSumeSimulator({ seed: 'chance' });
      await addFault(own, { kind: 'error', status: 500, route: 'me', probability: 0.5 });
      const statuses = [];
      for (let index = 0; index < 40; index += 1) statuses.push((await ask(own, 'GET', '/v1/me')).status);
      await own.close();
      return statuses;
    };
    const first = await run();
    expect(first.filter((status) => status === 500).length).toBeGreaterThan(8);
    expect(first.filter((status) => status === 500).length).toBeLessThan(32);
    expect(await run()).toEqual(first);
  });

  it('are refused when they would strike nothing, with the field named', async () => {
    const bad: [unknown, string][] = [
      [{ kind: 'meteor' }, 'kind'],
      [{ kind: 'hang', route: 'statos' }, 'route'],
      [{ kind: 'hang', probability: 2 }, 'probability'],
      [{ kind: 'hang', count: 'once' }, 'count'],
      [{ kind: 'error' }, 'status'],
      [{ kind: 'error', status: 429, retryAfterForm: 'weeks' }, 'retryAfterForm'],
      [{ kind: 'delay', seconds: 5 }, 'seconds'],
      [{ kind: 'redirect' }, 'location'],
    ];
    for (const [body, field] of bad) {
      const reply = await ask(simulator, 'POST', '/__control/faults', { body });
      expect([reply.status, reply.json.error.details.field]).toEqual([400, field]);
    }
    expect((await ask(simulator, 'GET', '/__control/faults')).json.rules).toEqual([]);
  });
});
