import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from './json.ts';

const base32Alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const idBytes = 20;

/** What every job id looks like: 160 bits in 32 lower-case base32 characters (RFC 4648 alphabet). */
export const jobIdPattern = /^job_[a-z2-7]{32}$/;

/**
 * The id of the job that this owner submits under this idempotency key: always the same, on every machine. The job's
 * identity is therefore decided before anything is written, and a repeated submit can only meet its own record.
 */
export function jobIdFor(owner: string, idempotencyKey: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([owner, idempotencyKey]))
    .digest();
  return `job_${base32(digest.subarray(0, idBytes))}`;
}

/** SHA-256, in hex, of the request in canonical form: equal for every spelling of the same request. */
export function fingerprintOf(request: Json): string {
  return createHash('sha256').update(canonicalJson(request)).digest('hex');
}

function base32(bytes: Uint8Array): string {
  let bits = 0n;
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte);
  const length = (bytes.length * 8) / 5;
  let text = '';
  for (let place = length - 1; place >= 0; place--) {
    text += base32Alphabet[Number((bits >> BigInt(place * 5)) & 31n)];
  }
  return text;
}
