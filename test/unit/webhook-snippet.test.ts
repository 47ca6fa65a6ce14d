import fc from 'fast-check';
import { expect, it } from 'vitest';
import { snippetMax } from '../../lib/webhooks/delivery.ts';
import { snippetOf } from '../../lib/webhooks/snippet.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const of = (text: string | Buffer) => snippetOf(Buffer.from(text as string), [secret]);

it('a snippet is one line without what can’t be printed', () => {
  expect(of('  <h1>No\r\n\tway</h1>\u0000\u001b[31m\u202ered\u2028 ')).toBe('<h1>No way</h1> [31m red');
  expect(of('')).toBe('');
});

it('a snippet never holds a secret that the receiver has printed, with or without its prefix, or cut off', () => {
  expect(of(`want ${secret} here`)).toBe('want whsec_… here');
  expect(of(`key=${secret.slice(6)}.`)).toBe('key=….');
  expect(of(`whsec_c29tZWJvZHkgZWxzZQ== and whsec_MfKQ9r8G`)).toBe('whsec_ and whsec_');
});

it('a snippet ends before half a character', () => {
  expect(of(Buffer.from('ab🎬').subarray(0, 4))).toBe('ab');
  expect(of(`${'a'.repeat(snippetMax - 1)}🎬`)).toBe('a'.repeat(snippetMax - 1));
});

it('a snippet is bounded and printable whatever the bytes', () => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 4_096 }), fc.string({ unit: 'binary' })), (given) => {
      const snippet = of(Buffer.from(given as string));
      expect(snippet.length).toBeLessThanOrEqual(snippetMax);
      expect(snippet).not.toMatch(/[\p{C}\n]/u);
    }),
    { numRuns: 2_000 },
  );
});
