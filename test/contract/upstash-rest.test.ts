import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestUpstash, type TestUpstash } from '../support/upstash.ts';

let upstash: TestUpstash;

beforeAll(async () => {
  upstash = await startTestUpstash();
});
beforeEach(() => upstash.fresh());
afterAll(() => upstash.close());

const keyLocked = `#!lua flags=allow-key-locking
redis.call('SET', KEYS[1], ARGV[1])
return redis.call('GET', KEYS[1])`;

for (const enableAutoPipelining of [true, false]) {
  describe(`the real client, auto-pipelining ${enableAutoPipelining ? 'on' : 'off'}`, () => {
    const client = () => upstash.client({ enableAutoPipelining });

    it('stores and reads strings, numbers, objects and absent keys', async () => {
      const redis = client();
      expect(await redis.set('text', 'grüße 🎬')).toBe('OK');
      expect(await redis.set('number', 12)).toBe('OK');
      expect(await redis.set('object', { a: [1, null] })).toBe('OK');
      expect(await redis.get('text')).toBe('grüße 🎬');
      expect(await redis.incr('number')).toBe(13);
      expect(await redis.get('object')).toEqual({ a: [1, null] });
      expect(await redis.get('absent')).toBeNull();
      expect(await redis.mget('text', 'absent', 'number')).toEqual(['grüße 🎬', null, 13]);
    });

    it('keeps the exact digits of a fractional score', async () => {
      const redis = client();
      const score = 1_764_450_000_123 + 3 / 16;
      await redis.zadd('due', { score, member: 'job_a' }, { score: 5, member: 'job_b' });
      expect(await redis.zscore('due', 'job_a')).toBe(score);
      expect(await redis.zmscore('due', ['job_a', 'absent', 'job_b'])).toEqual([score, null, 5]);
      expect(await redis.zrange('due', 0, -1, { withScores: true })).toEqual(['job_b', 5, 'job_a', score]);
    });

    it('reports an error of Redis as an error', async () => {
      const redis = client();
      await redis.set('text', 'x');
      await expect(redis.lpush('text', 'y')).rejects.toThrow('WRONGTYPE');
      await expect(redis.incr('text')).rejects.toThrow('ERR value is not an integer');
    });

    it('refuses null arguments, and a wrong token with 401', async () => {
      await expect(client().set('a', undefined)).rejects.toThrow('ERR null args are not supported');
      const stranger = upstash.client({ enableAutoPipelining, token: 'wrong' });
      await expect(stranger.get('a')).rejects.toThrow('WRONGPASS invalid or missing auth token');
    });

    it('runs a script by its digest, and by its text when Redis does not know it', async () => {
      const script = client().createScript<string>('return ARGV[1] .. KEYS[1]');
      const before = upstash.rest.counts();
      expect(await script.exec(['k'], ['v'])).toBe('vk');
      expect(upstash.rest.counts().httpRequests - before.httpRequests).toBe(2);
      expect(await script.exec(['k'], ['w'])).toBe('wk');
      expect(upstash.rest.counts().httpRequests - before.httpRequests).toBe(3);
    });

    it('runs a key-locking script the same way, also after its scripts were flushed', async () => {
      const redis = client();
      const script = redis.createScript<string>(keyLocked);
      await expect(script.evalsha(['k'], ['first'])).rejects.toThrow('NOSCRIPT');
      expect(await script.exec(['k'], ['second'])).toBe('second');
      expect(await script.evalsha(['k'], ['third'])).toBe('third');
      await redis.scriptFlush();
      await expect(script.evalsha(['k'], ['fourth'])).rejects.toThrow('NOSCRIPT');
      expect(await script.exec(['k'], ['fifth'])).toBe('fifth');
      await upstash.direct('SCRIPT', 'FLUSH');
      await expect(script.evalsha(['k'], ['sixth'])).rejects.toThrow('NOSCRIPT');
      expect(await script.exec(['k'], ['seventh'])).toBe('seventh');
    });
  });
}

describe('the real client', () => {
  it('sends calls of one turn as one request when auto-pipelining', async () => {
    const redis = upstash.client();
    const before = upstash.rest.counts();
    await Promise.all(Array.from({ length: 50 }, (_, index) => redis.set(`k${index}`, index)));
    const after = upstash.rest.counts();
    expect(after.httpRequests - before.httpRequests).toBe(1);
    expect(after.commands - before.commands).toBe(50);
  });

  it('loads a key-locking script under the digest of its own text', async () => {
    const redis = upstash.client();
    const sha = await redis.scriptLoad(keyLocked);
    const script = redis.createScript<string>(keyLocked);
    expect(await script.evalsha(['k'], ['v'])).toBe('v');
    expect(sha).toBe(script.sha1);
    expect(await redis.scriptExists(sha, 'f'.repeat(40))).toEqual([1, 0]);
  });

  it('keeps the other flags of a key-locking script', async () => {
    const text = `#!lua flags=no-writes,allow-key-locking\nreturn redis.call('SET', KEYS[1], 'v')`;
    await expect(upstash.client().eval(text, ['k'], [])).rejects.toThrow('Write commands are not allowed');
  });

  it('runs read-only scripts', async () => {
    const script = upstash.client().createScript<number, true>('return 7', { readonly: true });
    expect(await script.exec([], [])).toBe(7);
    expect(await script.exec([], [])).toBe(7);
  });

  it('answers a pipeline in order, with errors in their slots', async () => {
    const redis = upstash.client();
    const pipeline = redis.pipeline().set('a', 'text').incr('a').set('b', 2).get('b');
    const results = await pipeline.exec({ keepErrors: true });
    expect(results.map(({ result }) => result)).toEqual(['OK', undefined, 'OK', 2]);
    expect(results[1]?.error).toMatch('ERR value is not an integer');
    await expect(redis.pipeline().set('a', 'x').incr('a').exec()).rejects.toThrow('Command 2 [ incr ] failed');
  });

  it('runs a transaction whole, or not at all', async () => {
    const redis = upstash.client();
    expect(await redis.multi().set('a', 1).incr('a').get('a').exec()).toEqual(['OK', 2, 2]);
    const results = await redis.multi().set('a', 'text').incr('a').set('b', 1).exec({ keepErrors: true });
    expect(results[1]?.error).toMatch('ERR value is not an integer');
    expect(await redis.get('b')).toBe(1);
    await expect(redis.multi().set('c', 1).set('d', undefined).exec()).rejects.toThrow('ERR null args');
    expect(await redis.exists('c', 'd')).toBe(0);
  });

  it('lets nothing come between the commands of a transaction', async () => {
    const redis = upstash.client({ enableAutoPipelining: false });
    const add = () => redis.multi().incr('n').incr('n').exec<[number, number]>();
    const pairs = await Promise.all(Array.from({ length: 40 }, (_, index) => (index % 2 ? add() : redis.incr('n'))));
    for (const pair of pairs) if (Array.isArray(pair)) expect(pair[1] - pair[0]).toBe(1);
  });

  it('gives back bytes that are not text', async () => {
    await upstash.direct('SET', 'bytes', Buffer.from([0xff, 0x00, 0x80, 0x41]));
    const response = await upstash.request('/get/bytes', { headers: { 'upstash-encoding': 'base64' } });
    expect(await response.json()).toEqual({ result: '/wCAQQ==' });
    expect(await upstash.client({ automaticDeserialization: false }).get('bytes')).toBe('\uFFFD\u0000\uFFFDA');
    expect(await upstash.client({ responseEncoding: false, automaticDeserialization: false }).get('bytes')).toBe(
      '\uFFFD\u0000\uFFFDA',
    );
  });

  it('takes its sync token from each answer', async () => {
    const redis = upstash.client({ enableAutoPipelining: false });
    await redis.set('a', 1);
    const first = redis.readYourWritesSyncToken;
    await redis.set('a', 2);
    expect(first).toBeTruthy();
    expect(redis.readYourWritesSyncToken).not.toBe(first);
  });

  it('returns scripts that nest arrays, nils and large integers', async () => {
    const redis = upstash.client({ automaticDeserialization: false });
    expect(await redis.eval(`return {1, false, {'a', {'b'}}, true}`, [], [])).toEqual([1, null, ['a', ['b']], 1]);
    await upstash.direct('SET', 'large', '9223372036854775806');
    const response = await upstash.request('/incr/large');
    expect(await response.text()).toBe('{"result":9223372036854775807}');
  });

  it('reads but does not write with the read-only token', async () => {
    await upstash.direct('SET', 'a', 'x');
    const reader = upstash.client({ token: upstash.readOnlyToken });
    expect(await reader.get('a')).toBe('x');
    expect(await reader.ping()).toBe('PONG');
    const refused = `NOPERM this user has no permissions to run the`;
    await expect(reader.set('a', 'y')).rejects.toThrow(`${refused} 'set' command`);
    await expect(reader.eval('return 1', [], [])).rejects.toThrow(`${refused} 'eval' command`);
    await expect(reader.keys('*')).rejects.toThrow(refused);
    await expect(reader.scan(0)).rejects.toThrow(refused);
    await expect(reader.multi().get('a').del('a').exec()).rejects.toThrow(refused);
    expect(await upstash.direct('EXISTS', 'a')).toBe(1);
  });

  it('carries a 5 MB value and hundreds of requests at once', async () => {
    const redis = upstash.client({ enableAutoPipelining: false, automaticDeserialization: false });
    const value = 'v'.repeat(5_000_000);
    await redis.set('long', value);
    const read = await Promise.all([redis.get('long'), ...Array.from({ length: 300 }, () => redis.incr('n'))]);
    expect(read[0]).toBe(value);
    expect(new Set(read.slice(1)).size).toBe(300);
  });
});
