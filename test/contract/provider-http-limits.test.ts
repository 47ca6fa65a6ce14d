import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HttpClient } from '../../lib/providers/http.ts';
import {
  type Answer,
  answer,
  drip,
  flood,
  hang,
  head,
  json,
  raw,
  type ScriptedServer,
  startScriptedServer,
} from '../support/scripted-server.ts';

/* How much, and for how long, a provider may send: nothing of a stranger's may fill the memory or outlast its time. */

const limits = { connectMs: 300, totalMs: 500, bodyMax: 1_000_000 };
/** undici's own timers are only as fine as this, and the machine is shared. */
const slackMs = 1_500;
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

function connectTo(url: string): HttpClient {
  return new HttpClient(url, 4, limits, () => performance.now());
}

function send(path = '/v1/x') {
  return client.send({ method: 'GET', path, headers: {} });
}

async function timed<T>(act: () => Promise<T>): Promise<{ result: T; tookMs: number }> {
  const startedAtMs = performance.now();
  const result = await act();
  return { result, tookMs: performance.now() - startedAtMs };
}

describe('T50 the size of an answer', () => {
  const megabyte = Buffer.alloc(1_000_000, 97);

  test.each<[string, Answer]>([
    ['200 MB that announce themselves', flood(head(200, { 'content-length': '200000000' }), megabyte, 200)],
    ['an endless stream', flood(head(200, { connection: 'close' }), megabyte)],
    [
      'endless small chunks',
      flood(head(200, { 'transfer-encoding': 'chunked' }), Buffer.from(`400\r\n${'x'.repeat(1_024)}\r\n`)),
    ],
  ])('%s: stops at the cap, and memory stays flat', async (_, endless) => {
    server.script(endless);
    const before = process.memoryUsage().rss;
    expect(await send()).toMatchObject({ kind: 'failure', code: 'too_large', status: 200, deadSocket: false });
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
    expect(server.sent()).toBeLessThan(30_000_000);
  });

  test.each([
    [
      '1 MB of gzip that would be 900 MB',
      Buffer.concat(new Array(90).fill(gzipSync(Buffer.alloc(10_000_000)))),
      'gzip',
    ],
    ['100 KB of deflate that would be 100 MB', deflateSync(Buffer.alloc(100_000_000), { level: 1 }), 'deflate'],
  ])('%s: undone only up to the cap', async (_, bomb, encoding) => {
    expect(bomb.length).toBeLessThan(limits.bodyMax);
    server.script(answer(200, bomb, { 'content-encoding': encoding }));
    const before = process.memoryUsage().rss;
    const { result, tookMs } = await timed(() => send());
    expect(result).toMatchObject({ kind: 'failure', code: 'too_large', status: 200 });
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
    expect(tookMs).toBeLessThan(1_000);
  });

  test('at the cap exactly is an answer, one byte more is not', async () => {
    server.script(answer(200, megabyte), answer(200, Buffer.alloc(limits.bodyMax + 1, 97)));
    expect(await send()).toMatchObject({ kind: 'answer' });
    expect(await send()).toMatchObject({ kind: 'failure', code: 'too_large' });
  });

  test('one that is too large does not disturb the others', async () => {
    server.reply = ({ path }) => (path === '/big' ? flood(head(200), megabyte) : json({ ok: true }));
    const big = send('/big');
    const others = await Promise.all(Array.from({ length: 20 }, () => send()));
    expect(others.every((one) => one.kind === 'answer')).toBe(true);
    expect(await big).toMatchObject({ code: 'too_large' });
  });
});

describe('the time of an answer', () => {
  test.each<[string, Answer, number | undefined]>([
    ['nothing at all', hang, undefined],
    ['headers that stop half way', raw('HTTP/1.1 200 OK\r\nx-half: '), undefined],
    ['headers one byte at a time', drip('HTTP/1.1 200 OK\r\nx-slow: ', 'a', 50), undefined],
    ['a body that stops half way', raw(`${head(200, { 'content-length': '10' })}half`), 200],
    ['T50 a body of one byte every 200 ms, for ever', drip(head(200, { 'content-length': '999999' }), 'a', 200), 200],
    ['a chunk every 100 ms, for ever', drip(head(200, { 'transfer-encoding': 'chunked' }), '1\r\na\r\n', 100), 200],
  ])('%s ends at the limit', async (_, slow, status) => {
    server.script(slow);
    const { result, tookMs } = await timed(() => send());
    expect(result).toMatchObject({ kind: 'failure', code: 'timeout', deadSocket: false });
    expect('status' in result ? result.status : undefined).toBe(status);
    expect(tookMs).toBeGreaterThan(limits.totalMs - 50);
    expect(tookMs).toBeLessThan(limits.totalMs + slackMs);
    expect(server.received).toHaveLength(1);
  });

  test('a connection that is never accepted ends at the limit to connect', async () => {
    const deaf = await startDeafListener();
    const knocking = connectTo(`http://127.0.0.1:${deaf.port}`);
    const { result, tookMs } = await timed(() => knocking.send({ method: 'GET', path: '/', headers: {} }));
    expect(result).toMatchObject({ kind: 'failure', code: 'timeout', deadSocket: false });
    expect(tookMs).toBeLessThan(limits.connectMs + slackMs);
    await knocking.close();
    await deaf.close();
  });
});

/** Listens, but never accepts: its queue is full, so that a further connect gets no answer. */
async function startDeafListener(): Promise<{ port: number; close(): Promise<void> }> {
  const code = `
    const { parentPort } = require('node:worker_threads');
    const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
    });`;
  const worker = new Worker(code, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  const queue = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(queue.slice(0, 2).map((socket) => once(socket, 'connect')));
  return {
    port,
    async close() {
      for (const socket of queue) socket.destroy();
      await worker.terminate();
    },
  };
}
