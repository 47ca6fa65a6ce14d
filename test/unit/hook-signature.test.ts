import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSigned, type SignedCall } from '../../lib/hooks/verify-signature.ts';

const nowMs = 1_800_000_000_000;
const body = Buffer.from('{"id":"evt_1","data":{"prompt":"naïve 🎬 \u2028"}}');
const seconds = (offset = 0) => String(nowMs / 1000 + offset);
const signature = (secret = 'secret-one', timestamp = seconds(), bytes: Uint8Array = body) =>
  `v1=${createHmac('sha256', secret).update(`${timestamp}.`).update(bytes).digest('hex')}`;
const call = (given: Partial<SignedCall> = {}): SignedCall => {
  const { timestamp = seconds() } = given;
  return { timestamp, signature: signature('secret-one', timestamp), body, ...given };
};
const right = signature();

describe('a signed call', () => {
  it.each<[string, SignedCall, string[]]>([
    ['as it was signed', call(), ['secret-one']],
    ['five minutes old', call({ timestamp: seconds(-300) }), ['secret-one']],
    ['five minutes ahead of us', call({ timestamp: seconds(300) }), ['secret-one']],
    ['under the newer of two secrets', call(), ['secret-old', 'secret-one']],
    ['under the older of two secrets', call(), ['secret-one', 'secret-new']],
    ['with several signatures', call({ signature: `${signature('other')}, ${right},v2=abc` }), ['secret-one']],
    ['in capitals', call({ signature: right.replace(/[a-f]/g, (digit) => digit.toUpperCase()) }), ['secret-one']],
    [
      'over bytes that are no text',
      call({ body: Buffer.from([255, 0]), signature: signature('secret-one', seconds(), Buffer.from([255, 0])) }),
      ['secret-one'],
    ],
  ])('%s is taken', (_, given, secrets) => {
    expect(isSigned(given, secrets, nowMs)).toBe(true);
  });

  it.each<[string, SignedCall]>([
    ['stale', call({ timestamp: seconds(-301) })],
    ['far in the future', call({ timestamp: seconds(301) })],
    ['without a timestamp', call({ timestamp: undefined, signature: right })],
    ['with an empty one', call({ timestamp: '' })],
    ['with one that is no number', call({ timestamp: 'now' })],
    ['with one in milliseconds', call({ timestamp: String(nowMs) })],
    ['with a sign before it', call({ timestamp: `+${seconds()}` })],
    ['with a fraction', call({ timestamp: `${seconds()}.0` })],
    ['without a signature', call({ signature: undefined })],
    ['with an empty one', call({ signature: '' })],
    ['cut short', call({ signature: right.slice(0, -1) })],
    ['too long', call({ signature: `${right}0` })],
    ['no hex', call({ signature: `v1=${'z'.repeat(64)}` })],
    ['multi-byte digits of the right length', call({ signature: `v1=${'é'.repeat(64)}` })],
    ['of another version', call({ signature: right.replace('v1', 'v2') })],
    ['behind more than ten others', call({ signature: `${'v1=00,'.repeat(10)}${right}` })],
    ['in ten kilobytes', call({ signature: `${right}${','.repeat(10_000)}` })],
    ['of another body', call({ body: Buffer.from('{}') })],
    ['of another time', call({ signature: signature('secret-one', seconds(1)) })],
    ['under another secret', call({ signature: signature('secret-two') })],
  ])('%s is refused, and nothing is thrown (T104)', (_, given) => {
    expect(isSigned(given, ['secret-one'], nowMs)).toBe(false);
  });

  it('is refused by nobody’s secret, and the tolerance can be chosen (T104)', () => {
    expect(isSigned(call(), [], nowMs)).toBe(false);
    expect(isSigned(call({ timestamp: seconds(-11) }), ['secret-one'], nowMs, 10_000)).toBe(false);
    expect(isSigned(call({ timestamp: seconds(-301) }), ['secret-one'], nowMs, 400_000)).toBe(true);
  });

  it('may hold anything at all (T104)', () => {
    const text = fc.option(fc.oneof(fc.string({ unit: 'binary', maxLength: 100 }), fc.constant(right)), {
      nil: undefined,
    });
    const anything = fc.record({
      timestamp: fc.option(text, { nil: undefined }),
      signature: text,
      body: fc.uint8Array(),
    });
    fc.assert(
      fc.property(anything, (given) => {
        expect(isSigned(given, ['secret-one'], nowMs)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});
