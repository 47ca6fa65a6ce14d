import * as fc from 'fast-check';
import { nearly } from './broken.ts';
import type { ApiDocument, Route } from './document.ts';
import { oddText, oddValue } from './odd-values.ts';
import { fitting } from './values.ts';

/** A body as the gateway hands it on. */
export interface Body {
  text: string;
  /** Whether the gateway says that the text is base64; it may be wrong about it. */
  isBase64Encoded: boolean;
}

const plain = (text: string): Body => ({ text, isBase64Encoded: false });
const encoded = (text: string): Body => ({ text: Buffer.from(text).toString('base64'), isBase64Encoded: true });
/** `JSON.stringify` has no text for a value nested too deeply to be written. */
const write = (value: unknown): string => JSON.stringify(value) ?? 'null';

/** Text that is no JSON, or not quite. */
const brokenText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      ' ',
      'null',
      '{',
      '}',
      '[',
      '"',
      '{"input":',
      '{"a":1,}',
      "{'a':1}",
      '{"a":NaN}',
      '{"a":1e999}',
      '\ufeff{}',
      '\0',
      'undefined',
    ],
    ...[
      '{"input":1,"input":2}',
      '{"__proto__":{"owner":"other"}}',
      '{"a":12345678901234567890}',
      '{"a":"\\ud800"}',
      '{"a":"\\u0000"}',
    ],
    ...['[{}]', '"text"', '1', 'true', '{}{}', '// {}', '{"a":\u0001}', '<xml/>', 'a=b&c=d', '--boundary\r\n'],
  ),
  oddText,
  fc.constantFrom(100, 5_000, 100_000).map((depth) => '['.repeat(depth)),
  fc.constantFrom(100, 5_000).map((depth) => '{"a":'.repeat(depth)),
);

/** More than any route takes, or than most do. */
const huge: fc.Arbitrary<string> = fc
  .constantFrom(256 * 1024, 300_000, 1_000_000, 5_500_000)
  .map((bytes) => write({ input: { model: 'm', prompt: 'p', note: 'x'.repeat(bytes) }, items: [] }));

/** Base64 of nothing readable, and what is none though it says so. */
const brokenBase64: fc.Arbitrary<Body> = fc
  .constantFrom('!', 'e30', 'e30=', 'e30==', '=', 'AAA', 'e3 0=', '%7B%7D', '//79', 'gICA', '{}', 'e30\n')
  .map((text) => ({ text, isBase64Encoded: true }));

/** Bodies for a route: some right, most of them nearly, some nothing like it; null for none. */
export function bodiesFor(document: ApiDocument, { body }: Route): fc.Arbitrary<Body | null> {
  const right = body === undefined ? fc.constantFrom({}, {}, { a: 1 }) : fitting(document, body);
  const other = fc.oneof(oddValue.map(write), brokenText);
  return fc.oneof(
    { weight: body === undefined ? 2 : 9, arbitrary: right.map((value) => plain(write(value))) },
    { weight: body === undefined ? 1 : 8, arbitrary: nearly(right).map((value) => plain(write(value))) },
    { weight: 2, arbitrary: fc.tuple(right, fc.nat(500)).map(([value, at]) => plain(write(value).slice(0, at))) },
    { weight: 3, arbitrary: other.map(plain) },
    { weight: 2, arbitrary: fc.oneof(right.map(write), other).map(encoded) },
    { weight: 1, arbitrary: brokenBase64 },
    { weight: body === undefined ? 10 : 1, arbitrary: fc.constant(null) },
    {
      weight: 0.1 * 10,
      arbitrary: fc.oneof(
        { weight: 9, arbitrary: fc.constant(plain('{}')) },
        { weight: 1, arbitrary: huge.map(plain) },
      ),
    },
  );
}
