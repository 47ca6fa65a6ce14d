import { deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HttpClient, type HttpRequest } from '../../lib/providers/http.ts';
import {
  type Answer,
  answer,
  hang,
  head,
  json,
  raw,
  rawThenClose,
  reset,
  type ScriptedServer,
  startScriptedServer,
} from '../support/scripted-server.ts';

/* One call to a provider, against a server that keeps no rule. Real sockets, undici as it is. */

const limits = { connectMs: 300, totalMs: 500, bodyMax: 1_000_000 };
let server: ScriptedServer;
let client: HttpClient;

beforeEach(async () => {
  server = await startScriptedServer();
  client = connectTo(server.url);
});
afterEach(async () => {
  await client.close();
  await server.close();
});

/** With one connection at most, unless told, so that it is known which one a call takes. */
function connectTo(url: string, connections = 1): HttpClient {
  return new HttpClient(url, connections, limits, () => performance.now());
}

function send(given: Partial<HttpRequest> = {}) {
  return client.send({ method: 'GET', path: '/v1/x', headers: {}, ...given });
}

describe('an answer', () => {
  test('comes with its status, its text, and headers in lower case, of a repeated one the last', async () => {
    server.script(answer(418, 'naïve 🎬', { 'X-One': 'a', 'Retry-After': ['1', '2'] }));
    expect(await send()).toEqual({
      ...{ kind: 'answer', status: 418, text: 'naïve 🎬' },
      headers: { 'content-length': '11', 'x-one': 'a', 'retry-after': '2' },
      tookMs: expect.any(Number),
    });
  });

  test('reuses its connection; the body of a POST arrives as it is', async () => {
    server.script(json({}));
    await send();
    await send({ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"🎬"}' });
    expect(server.received.map(({ method, connection }) => [method, connection])).toEqual([
      ['GET', 1],
      ['POST', 1],
    ]);
    expect(server.received[1]).toMatchObject({ path: '/v1/x', body: '{"prompt":"🎬"}' });
  });

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
  ] as const)('in %s that nobody asked for is read all the same', async (encoding, pack) => {
    server.script(answer(200, pack('{"a":1}'), { 'content-encoding': encoding }));
    expect(await send()).toMatchObject({ kind: 'answer', text: '{"a":1}' });
    expect(server.received[0]?.headers).not.toHaveProperty('accept-encoding');
  });

  test('T57 that points elsewhere is not followed: the other host hears nothing', async () => {
    const other = await startScriptedServer();
    server.script(
      answer(302, '', { location: `${other.url}/v1/x` }),
      answer(307, '', { location: `${other.url}/v1/x` }),
    );
    const key = { authorization: 'Bearer secret' };
    expect(await send({ headers: key })).toMatchObject({ kind: 'answer', status: 302 });
    expect(await send({ headers: key, method: 'POST', body: '{}' })).toMatchObject({ kind: 'answer', status: 307 });
    expect(other.received).toEqual([]);
    await other.close();
  });

  test('with headers named as parts of every object is just an answer', async () => {
    server.script(
      raw('HTTP/1.1 200 OK\r\nconstructor: a\r\n__proto__: b\r\nconstructor: c\r\ncontent-length: 2\r\n\r\n{}'),
    );
    expect(await send()).toMatchObject({ kind: 'answer', status: 200, text: '{}' });
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });
});

describe('a connection that dies', () => {
  test('T52 a kept-alive one, dead at the next read: one repeat at once, and the read is answered', async () => {
    server.script(json({ n: 1 }), reset, json({ n: 2 }));
    await send();
    const startedAtMs = performance.now();
    expect(await send()).toMatchObject({ kind: 'answer', text: '{"n":2}' });
    expect(performance.now() - startedAtMs).toBeLessThan(400);
    expect(server.received.map(({ connection }) => connection)).toEqual([1, 1, 2]);
  });

  test.each([1, 4])(
    'T52 all of four kept-alive ones, dead at once: %i reads are answered all the same',
    async (reads) => {
      const own = connectTo(server.url, 4);
      const get = () => own.send({ method: 'GET', path: '/', headers: {} });
      server.script(json({}));
      await Promise.all([get(), get(), get(), get()]);
      // One turn of the loop later all four are idle.
      await new Promise((resolve) => setTimeout(resolve));
      const old = new Set(server.received.map(({ connection }) => connection));
      expect(old.size).toBe(4);
      server.reply = ({ connection }) => (old.has(connection) ? reset : json({ fresh: true }));
      const results = await Promise.all(Array.from({ length: reads }, get));
      expect(results).toMatchObject(new Array(reads).fill({ kind: 'answer', text: '{"fresh":true}' }));
      await own.close();
    },
  );

  test('T52 a kept-alive one, dead at the next POST: not repeated', async () => {
    server.script(json({ n: 1 }), reset, json({ n: 2 }));
    await send();
    expect(await send({ method: 'POST', body: '{}' })).toMatchObject({ code: 'connection', deadSocket: true });
    expect(server.received).toHaveLength(2);
  });

  test.each<[string, Answer]>([
    ['reset', reset],
    ['closed', rawThenClose('')],
    ['closed within the headers', rawThenClose('HTTP/1.1 200 OK\r\nx-half: ')],
  ])('%s each time: the read is tried twice, no more', async (_, dead) => {
    server.script(dead);
    expect(await send()).toMatchObject({ kind: 'failure', code: 'connection' });
    expect(server.received).toHaveLength(2);
  });

  test.each<[string, Answer]>([
    ['announced length', rawThenClose(`${head(200, { 'content-length': '10' })}half`)],
    ['last chunk', rawThenClose(`${head(200, { 'transfer-encoding': 'chunked' })}4\r\nhalf\r\n`)],
  ])('before the %s: the half is not taken for the whole, and nothing is repeated', async (_, cut) => {
    server.script(cut);
    expect(await send()).toMatchObject({ kind: 'failure', code: 'connection', status: 200, deadSocket: false });
    expect(server.received).toHaveLength(1);
  });

  test('refused: a failure, for reads and posts', async () => {
    const gone = await startScriptedServer();
    await gone.close();
    const knocking = connectTo(gone.url);
    const refused = { kind: 'failure', code: 'connection', deadSocket: false };
    expect(await knocking.send({ method: 'GET', path: '/', headers: {} })).toMatchObject(refused);
    expect(await knocking.send({ method: 'POST', path: '/', headers: {}, body: '{}' })).toMatchObject(refused);
    await knocking.close();
  });
});

describe('what is no answer', () => {
  test.each<[string, Answer]>([
    ['another protocol', raw('SSH-2.0-OpenSSH_9.6\r\n\r\n')],
    ['a status that is no number', raw('HTTP/1.1 abc OK\r\n\r\n')],
    ['100 KB of headers', raw(`HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(100_000)}\r\n\r\n`)],
    ['two lengths that differ', raw('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}')],
    ['a chunk of no size', raw(`${head(200, { 'transfer-encoding': 'chunked' })}zz\r\n`)],
    ['another protocol to switch to', raw('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')],
  ])('%s is a failure, and the next call works', async (_, nonsense) => {
    server.script(nonsense);
    expect(await send()).toMatchObject({ kind: 'failure', code: 'connection' });
    server.script(json({ ok: true }));
    expect(await send()).toMatchObject({ kind: 'answer' });
  });

  test('gzip that is none, or cut off, is a failure', async () => {
    const packed = gzipSync('{"a":1}'.repeat(100));
    for (const body of [Buffer.from('{"a":1}'), packed.subarray(0, packed.length - 9)]) {
      server.script(answer(200, body, { 'content-encoding': 'gzip' }));
      expect(await send()).toMatchObject({ kind: 'failure', code: 'undecodable', status: 200 });
    }
  });

  test.each<[string, Partial<HttpRequest>]>([
    ['a header of two lines', { headers: { 'x-bad': 'two\nlines' } }],
    ['a path without a slash', { path: 'no slash' }],
  ])('%s cannot be sent: a failure and no rejection', async (_, bad) => {
    expect(await send(bad)).toMatchObject({ kind: 'failure', code: 'connection', deadSocket: false });
    expect(server.received).toEqual([]);
  });

  test('a client already closed, or closed in the middle of a call, fails it and rejects nothing', async () => {
    server.script(hang);
    const waiting = send();
    while (server.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await client.close();
    expect(await waiting).toMatchObject({ kind: 'failure', code: 'connection', deadSocket: false });
    expect(await send()).toMatchObject({ kind: 'failure', code: 'connection', deadSocket: false });
    expect(server.received).toHaveLength(1);
    client = connectTo(server.url);
  });
});
