import { Webhook } from 'standardwebhooks';

/** `whsec_` and base64 of 32 bytes. `randomBytes` gives as many as it is asked for, unpredictable ones. */
export function newSecret(randomBytes: (count: number) => Uint8Array): string {
  return `whsec_${Buffer.from(randomBytes(32)).toString('base64')}`;
}

/**
 * The headers by which a receiver knows that a body comes from us and is new: one signature for each secret, so that a
 * receiver may have any of them. `atMs` is the time of the attempt, ms since 1970.
 * Throws when there is no secret, or one is not base64. Source: Standard Webhooks.
 */
export function signatureHeaders(message: { eventId: string; body: Buffer; secrets: readonly string[]; atMs: number }) {
  const { eventId, body, secrets, atMs } = message;
  if (secrets.length === 0) throw new Error('There is no secret to sign with.');
  const at = new Date(atMs);
  return {
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(atMs / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(eventId, at, body)).join(' '),
  };
}
