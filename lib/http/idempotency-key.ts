import { Problem } from './problem.ts';

const header = 'Idempotency-Key';
const keyMax = 255;

/**
 * The key of a submit, with or without the quotes of a structured-field string. A comma is refused: it is how a
 * gateway joins a header that was sent twice. Throws a Problem (400).
 */
export function readIdempotencyKey(value: string | undefined): string {
  if (value === undefined || value.trim() === '') {
    throw new Problem(
      400,
      'idempotency_key_missing',
      `Send an ${header} header, one new value per job, the same on every retry.`,
      header,
    );
  }
  const quoted = /^"(.*)"$/.exec(value.trim());
  const key = quoted?.[1] ?? value.trim();
  if (!/^[\x21-\x7e]+$/.test(key) || /[",\\]/.test(key) || key.length > keyMax) {
    const rule = `1 to ${keyMax} visible ASCII characters without comma, quote or backslash, sent once`;
    throw new Problem(400, 'idempotency_key_invalid', `The ${header} header must be ${rule}.`, header);
  }
  return key;
}
