import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../lib/webhooks/address.ts';
import { checkTarget, checkUrl } from '../../lib/webhooks/guard.ts';
import { refusedHosts, refusedUrls } from '../support/refused-urls.ts';

const usual = { allowLocal: false, ports: [443, 8443] };
const local = { ...usual, allowLocal: true };

/** `ok`, or why not. */
function verdict(text: string, settings = usual): string {
  const checked = checkUrl(text, settings);
  return checked.kind === 'ok' ? 'ok' : checked.reason;
}

describe('a webhook’s URL', () => {
  it.each(refusedHosts)('T89 with the host %s is refused', (host, reason) => {
    for (const rest of ['/hook', ':8443/hook?key=1#part']) expect(verdict(`https://${host}${rest}`)).toBe(reason);
  });

  it.each(refusedUrls)('T89 that is %j is refused', (url, reason) => {
    expect(verdict(url)).toBe(reason);
  });

  it('T89 that is refused is explained in one sentence that repeats nothing of it', () => {
    for (const [url] of [...refusedUrls, ['https://user:hunter2@10.0.0.7:99/deep-secret']]) {
      const checked = checkUrl(url as string, usual);
      expect(checked).toMatchObject({ kind: 'refused', detail: expect.stringMatching(/^The .+\.$/) });
      expect(JSON.stringify(checked)).not.toMatch(/hunter2|10\.0\.0\.7|deep-secret/);
    }
  });

  it.each([
    ['https://hooks.example.com/renders?key=1', 'https://hooks.example.com/renders?key=1'],
    ['HTTPS://Hooks.Example.COM:443', 'https://hooks.example.com/'],
    ['https://hooks.example.com:8443/a#part', 'https://hooks.example.com:8443/a'],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
    ['https://my_hooks.example.com/', 'https://my_hooks.example.com/'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
    ['https://hooks.example.com/user:pass@x', 'https://hooks.example.com/user:pass@x'],
    ['https://172.32.0.1/', 'https://172.32.0.1/'],
  ])('that is %s is taken, as %s', (given, canonical) => {
    const checked = checkUrl(given, usual);
    expect(checked.kind === 'ok' && checked.url.href).toBe(canonical);
  });

  it('may have 2,000 characters', () => {
    const longest = `https://hooks.example.com/${'a'.repeat(1_974)}`;
    expect([longest.length, verdict(longest)]).toEqual([2_000, 'ok']);
  });

  it('may have other ports where they are configured, and then only these', () => {
    const settings = { allowLocal: false, ports: [9_000] };
    expect(verdict('https://hooks.example.com:9000/', settings)).toBe('ok');
    expect(verdict('https://hooks.example.com/', settings)).toBe('port');
  });

  it('may be http, private and on any port in local development, but nothing else', () => {
    for (const url of ['http://127.0.0.1:3000/', 'http://localhost/', 'https://[::1]:1/', 'https://router/'])
      expect(verdict(url, local)).toBe('ok');
    expect(verdict('ftp://localhost/', local)).toBe('scheme');
    expect(verdict('http://user:pass@localhost/', local)).toBe('credentials');
  });

  it('never throws, and is never taken with a host that is not public', () => {
    const hosts = fc.oneof(
      fc.ipV4(),
      fc.ipV4Extended(),
      fc.ipV6().map((ip) => `[${ip}]`),
      fc.string(),
      fc.domain(),
    );
    fc.assert(
      fc.property(hosts, fc.webPath(), (host, path) => {
        const checked = checkUrl(`https://${host}${path}`, usual);
        if (checked.kind !== 'ok') return;
        const { hostname } = checked.url;
        const bare = hostname.replace(/[[\]]/g, '');
        expect(/^[a-z\d_-]+(\.[a-z\d_-]+)+$/.test(hostname) || isPublicAddress(bare)).toBe(true);
        if (/^[\d.]+$/.test(hostname)) expect(isPublicAddress(hostname)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('an address', () => {
  it('is not public with a zone, or in a spelling of its own', () => {
    const texts = [
      '2606:4700::1111%eth0',
      'fe80::1%1',
      '0x08080808',
      '8.8.8',
      '[2606:4700::1]',
      '',
      'hooks.example.com',
    ];
    expect(texts.filter(isPublicAddress)).toEqual([]);
    expect(['8.8.8.8', '2606:4700::1111', '1.1.1.1'].filter(isPublicAddress)).toHaveLength(3);
  });
});

describe('a webhook’s host', () => {
  const check = (addresses: string[], settings = usual) =>
    checkTarget('https://hooks.example.com/', settings, async () => addresses);

  it('is taken with all its addresses when each is public', async () => {
    const addresses = ['93.184.216.34', '2606:4700::1111'];
    expect(await check(addresses)).toMatchObject({ kind: 'ok', addresses });
  });

  it('T89 is refused when one of its addresses is not public, wherever it stands', async () => {
    for (const inner of ['127.0.0.1', '::1', '169.254.169.254', '::ffff:10.0.0.1', '64:ff9b::7f00:1', 'fe80::1%eth0'])
      for (const addresses of [[inner], [inner, '93.184.216.34'], ['93.184.216.34', inner]])
        expect(await check(addresses)).toMatchObject({ kind: 'refused', reason: 'address' });
    expect(await check(['127.0.0.1'], local)).toMatchObject({ kind: 'ok' });
  });

  it('is refused when it has no address', async () => {
    expect(await check([])).toMatchObject({ kind: 'refused', reason: 'unresolved' });
    expect(await check([], local)).toMatchObject({ kind: 'refused', reason: 'unresolved' });
  });

  it('is not asked for when it is an address, or the URL is refused', async () => {
    const never = () => Promise.reject(new Error('asked'));
    expect(await checkTarget('https://8.8.8.8/', usual, never)).toMatchObject({ addresses: ['8.8.8.8'] });
    expect(await checkTarget('https://[2606:4700::1]/', usual, never)).toMatchObject({ addresses: ['2606:4700::1'] });
    expect(await checkTarget('https://localhost/', usual, never)).toMatchObject({ reason: 'host' });
  });
});
