import * as fc from 'fast-check';

/* What no caller should send. */

/** Texts that have broken programs before. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      ' ',
      '\0',
      'a\0b',
      '\ud800',
      'a\udfffb',
      '\ufeff',
      '\u2028',
      '\u202e',
      '\u{1f5fc}',
      'é',
      'ﬀ',
      '\u001b[31m',
      '\r\n',
      '\t',
    ],
    ...[
      'null',
      'true',
      '0',
      '-1',
      '1e999',
      'NaN',
      '0x10',
      '[]',
      '{}',
      '%00',
      '%ZZ',
      '..',
      '../../etc/passwd',
      '__proto__',
    ],
    ...[
      'constructor',
      'toString',
      'hasOwnProperty',
      '$ref',
      '{{7*7}}',
      '<script>',
      `'; DROP TABLE jobs; --`,
      '#',
      ',',
      '"',
    ],
    ...[
      'job_',
      'whe_',
      'dlv_',
      'bat_',
      `job_${'a'.repeat(32)}`,
      `job_${'A'.repeat(32)}`,
      'owner#x',
      'pending#x',
      '_events',
    ],
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(100, 300, 2_001, 20_001, 70_000).map((length) => 'x'.repeat(length)),
  fc.constantFrom('é', '🗼', '\ud800').map((character) => character.repeat(300)),
);

const oddNumber = fc.constantFrom(
  ...[0, -0, -1, 0.5, 1e-7, 1e21, 1e308, -1e308, 2 ** 31, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), Number.MIN_VALUE],
);

const deep = (levels: number): unknown =>
  levels === 0 ? [] : levels % 2 === 0 ? [deep(levels - 1)] : { a: deep(levels - 1) };

/** Any JSON value, and then some that are hardly one. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: oddText },
  { weight: 2, arbitrary: oddNumber },
  { weight: 2, arbitrary: fc.constantFrom(null, true, false, [], {}, [null], [[]], { a: null }, [{}]) },
  { weight: 1, arbitrary: fc.constantFrom(20, 40, 2_000).map(deep) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown> },
  { weight: 1, arbitrary: fc.constantFrom(30, 600, 2_000).map((length) => Array(length).fill('a')) },
  { weight: 1, arbitrary: fc.constantFrom(30, 600).map(manyMembers) },
);

function manyMembers(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`name${at}`, 'value']));
}

/** A member of this name in JSON text is none of the object's own in a program that is careless. */
export const oddName = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toJSON', '', ' ', 'owner', 'id', 'state'),
  oddText,
);
