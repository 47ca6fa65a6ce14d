import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readIdempotencyKey } from '../../lib/http/idempotency-key.ts';
import { Problem } from '../../lib/http/problem.ts';

/** The key that a header gives, or the code of the problem. */
function meaning(header: string | undefined): string {
  try {
    return `key ${readIdempotencyKey(header)}`;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect([error.status, error.field]).toEqual([400, 'Idempotency-Key']);
    return error.code;
  }
}

describe('an Idempotency-Key header', () => {
  it.each([
    ['a plain key', 'order-1', 'key order-1'],
    ['blanks around', '  order-1\t', 'key order-1'],
    ['the quotes of a structured field', '"order-1"', 'key order-1'],
    ['a UUID', '0b1f6a5e-8f5c-4d4e-9f0b-0a4d2f7b1c11', 'key 0b1f6a5e-8f5c-4d4e-9f0b-0a4d2f7b1c11'],
    ['odd but visible characters', 'a:b/c{d}%2F;=?', 'key a:b/c{d}%2F;=?'],
    ['255 characters', 'k'.repeat(255), `key ${'k'.repeat(255)}`],
    ['no value', undefined, 'idempotency_key_missing'],
    ['nothing in it', '', 'idempotency_key_missing'],
    ['blanks only', ' \t ', 'idempotency_key_missing'],
    ['256 characters', 'k'.repeat(256), 'idempotency_key_invalid'],
    ['300 characters', 'k'.repeat(300), 'idempotency_key_invalid'],
    ['nothing between quotes', '""', 'idempotency_key_invalid'],
    ['a lone quote', '"', 'idempotency_key_invalid'],
    ['a quote at one end', '"order-1', 'idempotency_key_invalid'],
    ['quotes in quotes', '"a"b"', 'idempotency_key_invalid'],
    ['a backslash', 'a\\b', 'idempotency_key_invalid'],
    ['a blank in it', 'order 1', 'idempotency_key_invalid'],
    ['two values joined by a gateway', 'order-1,order-1', 'idempotency_key_invalid'],
    ['two quoted values joined', '"order-1", "order-1"', 'idempotency_key_invalid'],
    ['a NUL', 'a\0b', 'idempotency_key_invalid'],
    ['a line end in it', 'a\nb', 'idempotency_key_invalid'],
    ['DEL', 'a\x7f', 'idempotency_key_invalid'],
    ['an emoji', 'order-😀', 'idempotency_key_invalid'],
    ['Latin-1', 'ordér', 'idempotency_key_invalid'],
  ])('T66 with %s is read or refused as documented', (_name, header, expected) => {
    expect(meaning(header)).toBe(expected);
  });

  it('T66 of any text is a bounded key of visible ASCII, or refused', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ maxLength: 400 })), (header) => {
        expect(meaning(header)).toMatch(/^(key [\x21-\x7e]{1,255}|idempotency_key_(missing|invalid))$/);
      }),
      { numRuns: 1_000 },
    );
  });
});
