import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LocalRedis, startRedis } from '../../infra/local/redis/redis.ts';
import { startUpstashRest, type UpstashRest } from '../../infra/local/upstash-rest/upstash-rest.ts';
import { startTestUpstash, type TestUpstash } from '../support/upstash.ts';

describe('faults on demand', () => {
  let upstash: TestUpstash;
  const chances = [0.9, 0.1, 0.9];

  beforeAll(async () => {
    upstash = await startTestUpstash({ random: () => chances.shift() ?? 1 });
  });
  beforeEach(() => upstash.fresh());
  afterAll(() => upstash.close());

  it('drops a reply after the command ran, so that the default client runs it twice', async () => {
    await upstash.setFaults({ dropReplies: 1, match: 'incr' });
    const before = upstash.rest.counts();
    const redis = upstash.client({ retry: { retries: 5, backoff: () => 1 } });
    await redis.set('other', 1);
    expect(await redis.incr('n')).toBe(2);
    expect(upstash.rest.counts()).toEqual({ httpRequests: before.httpRequests + 3, commands: before.commands + 3 });
  });

  it('drops a reply once for a client that does not retry', async () => {
    await upstash.setFaults({ dropReplies: 1 });
    await expect(upstash.client({ retry: { retries: 0 } }).incr('n')).rejects.toThrow('fetch failed');
    expect((await upstash.direct('GET', 'n'))?.toString()).toBe('1');
  });

  it('drops replies by chance', async () => {
    await upstash.setFaults({ dropReplies: 0.5 });
    const redis = upstash.client({ retry: { retries: 0 } });
    expect(await redis.ping()).toBe('PONG');
    await expect(redis.ping()).rejects.toThrow('fetch failed');
    expect(await redis.ping()).toBe('PONG');
  });

  it('fails with the given status and body, without running the command', async () => {
    const redis = upstash.client({ enableAutoPipelining: false });
    await upstash.setFaults({ failWith: { status: 429, body: { error: 'ERR slow down' }, times: 1 } });
    await expect(redis.incr('n')).rejects.toThrow('ERR slow down');
    expect(await redis.incr('n')).toBe(1);
    await upstash.setFaults({ failWith: { status: 502, body: '<html>' } });
    await expect(redis.incr('n')).rejects.toThrow('Unable to parse response body: <html>');
    await expect(redis.incr('n')).rejects.toThrow('Unable to parse response body: <html>');
    await upstash.setFaults({});
    expect(await redis.incr('n')).toBe(2);
  });

  it('hangs without running the command, until the client gives up', async () => {
    await upstash.setFaults({ hang: 1 });
    const redis = upstash.client({ signal: () => AbortSignal.timeout(50) });
    await expect(redis.incr('n')).rejects.toThrow('timeout');
    expect(await redis.incr('n')).toBe(1);
  });

  it('delays what matches', async () => {
    await upstash.setFaults({ delayMs: 80, match: 'incr' });
    const startedAtMs = performance.now();
    expect(await upstash.client().incr('n')).toBe(1);
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(79);
  });

  it('refuses faults it does not know, naming the field', async () => {
    const bad = [
      '{',
      '[]',
      '{"drop":1}',
      '{"hang":-1}',
      '{"dropReplies":1.5}',
      '{"failWith":{"status":99}}',
      '{"match":1}',
    ];
    for (const body of bad) {
      const response = await upstash.request('/__faults', { method: 'POST', body });
      expect([response.status, await response.text()], body).toEqual([400, expect.stringContaining('{"error":"ERR ')]);
    }
    expect(await upstash.client().ping()).toBe('PONG');
  });

  it('tells its counts over HTTP, without counting that', async () => {
    await upstash.client().ping();
    const read = async () => (await upstash.request('/__counts')).json();
    expect(await read()).toEqual(upstash.rest.counts());
    expect(await read()).toEqual(upstash.rest.counts());
  });
});

describe('while Redis is away', () => {
  let redis: LocalRedis;
  let rest: UpstashRest;

  beforeEach(async () => {
    redis = await startRedis();
    rest = await startUpstashRest({ redisPort: redis.port, token: 't', replyTimeoutMs: 300 });
  });
  afterEach(async () => {
    await rest.close();
    await redis.close();
  });

  async function ask(path: string, body: unknown): Promise<[status: number, body: unknown]> {
    const headers = { authorization: 'Bearer t' };
    const response = await fetch(rest.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return [response.status, await response.json()];
  }

  it('answers 503, and works again by itself once Redis is back, with its scripts forgotten', async () => {
    const script = '#!lua flags=allow-key-locking\nreturn 1';
    const [, loaded] = await ask('/', ['SCRIPT', 'LOAD', script]);
    const { result: sha } = loaded as { result: string };
    expect(await ask('/', ['EVALSHA', sha, 0])).toEqual([200, { result: 1 }]);
    await redis.close();
    const gone = { error: 'ERR Redis cannot be reached' };
    expect(await ask('/', ['GET', 'a'])).toEqual([503, gone]);
    expect(await ask('/pipeline', [['GET', 'a']])).toEqual([503, gone]);
    expect(await ask('/multi-exec', [['GET', 'a']])).toEqual([503, gone]);
    redis = await startRedis({ port: redis.port });
    expect(await ask('/', ['EVALSHA', sha, 0])).toEqual([400, { error: expect.stringContaining('NOSCRIPT') }]);
    expect(await ask('/', ['EVAL', script, 0])).toEqual([200, { result: 1 }]);
    expect(await ask('/multi-exec', [['EVALSHA', sha, 0]])).toEqual([200, [{ result: 1 }]]);
  });

  it('answers 500 when Redis stops answering, or dies in the middle of a command', async () => {
    expect(await ask('/', ['PING'])).toEqual([200, { result: 'PONG' }]);
    const lost = { error: 'ERR Redis went away before it answered' };
    process.kill(redis.pid, 'SIGSTOP');
    expect(await ask('/', ['INCR', 'n'])).toEqual([500, lost]);
    const pending = ask('/', ['INCR', 'n']);
    process.kill(redis.pid, 'SIGKILL');
    expect((await pending)[0]).toBeGreaterThanOrEqual(500);
  });
});
