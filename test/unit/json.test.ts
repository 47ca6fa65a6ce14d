import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, depthOf, isObject, type Json } from '../../lib/json.ts';

const jsonValues = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

/** The same value with the keys of every object in another order. */
function reordered(value: Json): Json {
  if (Array.isArray(value)) return value.map(reordered);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reordered(inner)]),
  );
}

describe('the canonical form of a JSON value', () => {
  it('does not depend on the order of keys nor on white space', () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        const spaced = JSON.parse(JSON.stringify(reordered(value), null, 3)) as Json;
        expect(canonicalJson(spaced)).toBe(canonicalJson(value));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is JSON that means the same value', () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is another for every other value', () => {
    fc.assert(
      fc.property(jsonValues, jsonValues, (left, right) => {
        const same = isDeepStrictEqual(JSON.parse(JSON.stringify(left)), JSON.parse(JSON.stringify(right)));
        expect(canonicalJson(left) === canonicalJson(right)).toBe(same);
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps the order of a list, 1 apart from "1", null apart from absent, and an own __proto__', () => {
    const texts = ['[1,2]', '[2,1]', '{"a":1}', '{"a":"1"}', '{}', '{"a":null}', '[]', '[[]]', '"{}"', 'null', '""'];
    const forms = [...texts, '{"__proto__":{"a":1}}'].map((text) => canonicalJson(JSON.parse(text)));
    expect(new Set(forms).size).toBe(texts.length + 1);
    expect(canonicalJson(JSON.parse('{ "b": [1, {"d": 2, "c": 3}], "a": 1.0, "__proto__": 1e1 }'))).toBe(
      '{"__proto__":10,"a":1,"b":[1,{"c":3,"d":2}]}',
    );
  });

  it('sorts keys by code unit, not by the machine’s language', () => {
    expect(canonicalJson({ é: 1, z: 2, Z: 3, '10': 4, '9': 5, '😀': 6 })).toBe(
      '{"10":4,"9":5,"Z":3,"z":2,"é":1,"😀":6}',
    );
  });
});

describe('how deep a JSON value nests', () => {
  it('is 0 for a scalar, 1 for what holds only scalars, and the deepest branch counts', () => {
    const texts = ['null', '1', '"[[["', '[]', '{}', '[1,"a"]', '{"a":[]}', '[1,[2,[3]],[]]', '{"a":{"b":{"c":0}}}'];
    expect(texts.map((text) => depthOf(JSON.parse(text), 100))).toEqual([0, 0, 0, 1, 1, 1, 2, 3, 3]);
  });

  it('T72 costs no stack at 100,000 levels, and is counted one past the limit only', () => {
    const lists = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    const objects = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);
    expect([depthOf(lists, 32), depthOf(objects, 32)]).toEqual([33, 33]);
    expect(depthOf(lists, 1e9)).toBe(100_000);
  });

  it('agrees with a count by recursion', () => {
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(count)) : 0;
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(depthOf(value, 100)).toBe(count(value));
      }),
    );
  });
});

it('A plain JSON object is neither null nor a list nor a scalar', () => {
  expect([{}, { a: 1 }, null, [], 'x', 1, true, undefined].map(isObject)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});
