import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { readWebhook } from '../../lib/client/read-webhook.ts';
import { verifyWebhook, type WebhookRequest } from '../../lib/client/verify-webhook.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const otherSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const nowMs = 1_800_000_000_000;
const seconds = nowMs / 1_000;
const id = 'evt_1';
const payload = JSON.stringify({
  type: 'job.completed',
  timestamp: '2027-01-15T08:00:00.000Z',
  data: { id: 'job_1', prompt: 'a lighthouse 🗼 \u2028 \u001B', sum: 0.1 + 0.2 },
});

/** What the maintained library makes of it. */
function sign(by = secret, { at = nowMs, text = payload } = {}): string {
  return new Webhook(by).sign(id, new Date(at), text);
}

function request(given: Partial<WebhookRequest> & { signature?: string; timestamp?: string } = {}): WebhookRequest {
  const { signature = sign(), timestamp = String(seconds), ...rest } = given;
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  return { payload, headers, secret, now: nowMs, ...rest };
}

describe('a webhook is verified', () => {
  it('as the library of the standard signs it, as text and as bytes, whatever form its headers have (T97)', async () => {
    expect(await verifyWebhook(request())).toBe(true);
    expect(await verifyWebhook(request({ payload: new TextEncoder().encode(payload) }))).toBe(true);
    expect(await verifyWebhook(request({ headers: new Headers(request().headers as Record<string, string>) }))).toBe(
      true,
    );
    const loud = { 'Webhook-Id': [id], 'WEBHOOK-TIMESTAMP': ` ${seconds} `, 'Webhook-Signature': [sign()] };
    expect(await verifyWebhook(request({ headers: loud }))).toBe(true);
  });

  it('by any of several signatures with any of several secrets (T104)', async () => {
    const rotated = `${sign(otherSecret)} ${sign()}`;
    expect(await verifyWebhook(request({ signature: rotated }))).toBe(true);
    expect(await verifyWebhook(request({ signature: rotated, secret: otherSecret }))).toBe(true);
    expect(await verifyWebhook(request({ secret: [otherSecret, secret] }))).toBe(true);
    expect(await verifyWebhook(request({ signature: `v1a,AAAA v2,BBBB v1,!!!! ${sign()}` }))).toBe(true);
    expect(await verifyWebhook(request({ secret: otherSecret }))).toBe(false);
  });

  it.each([
    ['stale', sign(secret, { at: nowMs - 301_000 }), String(seconds - 301)],
    ['from the far future', sign(secret, { at: nowMs + 301_000 }), String(seconds + 301)],
    ['with another time than was signed', sign(), String(seconds + 1)],
    ['without a time', sign(), ''],
    ['with a time that is no number', sign(), 'yesterday'],
    ['with a time in hexadecimal', sign(), `0x${seconds.toString(16)}`],
    ['with a time that is no whole number', sign(), `${seconds}.5`],
    ['with a time of a thousand digits', sign(), '9'.repeat(1_000)],
    ['without a signature', '', String(seconds)],
    ['with a signature cut short', sign().slice(0, 20), String(seconds)],
    ['with a signature that is too long', `v1,${Buffer.alloc(64).toString('base64')}`, String(seconds)],
    ['with an empty signature', 'v1,', String(seconds)],
    ['with broken base64', 'v1,a', String(seconds)],
    ['with characters that are no base64', 'v1,ÄÖÜ\u0000', String(seconds)],
    ['with an unknown version only', sign().replace('v1,', 'v9,'), String(seconds)],
    ['with its signatures joined by commas', `${sign(otherSecret)},${sign()}`, String(seconds)],
    [
      'with ten thousand wrong signatures before the right one',
      `${'v1,AAAA '.repeat(10_000)}${sign()}`,
      String(seconds),
    ],
  ])('and refused, without a throw, when it comes %s (T104)', async (_, signature, timestamp) => {
    expect(await verifyWebhook(request({ signature, timestamp }))).toBe(false);
  });

  it('and refused when body, id, secret or tolerance are not what they must be (T104)', async () => {
    expect(await verifyWebhook(request({ payload: `${payload} ` }))).toBe(false);
    expect(await verifyWebhook(request({ headers: {} }))).toBe(false);
    for (const wrong of ['', 'whsec_', 'whsec_a', 'whsec_ä', []]) {
      expect(await verifyWebhook(request({ secret: wrong })), String(wrong)).toBe(false);
    }
    expect(await verifyWebhook(request({ toleranceSeconds: Number.NaN }))).toBe(false);
    expect(await verifyWebhook(null as unknown as WebhookRequest)).toBe(false);
    const late = { timestamp: String(seconds - 301), signature: sign(secret, { at: nowMs - 301_000 }) };
    expect(await verifyWebhook(request({ ...late, toleranceSeconds: 600 }))).toBe(true);
  });

  it('and refused when its id and time are a part of what was signed as the body (T104)', async () => {
    const text = `the prompt says: .${seconds}. and goes on`;
    const at = nowMs - 3_600_000;
    const [start = '', rest = ''] = `${id}.${at / 1_000}.${text}`.split(`.${seconds}.`);
    const headers = { ...request().headers, 'webhook-id': start, 'webhook-signature': sign(secret, { at, text }) };
    expect(await verifyWebhook(request({ headers, payload: rest }))).toBe(false);
  });

  it('never by what nobody signed, and never with a throw (T104)', async () => {
    const text = fc.string({ unit: 'binary' });
    const headers = fc.record({ 'webhook-id': text, 'webhook-timestamp': text, 'webhook-signature': text });
    const check = fc.asyncProperty(headers, text, text, async (given, body, by) => {
      expect(await verifyWebhook({ payload: body, headers: given, secret: [by, secret], now: nowMs })).toBe(false);
    });
    await fc.assert(check, { numRuns: 500 });
  });
});

describe('a webhook is read', () => {
  it('as its event, with the id that is the same in every delivery', async () => {
    const event = await readWebhook(request());
    expect(event).toEqual({ id, ...JSON.parse(payload) });
  });

  it.each(['not JSON', '[]', 'null', '{"type":"job.completed"}', '{"type":1,"timestamp":"","data":{}}'])(
    'as null when it is signed but no event: %s',
    async (text) => {
      expect(await readWebhook(request({ payload: text, signature: sign(secret, { text }) }))).toBeNull();
    },
  );

  it('as null when it does not verify', async () => {
    expect(await readWebhook(request({ secret: otherSecret }))).toBeNull();
  });
});
