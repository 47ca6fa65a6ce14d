import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestUpstash, type TestUpstash } from '../support/upstash.ts';

let upstash: TestUpstash;

beforeAll(async () => {
  upstash = await startTestUpstash();
});
beforeEach(() => upstash.fresh());
afterAll(() => upstash.close());

async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
  const response = await upstash.request(path, init);
  return { status: response.status, body: await response.json() };
}

function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const content = typeof body === 'string' ? body : JSON.stringify(body);
  return ask(path, { method: 'POST', body: content, headers });
}

const ok = (result: unknown) => ({ status: 200, body: { result } });
const refused = (status: number, error: string) => ({ status, body: { error: expect.stringContaining(error) } });

describe('path style', () => {
  it('takes command and arguments from the path, and options from the query', async () => {
    expect(await ask('/set/foo/bar?EX=100')).toEqual(ok('OK'));
    expect(await ask('/get/foo')).toEqual(ok('bar'));
    expect(await ask('/ttl/foo')).toEqual(ok(100));
    expect(await ask('/set/foo/other?NX')).toEqual(ok(null));
    expect(await ask('/get/foo/')).toEqual(ok('bar'));
  });

  it('appends the body of a POST or PUT before the options, byte for byte', async () => {
    const bytes = new Uint8Array([0, 255, 13, 10, 36]);
    expect(await ask('/set/foo?EX=100', { method: 'POST', body: bytes })).toEqual(ok('OK'));
    expect(await upstash.direct('GET', 'foo')).toEqual(Buffer.from(bytes));
    expect(await ask('/set/foo', { method: 'PUT', body: '{"a":1}' })).toEqual(ok('OK'));
    expect(await ask('/get/foo', { method: 'POST' })).toEqual(ok('{"a":1}'));
  });

  it('takes a key-locking script as a body', async () => {
    const script = '#!lua flags=allow-key-locking\nreturn ARGV[1]';
    const sha = createHash('sha1').update(script).digest('hex');
    expect(await ask('/script/load', { method: 'POST', body: script })).toEqual(ok(sha));
    expect(await ask(`/evalsha/${sha}/0/x`)).toEqual(ok('x'));
  });

  it('decodes percent escapes to bytes, and keeps dots, stray percent signs and non-UTF-8', async () => {
    for (const [path, key] of [
      ['a%2Fb%3Fx', 'a/b?x'],
      ['100%', '100%'],
      ['%F0%9F%8E%AC', '🎬'],
      ['%FF%00', Buffer.from([255, 0])],
    ] as const) {
      const key64 = Buffer.from(key).toString('base64');
      expect(await ask(`/set/${path}/v`), key64).toEqual(ok('OK'));
      expect((await upstash.direct('GET', key))?.toString(), key64).toBe('v');
    }
    expect(await rawRequest('GET /set/../v HTTP/1.1')).toContain('{"result":"OK"}');
    expect((await upstash.direct('GET', '..'))?.toString()).toBe('v');
  });

  it('answers HEAD with headers only, and other methods with 405', async () => {
    const head = await upstash.request('/ping', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const method of ['DELETE', 'PATCH', 'OPTIONS']) {
      const response = await upstash.request('/get/a', { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'HEAD, GET, POST, PUT']);
    }
  });
});

describe('authentication', () => {
  it('takes the token from the header or the query, and refuses all else with 401', async () => {
    const wrong = refused(401, 'WRONGPASS invalid or missing auth token');
    expect(await ask(`/ping?_token=${upstash.token}`, { headers: { authorization: '' } })).toEqual(ok('PONG'));
    expect(await ask('/ping?_token=wrong')).toEqual(wrong);
    for (const authorization of [
      '',
      'Bearer',
      'Bearer wrong',
      'Basic dGVzdA==',
      `Bearer ${'é'.repeat(10)}`,
      upstash.token,
    ]) {
      expect(await ask('/ping', { headers: { authorization } }), authorization).toEqual(wrong);
    }
    expect(await post('/__faults', {}, { authorization: `Bearer ${upstash.readOnlyToken}` })).toEqual(wrong);
    expect(await ask('/__counts', { headers: { authorization: 'Bearer wrong' } })).toEqual(wrong);
  });
});

describe('formats', () => {
  it('encodes every string but OK in base64', async () => {
    const headers = { 'upstash-encoding': 'base64' };
    expect(await post('/', ['SET', 'a', 'OK'], headers)).toEqual(ok('OK'));
    expect(await post('/', ['GET', 'a'], headers)).toEqual(ok('T0s='));
    expect(await post('/', ['PING'], headers)).toEqual(ok('UE9ORw=='));
    expect(await post('/', ['MGET', 'a', 'b'], headers)).toEqual(ok(['T0s=', null]));
    expect(await post('/', ['NOPE'], headers)).toEqual(refused(400, 'ERR'));
  });

  it('passes the bytes of Redis on as resp2', async () => {
    const headers = { 'upstash-response-format': 'resp2' };
    const raw = async (path: string, body: unknown) => {
      const response = await upstash.request(path, { method: 'POST', body: JSON.stringify(body), headers });
      return [response.status, response.headers.get('content-type'), await response.text()];
    };
    const type = 'application/octet-stream';
    expect(await raw('/', ['SET', 'a', 'bar'])).toEqual([200, type, '+OK\r\n']);
    expect(await raw('/', ['GET', 'a'])).toEqual([200, type, '$3\r\nbar\r\n']);
    expect(await raw('/', ['MGET', 'a', 'b'])).toEqual([200, type, '*2\r\n$3\r\nbar\r\n$-1\r\n']);
    expect(await raw('/', ['EVAL', 'return {{}, 5, {err="E x"}}', '0'])).toEqual([
      200,
      type,
      '*3\r\n*0\r\n:5\r\n-E x\r\n',
    ]);
    expect(
      await raw('/pipeline', [
        ['GET', 'b'],
        ['LPUSH', 'a', 'x'],
      ]),
    ).toEqual([200, type, '$-1\r\n-WRONGTYPE Operation against a key holding the wrong kind of value\r\n']);
    expect((await raw('/', ['INCR', 'a']))[0]).toBe(400);
  });

  it('refuses resp2 with base64, for a transaction, and formats it does not know', async () => {
    const resp2 = { 'upstash-response-format': 'resp2' };
    expect(await post('/', ['PING'], { ...resp2, 'upstash-encoding': 'base64' })).toEqual(refused(400, 'ERR'));
    expect(await post('/multi-exec', [['PING']], resp2)).toEqual(refused(400, 'ERR'));
    expect(await post('/', ['PING'], { 'upstash-response-format': 'xml' })).toEqual(refused(400, 'ERR'));
    expect(await post('/', ['PING'], { 'upstash-response-format': 'json' })).toEqual(ok('PONG'));
  });
});

describe('bad input', () => {
  it('answers 400 with an error for what is not a command', async () => {
    const bodies = [
      '',
      '{',
      'null',
      '1',
      '"PING"',
      '{}',
      '[]',
      '[""]',
      '[null]',
      '[["GET","a"]]',
      '[{"a":1}]',
      '["GET",{}]',
    ];
    for (const body of bodies) expect(await post('/', body), body).toEqual(refused(400, 'ERR'));
    for (const path of ['/pipeline', '/multi-exec']) {
      for (const body of ['', '{', '[]', '{}', '["GET","a"]', '[["GET","a"],1]']) {
        expect(await post(path, body), path + body).toEqual(refused(400, 'ERR'));
      }
    }
    expect(await ask('/')).toEqual(refused(400, 'ERR'));
    expect(await ask('/nope/a')).toEqual(refused(400, `ERR Command is not available: 'NOPE'`));
    expect(await ask('/get')).toEqual(refused(400, 'ERR wrong number of arguments'));
  });

  it('puts a malformed command of a pipeline in its slot, and drops a transaction that has one', async () => {
    const commands = [['SET', 'a', 1], ['SET', 'a', null], [], ['INCR', 'a']];
    const body = [
      { result: 'OK' },
      { error: 'ERR null args are not supported' },
      { error: 'ERR empty command' },
      { result: 2 },
    ];
    expect(await post('/pipeline', commands)).toEqual({ status: 200, body });
    expect(await post('/multi-exec', commands)).toEqual(refused(400, 'ERR null args'));
    expect(await post('/multi-exec', [['INCR', 'a'], ['GET']])).toEqual(refused(400, 'ERR wrong number of arguments'));
    expect(await post('/multi-exec', [['INCR', 'a'], ['NOPE']])).toEqual(
      refused(400, `ERR Command is not available: 'NOPE'`),
    );
    expect(
      await post('/multi-exec', [
        ['INCR', 'a'],
        ['WATCH', 'a'],
      ]),
    ).toEqual(refused(400, `not available: 'WATCH'`));
    expect(await ask('/get/a')).toEqual(ok('2'));
  });

  it('turns numbers and booleans into text', async () => {
    expect(await post('/', ['RPUSH', 'list', 1, 1.5, true, false, 'null'])).toEqual(ok(5));
    expect(await ask('/lrange/list/0/-1')).toEqual(ok(['1', '1.5', 'true', 'false', 'null']));
  });

  it('survives deep nesting, a million arguments and bodies above 10 MB', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(await post('/', deep)).toEqual(refused(400, 'ERR unsupported arg type'));
    expect(await post('/', ['DEL', ...Array.from({ length: 1_000_000 }, () => 'a')])).toEqual(ok(0));
    expect(await post('/', ['SET', 'a', 'x'.repeat(11_000_000)])).toEqual(
      refused(413, 'ERR max request size exceeded'),
    );
    expect(await ask('/ping')).toEqual(ok('PONG'));
  });

  it('replaces the reply to one command above 10 MB by an error', async () => {
    const value = 'v'.repeat(6_000_000);
    await post('/pipeline', [['SET', 'a', value]]);
    await post('/pipeline', [['SET', 'b', value]]);
    expect(await ask('/mget/a/b')).toEqual(refused(400, 'ERR max request size exceeded. Limit: 10485760'));
  });

  it('answers what is not HTTP', async () => {
    expect(await rawRequest('NONSENSE')).toMatch(/^HTTP\/1.1 400 .*\{"error":"ERR/s);
    expect(await rawRequest(`GET /get/${'a'.repeat(70_000)} HTTP/1.1`)).toMatch(/^HTTP\/1.1 431 .*\{"error":"ERR/s);
  });
});

describe('commands that cannot go over REST', () => {
  it.each([
    'BLPOP list 1|BRPOPLPUSH a b 0|BLMOVE a b LEFT LEFT 0|BZPOPMIN z 0|XREAD BLOCK 0 STREAMS s $',
    'WATCH a|UNWATCH|DISCARD|MULTI|EXEC|AUTH x|SELECT 1|HELLO 3|CLIENT LIST|QUIT|RESET',
    'SUBSCRIBE a|PSUBSCRIBE a|MONITOR|DEBUG SLEEP 1|SHUTDOWN|REPLICAOF no one|SAVE|CLUSTER INFO|ACL LIST',
    'CONFIG GET *|CONFIG GET dir|CONFIG SET maxmemory 1|CONFIG RESETSTAT|SCRIPT DEBUG YES|MEMORY STATS',
  ])('refuses %s', async (commands) => {
    for (const command of commands.split('|')) {
      expect(await post('/', command.split(' ')), command).toEqual(refused(400, 'ERR Command is not available'));
    }
    expect(await ask('/ping')).toEqual(ok('PONG'));
  });

  it('allows their harmless relatives', async () => {
    expect(await post('/', ['XREAD', 'STREAMS', 'BLOCK', '0'])).toEqual(ok(null));
    expect(await post('/', ['ECHO', 'x'])).toEqual(ok('x'));
    expect(await post('/', ['CONFIG', 'GET', 'notify-keyspace-events'])).toEqual(ok(['notify-keyspace-events', '']));
    expect(await post('/', ['SCRIPT', 'KILL'])).toEqual(refused(400, 'NOTBUSY'));
    expect(await post('/', ['WAIT', '1', '0'])).toEqual(ok(0));
    expect(await post('/', ['PUBLISH', 'a', 'b'])).toEqual(ok(0));
  });
});

async function rawRequest(head: string): Promise<string> {
  const socket = connect(upstash.rest.port, '127.0.0.1');
  socket.write(`${head}\r\nhost: a\r\nauthorization: Bearer ${upstash.token}\r\nconnection: close\r\n\r\n`);
  return text(socket);
}
