import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemResolve } from '../../lib/webhooks/resolve.ts';
import { type SendPorts, sendWebhook, userAgent, type WebhookMessage } from '../../lib/webhooks/send.ts';
import { newSecret } from '../../lib/webhooks/sign.ts';
import { clock } from '../../lib/wire/process.ts';
import { ownCertificate } from '../support/own-certificate.ts';
import {
  type Answer,
  answer,
  drip,
  flood,
  hang,
  head,
  raw,
  rawThenClose,
  reset,
  type ScriptedServer,
  startScriptedServer,
} from '../support/scripted-server.ts';

/* One attempt of the real sender at receivers of every kind. */

const secrets = [newSecret((count) => Buffer.alloc(count, 1)), newSecret((count) => Buffer.alloc(count, 2))];
const usual: WebhookMessage = { url: '', eventId: 'evt_abc', body: '{"type":"job.completed"}', secrets };
const settings = { allowLocal: true, ports: [443], timeoutMs: 5_000 };
const ports: SendPorts = { clock, resolve: systemResolve };
/** The machine is shared. */
const slackMs = 1_500;
let receiver: ScriptedServer;

beforeAll(async () => {
  receiver = await startScriptedServer();
});
afterAll(() => receiver.close());
beforeEach(() => receiver.script(answer(204)));

const send = (
  message: Partial<WebhookMessage> = {},
  timeoutMs = settings.timeoutMs,
  url = `${receiver.url}/hook?key=1`,
) => sendWebhook({ ...usual, url, ...message }, { ...settings, timeoutMs }, ports);

// The first one: nothing is open yet that another test began.
it('T115 an attempt leaves no timer, socket or question behind, however it ends', async () => {
  const before = process.getActiveResourcesInfo();
  /** What is open now and was not before. */
  const more = () => {
    const left = [...before];
    return process.getActiveResourcesInfo().filter((one) => {
      const at = left.indexOf(one);
      if (at >= 0) left.splice(at, 1);
      return at < 0 && one !== 'Immediate';
    });
  };
  const endings: [Answer, number][] = [
    [answer(200, 'ok'), 20_000],
    [reset, 20_000],
    [flood(head(200), Buffer.alloc(100_000)), 20_000],
    [drip(head(200), 'x', 20), 100],
    [hang, 100],
  ];
  for (const [ending, timeoutMs] of endings) {
    receiver.script(ending);
    await send({}, timeoutMs);
  }
  // TLS that the other side never begins.
  expect(await send({ url: `https://127.0.0.1:${receiver.port}/` }, 100)).toMatchObject({ fault: 'timeout' });
  // The receiver hears a little later that its sockets have gone. Waited for without a timer, which would be one more, and not
  // as long as any of ours would last.
  for (const untilMs = Date.now() + 1_000; more().length > 0 && Date.now() < untilMs; ) await setImmediate();
  expect(more()).toEqual([]);
});

describe('what an attempt sends', () => {
  it('T97 is the very bytes that were signed, with their right length', async () => {
    const value = { emoji: '🎬', line: 'a\u2028b', escape: '\u001b', sum: 0.1 + 0.2 };
    const body = `${JSON.stringify(value)}\u2028 `;
    const sentFromMs = Date.now();
    expect(await send({ body })).toMatchObject({ status: 204, fault: null, snippet: '', retryAfterMs: null });
    const [got] = receiver.received;
    expect(got).toMatchObject({ method: 'POST', path: '/hook?key=1', body });
    const headers = got?.headers as Record<string, string>;
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': userAgent,
      'webhook-id': 'evt_abc',
      host: `127.0.0.1:${receiver.port}`,
    });
    const second = Number(headers['webhook-timestamp']);
    expect(Math.abs(second * 1_000 - sentFromMs)).toBeLessThan(2_000 + slackMs);
    for (const secret of secrets)
      expect(new Webhook(secret).verify(body, headers, { jsonParse: false })).toBe(undefined);
    const signatures = secrets.map((secret) => {
      const signed = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
        .update(`evt_abc.${second}.`)
        .update(body);
      return `v1,${signed.digest('base64')}`;
    });
    expect(headers['webhook-signature']).toBe(signatures.join(' '));
  });

  it('names the version of the package', () => {
    const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(userAgent).toBe(`${name}/${version}`);
  });

  it('goes to the URL’s host in Host header, TLS name and certificate, whatever address it has', async () => {
    const { key, certificate } = ownCertificate('receiver.example.com');
    const seen: unknown[] = [];
    const server = createServer({ key, cert: certificate }, (request, response) => {
      seen.push([request.headers.host, (request.socket as unknown as { servername: string }).servername]);
      response.end('fine');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const to = (host: string, authorities?: string) =>
      sendWebhook({ ...usual, url: `https://${host}:${port}/` }, settings, {
        ...ports,
        // The first does not answer on this port: the next one is tried.
        resolve: async () => ['127.0.0.2', '127.0.0.1'],
        ...(authorities === undefined ? {} : { authorities }),
      });
    expect(await to('receiver.example.com', certificate)).toMatchObject({ status: 200, fault: null, snippet: 'fine' });
    expect(seen).toEqual([[`receiver.example.com:${port}`, 'receiver.example.com']]);
    expect(await to('other.example.com', certificate)).toMatchObject({ status: null, fault: 'tls' });
    expect(await to('receiver.example.com')).toMatchObject({ status: null, fault: 'tls' });
    expect(seen).toHaveLength(1);
    server.close();
  });
});

describe('what an attempt comes to', () => {
  const length = (bytes: number) => head(200, { 'content-length': String(bytes) });
  const chunked = head(200, { 'transfer-encoding': 'chunked' });
  const kilobyte = Buffer.from(`400\r\n${'x'.repeat(1_024)}\r\n`);

  it.each<[string, Answer]>([
    ['is 50 MB', flood(length(50_000_000), Buffer.alloc(1_000_000, 120), 50)],
    ['never ends', flood(chunked, kilobyte)],
    ['comes one byte every two seconds', drip(`${length(999)}x`, 'x', 2_000)],
    ['comes one byte every 50 ms, for ever', drip(length(999_999), 'x', 50)],
    ['does not come', raw(length(10))],
    ['is cut off', rawThenClose(`${length(10)}x`)],
    ['is no chunk', raw(`${chunked}no chunk\r\n`)],
  ])('T93 is a success by the status alone when the body %s', async (_, endless) => {
    receiver.script(endless);
    const sentBefore = receiver.sent();
    const rssBefore = process.memoryUsage().rss;
    const { status, fault, snippet, tookMs } = await send({}, 400);
    expect([status, fault, /^x{0,500}$/.test(snippet)]).toEqual([200, null, true]);
    expect(tookMs).toBeLessThan(400 + slackMs);
    expect(receiver.sent() - sentBefore).toBeLessThan(20_000_000);
    expect(process.memoryUsage().rss - rssBefore).toBeLessThan(60_000_000);
  });

  it('T93 keeps a bounded, printable beginning of the body, without a secret in it', async () => {
    receiver.script(answer(500, `<p>\u001b[1mno ${secrets[0]}\n</p>${'x'.repeat(9_000)}`));
    const { snippet } = await send();
    expect(snippet).toMatch(/^<p> \[1mno whsec_… <\/p>x+$/);
    expect(snippet).toHaveLength(500);
    receiver.script(answer(500, gzipSync('secret'), { 'content-encoding': 'gzip' }));
    expect(await send()).toMatchObject({ status: 500, snippet: '' });
  });

  it.each<[string, Answer]>([
    ['nothing comes', hang],
    ['headers come one byte at a time', drip('HTTP/1.1 200 OK\r\nx-slow: ', 'a', 50)],
    ['only preliminary answers come', drip('', 'HTTP/1.1 103 Early Hints\r\n\r\n', 20)],
  ])('T93 is a timeout after one limit over all when %s', async (_, slow) => {
    receiver.script(slow);
    const { status, fault, tookMs } = await send({}, 300);
    expect([status, fault]).toEqual([null, 'timeout']);
    expect(tookMs).toBeGreaterThan(250);
    expect(tookMs).toBeLessThan(300 + slackMs);
  });

  it.each<[string, Answer, object]>([
    ['the connection breaks', reset, { status: null, fault: 'connection' }],
    ['no HTTP comes', raw('SSH-2.0-OpenSSH_9.6\r\n'), { status: null, fault: 'bad_answer' }],
    ['the headers are too long', raw(head(200, { long: 'x'.repeat(20_000) })), { status: null, fault: 'bad_answer' }],
    [
      'the protocol is changed',
      raw(head(101, { connection: 'upgrade', upgrade: 'x' })),
      { status: 101, fault: 'status' },
    ],
    ['it is 404', answer(404, 'who?'), { status: 404, fault: 'status', snippet: 'who?', retryAfterMs: null }],
    ['it is 410', answer(410), { status: 410, fault: 'status' }],
    ['it is 304', answer(304), { status: 304, fault: 'redirect' }],
  ])('is a failure when %s', async (_, failing, expected) => {
    receiver.script(failing);
    expect(await send()).toMatchObject(expected);
  });

  it('is a failure, and nothing throws, when nobody listens or nothing can be signed', async () => {
    expect(await send({ url: 'http://127.0.0.1:1/' })).toMatchObject({ status: null, fault: 'connection' });
    for (const wrong of [{ secrets: [] }, { secrets: ['whsec_*'] }, { eventId: 'evt\n1' }])
      expect(await send(wrong)).toMatchObject({ status: null, fault: 'unsendable' });
    expect(receiver.received).toEqual([]);
  });

  it('T89 is a failure when it redirects, and the other place gets no request', async () => {
    const other = await startScriptedServer();
    for (const status of [301, 302, 303, 307, 308]) {
      receiver.script(answer(status, 'elsewhere', { location: `${other.url}/secret` }));
      expect(await send()).toMatchObject({ status, fault: 'redirect', snippet: 'elsewhere' });
      expect(receiver.received).toHaveLength(1);
    }
    expect(other.received).toEqual([]);
    await other.close();
  });

  it('T98 tells how long the receiver asks to wait, in both forms, a day at most', async () => {
    const date = new Date().toUTCString();
    const inAnHour = new Date(Date.parse(date) + 3_600_000).toUTCString();
    const waits: [number, Record<string, string>, number | null][] = [
      [429, { 'retry-after': '120' }, 120_000],
      [503, { 'retry-after': inAnHour, date }, 3_600_000],
      [429, { 'retry-after': '9999999' }, 86_400_000],
      [429, { 'retry-after': 'soon' }, null],
      [429, { 'ratelimit-reset': '60' }, null],
      [200, { 'retry-after': '120' }, null],
    ];
    for (const [status, headers, expected] of waits) {
      receiver.script(answer(status, '', headers));
      expect((await send()).retryAfterMs).toBe(expected);
    }
    receiver.script(answer(503, '', { 'retry-after': inAnHour }));
    expect((await send()).retryAfterMs).toBeGreaterThan(3_500_000);
  });
});
