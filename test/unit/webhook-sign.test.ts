import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { newSecret, signatureHeaders } from '../../lib/webhooks/sign.ts';

const eventId = 'evt_abcdefghijklmnopqrstuvwxyz234567';
const atMs = 1_796_034_284_999;

describe('a webhook’s signature', () => {
  it('T97 is the HMAC-SHA256 of id, second and the very bytes of the body, by a hand-made check', () => {
    const secret = newSecret(randomBytes);
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    for (const text of ['{}', '', '{"emoji":"🎬","line":"\u2028","escape":"\u001b","sum":0.30000000000000004}']) {
      const body = Buffer.from(text);
      const expected = createHmac('sha256', key).update(`${eventId}.1796034284.`).update(body).digest('base64');
      expect(signatureHeaders({ eventId, body, secrets: [secret], atMs })).toEqual({
        'webhook-id': eventId,
        'webhook-timestamp': '1796034284',
        'webhook-signature': `v1,${expected}`,
      });
    }
  });

  it('is the one of the specification’s own example', () => {
    const headers = signatureHeaders({
      eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      body: Buffer.from('{"test": 2432232314}'),
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      atMs: 1_614_265_330_000,
    });
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('is there once for each secret, so that a receiver with any one of them accepts it', () => {
    const secrets = [newSecret(randomBytes), newSecret(randomBytes)];
    const body = Buffer.from('{"a":"ü"}');
    const headers = signatureHeaders({ eventId, body, secrets, atMs: Date.now() });
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
    for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual({ a: 'ü' });
    expect(() => new Webhook(newSecret(randomBytes)).verify(body, headers)).toThrow();
  });

  it('can’t be made without a secret, or with one that is none', () => {
    for (const secrets of [[], ['whsec_'], ['whsec_***']])
      expect(() => signatureHeaders({ eventId, body: Buffer.from('{}'), secrets, atMs })).toThrow();
  });
});

describe('a new secret', () => {
  it('is whsec_ and the base64 of 32 bytes that come by the door', () => {
    const secret = newSecret((count) => new Uint8Array(count).fill(0xfb));
    expect(secret).toBe(`whsec_${Buffer.alloc(32, 0xfb).toString('base64')}`);
  });
});
