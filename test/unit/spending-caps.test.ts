import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../lib/errors.ts';
import { readSpendingCaps } from '../../lib/spending-cap.ts';

describe('SPENDING_CAPS', () => {
  it('that is not set caps nobody', () => {
    expect([readSpendingCaps(undefined), readSpendingCaps(' '), readSpendingCaps('{}')]).toEqual(
      Array(3).fill(new Map()),
    );
  });

  it('is US dollars for each owner, kept in micro-dollars', () => {
    const caps = readSpendingCaps('{"acme":50,"a.b_C-9":0.07,"*":20,"__proto__":1}');
    expect([...caps]).toEqual([
      ['acme', 50_000_000],
      ['a.b_C-9', 70_000],
      ['*', 20_000_000],
      ['__proto__', 1_000_000],
    ]);
  });

  it.each([
    ['no JSON', '{', /not JSON/],
    ['a list', '[{"acme":50}]', /not an object/],
    ['a number', '50', /not an object/],
    ['an owner that is none', '{"a b":50}', /"a b" is no valid owner/],
    ['no owner', '{"":50}', /"" is no valid owner/],
    ['a pattern', '{"acme*":50}', /"acme\*" is no valid owner/],
    ['a cap of 0', '{"acme":0}', /"acme" must be a number of US dollars above 0/],
    ['a negative cap', '{"acme":50,"*":-1}', /"\*" must be a number/],
    ['a cap of next to nothing', '{"acme":1e-9}', /"acme" must be/],
    ['a cap in micro-dollars', '{"acme":50000000}', /up to 1000000/],
    ['a cap in words', '{"acme":"50"}', /"acme" must be/],
    ['no cap', '{"acme":null}', /"acme" must be/],
    ['a cap out of every range', '{"acme":1e400}', /"acme" must be/],
  ])('with %s is refused by a line that names the owner and gives an example', (_, text, message) => {
    expect(() => readSpendingCaps(text)).toThrow(ConfigError);
    expect(() => readSpendingCaps(text)).toThrow(message);
    expect(() => readSpendingCaps(text)).toThrow('expected {"acme":50,"*":20}');
  });
});
