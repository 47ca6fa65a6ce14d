import { isIP } from 'node:net';
import { isPublicAddress } from './address.ts';
import type { Resolve } from './resolve.ts';
import type { WebhookConfig } from './webhook-config.ts';

/*
 * No way in through a URL that a user gave us: what stands in it leads to a public address, or is not called. What decides
 * is the URL as Node's own parser (WHATWG) reads it, which undoes every odd spelling of a host; the very same parsed URL is
 * what is called then. A name is resolved once, all its addresses are judged, and only these are connected to (post.ts), so
 * that a name server which answers otherwise a moment later changes nothing.
 */

export type RefusalReason =
  | 'too_long'
  | 'malformed'
  | 'scheme'
  | 'credentials'
  | 'host'
  | 'address'
  | 'port'
  | 'unresolved';

/** `detail` is one sentence for whoever gave the URL. It never repeats the URL, nor what a name resolves to. */
export interface RefusedUrl {
  kind: 'refused';
  reason: RefusalReason;
  detail: string;
}

/** `url` is in its canonical spelling, without a fragment: that is never sent. */
export type CheckedUrl = { kind: 'ok'; url: URL } | RefusedUrl;

/** `addresses`: every one that the host has. */
export type CheckedTarget = { kind: 'ok'; url: URL; addresses: string[] } | RefusedUrl;

export type GuardSettings = Pick<WebhookConfig, 'allowLocal' | 'ports'>;

/** Characters, as given and in canonical spelling. */
const urlMax = 2_000;
/** For all the addresses of a host. */
export const resolveLimitMs = 3_000;

/** Names that mean this machine, or this network. Sources: RFC 6761, 6762, 7686, 8375, 9476; ICANN's resolution on .internal. */
const localNames = new Set(
  'localhost localdomain local internal intranet private corp home lan arpa onion alt'.split(' '),
);

/** Whether this may be called, as far as its text says. */
export function checkUrl(text: string, settings: GuardSettings): CheckedUrl {
  if (text.length > urlMax) return tooLong;
  // The parser would take out or turn round some of these without a word.
  if (/[\s\p{C}\\]/u.test(text) || !/^[a-z][a-z\d+.-]*:\/\/[^/]/i.test(text) || !URL.canParse(text)) return malformed;
  const url = new URL(text);
  url.hash = '';
  if (url.href.length > urlMax) return tooLong;
  if (url.protocol !== 'https:' && !(settings.allowLocal && url.protocol === 'http:'))
    return refused('scheme', 'The URL must begin with https://.');
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text))
    return refused('credentials', 'The URL must not have a user or a password in it.');
  return settings.allowLocal
    ? { kind: 'ok', url }
    : (hostRefusal(url) ?? portRefusal(url, settings) ?? { kind: 'ok', url });
}

/** The same, and whether every address of the host is public right now. Never rejects. */
export async function checkTarget(
  text: string,
  settings: GuardSettings,
  resolve: Resolve,
  limitMs = resolveLimitMs,
): Promise<CheckedTarget> {
  const checked = checkUrl(text, settings);
  if (checked.kind === 'refused') return checked;
  const host = bareHost(checked.url);
  const addresses = isIP(host) === 0 ? await resolve(host, limitMs) : [host];
  if (addresses.length === 0)
    return refused('unresolved', 'The host of the URL has no address, or its name servers do not answer.');
  if (!settings.allowLocal && !addresses.every(isPublicAddress))
    return refused('address', 'The host of the URL has an address that is not a public one.');
  return { ...checked, addresses };
}

/** The host without the brackets around an IPv6 address. */
function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function hostRefusal(url: URL): RefusedUrl | null {
  const host = bareHost(url);
  if (isIP(host) !== 0)
    return isPublicAddress(host) ? null : refused('address', 'The URL must lead to a public address.');
  const labels = host.split('.');
  const isName = host.length <= 253 && labels.every((label) => /^[a-z\d_-]{1,63}$/.test(label));
  if (!isName || labels.length < 2)
    return refused('host', 'The host of the URL must be a full public name, such as hooks.example.com.');
  if (localNames.has(labels.at(-1) ?? ''))
    return refused('host', 'The host of the URL is a name of this machine or of a local network.');
  return null;
}

function portRefusal(url: URL, { ports }: GuardSettings): RefusedUrl | null {
  const port = url.port === '' ? 443 : Number(url.port);
  return ports.includes(port) ? null : refused('port', `The port of the URL must be ${ports.join(' or ')}.`);
}

function refused(reason: RefusalReason, detail: string): RefusedUrl {
  return { kind: 'refused', reason, detail };
}

const tooLong = refused('too_long', `The URL must have at most ${urlMax} characters.`);
const malformed = refused('malformed', 'The URL must be a whole one, such as https://hooks.example.com/renders.');
