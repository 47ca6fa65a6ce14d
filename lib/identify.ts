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
  return `job_${digestOf([owner, idempotencyKey])}`;
}

/** The id of a job's or a batch's event of this type: however often its state is written or read, it is one event. */
export function eventIdFor(subjectId: string, type: string): string {
  return `evt_${digestOf([subjectId, type])}`;
}

/** The id of the delivery of one event to one endpoint. */
export function deliveryIdFor(eventId: string, endpointId: string): string {
  return `dlv_${digestOf([eventId, endpointId])}`;
}

/** The id of the endpoint that an owner's jobs name by this URL. */
export function endpointIdFor(owner: string, url: string): string {
  return `whe_${digestOf([owner, url])}`;
}

export function batchIdFor(owner: string, name: string): string {
  return `bat_${digestOf([owner, name])}`;
}

/** SHA-256, in hex, of the request in canonical form: equal for every spelling of the same request. */
export function fingerprintOf(request: Json): string {
  return createHash('sha256').update(canonicalJson(request)).digest('hex');
}

function digestOf(parts: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest();
  return base32(digest.subarray(0, idBytes));
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
