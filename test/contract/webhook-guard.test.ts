import { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { checkTarget } from '../../lib/webhooks/guard.ts';
import { dnsResolve, systemResolve } from '../../lib/webhooks/resolve.ts';
import { type SendPorts, sendWebhook } from '../../lib/webhooks/send.ts';
import { clock } from '../../lib/wire/process.ts';
import { type LoopbackDns, startLoopbackDns } from '../support/loopback-dns.ts';
import { refusedHosts, refusedUrls } from '../support/refused-urls.ts';
import { answer, type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

/* Nothing is connected to unless every address is public: the real sender, a real resolver, and every connection counted. */

const publicAddress = '93.184.216.34';
const message = { eventId: 'evt_1', body: '{}', secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] };
let dns: LoopbackDns;
let inner: ScriptedServer;
let ports: SendPorts;
/** Where sockets were told to go. Nothing really does, unless a test says so. */
let connects: MockInstance<Socket['connect']>;
let settings: { allowLocal: boolean; ports: number[]; timeoutMs: number };

beforeAll(async () => {
  dns = await startLoopbackDns();
  inner = await startScriptedServer();
});
afterAll(() => Promise.all([dns.close(), inner.close()]));
beforeEach(() => {
  dns.asked = [];
  dns.names = {};
  inner.script(answer(200));
  ports = { clock, resolve: dnsResolve([dns.server]) };
  settings = { allowLocal: false, ports: [443, 8_443, inner.port], timeoutMs: 2_000 };
  connects = vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket) {
    setImmediate(() => this.destroy(new Error('No connection in this test.')));
    return this;
  });
});
afterEach(() => connects.mockRestore());

const send = (url: string) => sendWebhook({ ...message, url }, settings, ports);

describe('the way out', () => {
  it('T89 is shut for every refused URL: no name is asked for, no socket connects', async () => {
    const urls = [
      ...refusedHosts.map(([host]) => `https://${host}:${inner.port}/`),
      ...refusedUrls.map(([url]) => url),
    ];
    const results = await Promise.all(urls.map(send));
    expect(
      results.filter(({ fault, status }) => fault !== 'refused_url' && fault !== 'refused_address' && status === null),
    ).toEqual([]);
    expect([urls.length > 60, connects.mock.calls, dns.asked, inner.received]).toEqual([true, [], [], []]);
  });

  it.each([
    ['an inner IPv4 address', ['127.0.0.1']],
    ['a public and an inner one', [publicAddress, '127.0.0.1']],
    ['an inner and a public one', ['10.0.0.1', publicAddress]],
    ['a public IPv4 and an inner IPv6 address', [publicAddress, '::1']],
    ['IPv4 mapped into IPv6', [publicAddress, '::ffff:127.0.0.1']],
    ['IPv4 behind NAT64', ['64:ff9b::169.254.169.254']],
    ['the cloud’s metadata', ['169.254.169.254', 'fd00:ec2::254']],
  ])('T89 is shut for a name that has %s', async (_, addresses) => {
    dns.names = { 'mixed.example.com': [addresses] };
    expect(await send(`https://mixed.example.com:${inner.port}/`)).toMatchObject({
      status: null,
      fault: 'refused_address',
    });
    expect([connects.mock.calls, inner.received]).toEqual([[], []]);
  });

  it('T89 is shut when a name that was public at the check is an inner one at the attempt (rebinding)', async () => {
    dns.names = { 'rebind.example.com': [[publicAddress], ['127.0.0.1']] };
    const url = `https://rebind.example.com:${inner.port}/`;
    expect(await checkTarget(url, settings, ports.resolve)).toMatchObject({ kind: 'ok', addresses: [publicAddress] });
    expect(await send(url)).toMatchObject({ fault: 'refused_address', snippet: '' });
    expect([connects.mock.calls, inner.received]).toEqual([[], []]);
  });

  it('T89 is pinned: within an attempt the name is asked for once, and only what was checked is connected to', async () => {
    const checked = [publicAddress, '93.184.216.35', '2606:4700::1111'];
    dns.names = { 'rebind.example.com': [checked, ['127.0.0.1', '::1']] };
    expect(await send(`https://rebind.example.com:${inner.port}/`)).toMatchObject({ fault: 'connection' });
    expect(dns.asked.toSorted()).toEqual(['A rebind.example.com', 'AAAA rebind.example.com']);
    expect(connects).toHaveBeenCalledTimes(1);
    const [options] = [connects.mock.calls[0]?.[0]].flat() as unknown as [{ host: string; lookup: Lookup }];
    const found = await new Promise((resolve) => {
      options.lookup(options.host, { all: true }, (_, all) => resolve(all.map(({ address }) => address)));
    });
    expect(found).toEqual(checked);
    const first = await new Promise((resolve) => options.lookup('localhost', {}, (_, address) => resolve(address)));
    expect(first).toBe(publicAddress);
    expect(dns.asked).toHaveLength(2);
  });

  it('is shut for a name that nobody knows, and for one whose servers do not answer, in bounded time', async () => {
    expect(await send('https://nobody.example.com/')).toMatchObject({ status: null, fault: 'unresolved' });
    const silent = await startLoopbackDns();
    silent.mute();
    const startedAtMs = clock.monotonicMs();
    expect(await dnsResolve([silent.server])('silent.example.com', 200)).toEqual([]);
    expect(clock.monotonicMs() - startedAtMs).toBeLessThan(1_500);
    expect(silent.asked.length).toBeGreaterThan(0);
    await silent.close();
    expect(connects.mock.calls).toEqual([]);
  });
});

type Lookup = (
  host: string,
  options: object,
  found: (error: Error | null, addresses: { address: string }[], family?: number) => void,
) => void;

it('in local development a name is looked up as the machine does it', async () => {
  expect(await systemResolve('localhost', 3_000)).toContain('127.0.0.1');
  expect(await systemResolve('nobody.invalid', 3_000)).toEqual([]);
});
