import { usualRuntime } from './runtime.ts';

/* Checks that a webhook is ours and fresh: https://github.com/standard-webhooks/standard-webhooks */

/** A `Headers`, or a plain object as Node's and Lambda's requests have it; case does not matter. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookRequest {
  /** The body exactly as it came. Parsed and written again it is other bytes, and does not verify. */
  payload: string | Uint8Array;
  headers: WebhookHeaders;
  /** `whsec_…`; several while a secret is being rotated. */
  secret: string | readonly string[];
  /** How far `webhook-timestamp` may be from now, either way. Default 300. */
  toleranceSeconds?: number;
  /** Ms since 1970; default the clock. */
  now?: number;
}

/** More signatures than any sender needs; each costs work. */
const signaturesMax = 16;
const secretPrefix = 'whsec_';

/** Whether one of the secrets made one of the signatures, lately. Whatever is wrong with the request: false, no throw. */
export async function verifyWebhook(request: WebhookRequest): Promise<boolean> {
  try {
    return await verify(request);
  } catch {
    return false;
  }
}

async function verify({
  payload,
  headers,
  secret,
  toleranceSeconds = 300,
  now = usualRuntime.nowMs(),
}: WebhookRequest) {
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = signaturesIn(readHeader(headers, 'webhook-signature'));
  // What is signed is id, time and body with dots between: an id with a dot could be the beginning of another message.
  if (id === '' || id.includes('.') || !/^\d{1,12}$/.test(timestamp)) return false;
  // Written this way round a tolerance that is no number lets nothing through.
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= toleranceSeconds)) return false;
  const signed = join(`${id}.${timestamp}.`, payload);
  let valid = false;
  // All are tried, so that the time tells nothing of which one it was.
  for (const text of typeof secret === 'string' ? [secret] : secret) {
    const key = await importSecret(text);
    if (key === null) continue;
    for (const signature of signatures) {
      // Compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) valid = true;
    }
  }
  return valid;
}

/** Trimmed; empty when it is not there. */
export function readHeader(headers: WebhookHeaders, name: string): string {
  if (typeof headers.get === 'function') return (headers.get(name) ?? '').trim();
  const entries = Object.entries(headers as Readonly<Record<string, string | readonly string[] | undefined>>);
  const value = entries.find(([given]) => given.toLowerCase() === name)?.[1] ?? '';
  return (typeof value === 'string' ? value : value.join(' ')).trim();
}

/** Those of the one version that we can check. */
function signaturesIn(header: string): Uint8Array<ArrayBuffer>[] {
  return header
    .split(/ +/)
    .filter((entry) => entry.startsWith('v1,'))
    .slice(0, signaturesMax)
    .flatMap((entry) => decodeBase64(entry.slice('v1,'.length)) ?? []);
}

/** Null for what is no secret. */
async function importSecret(secret: string) {
  const bytes = decodeBase64(secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret);
  if (bytes === null || bytes.length === 0) return null;
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function join(head: string, payload: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const start = encoder.encode(head);
  const rest = typeof payload === 'string' ? encoder.encode(payload) : payload;
  const all = new Uint8Array(start.length + rest.length);
  all.set(start);
  all.set(rest, start.length);
  return all;
}
