import { createHmac, timingSafeEqual } from 'node:crypto';

/*
 * Whether a call to us comes from the provider: Sume signs `<timestamp>.<body>` with HMAC-SHA256 under the workspace's signing
 * secret, and sends the time in X-Sume-Timestamp (Unix seconds) and `v1=<hex>` in X-Sume-Signature. Pure.
 */

/** A call as it came; a header is undefined where it is missing. */
export interface SignedCall {
  timestamp: string | undefined;
  /** One signature, or several with commas between: any of them may be right. */
  signature: string | undefined;
  /** The bytes of the body, exactly as they came. */
  body: Uint8Array;
}

/** A signature is good for so long before and after its own time. */
const signatureToleranceMs = 300_000;
const signaturesMax = 10;
const headerMax = 2_000;

/**
 * True when one of the signatures is made with one of the secrets (two while they are being exchanged), and the time is near.
 * Never throws, whatever came; how long it takes does not depend on how much of a signature is right.
 */
export function isSigned(
  { timestamp = '', signature = '', body }: SignedCall,
  secrets: readonly string[],
  nowMs: number,
  toleranceMs = signatureToleranceMs,
): boolean {
  if (!/^\d{1,12}$/.test(timestamp) || signature.length > headerMax) return false;
  if (!(Math.abs(nowMs - Number(timestamp) * 1000) <= toleranceMs)) return false;
  const given = signature.split(',').slice(0, signaturesMax).flatMap(digestIn);
  let matches = false;
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
    for (const digest of given) matches = timingSafeEqual(digest, expected) || matches;
  }
  return matches;
}

function digestIn(text: string): Buffer[] {
  const hex = /^v1=([0-9a-f]{64})$/i.exec(text.trim())?.[1];
  return hex === undefined ? [] : [Buffer.from(hex, 'hex')];
}
