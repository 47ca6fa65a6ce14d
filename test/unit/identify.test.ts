import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintOf, jobIdFor, jobIdPattern } from '../../lib/identify.ts';

const texts = fc.string({ unit: 'binary', maxLength: 40 });

describe('a job’s id', () => {
  it('is decided by owner and key alone, the same on every machine and in every release', () => {
    expect(jobIdFor('acme', 'order-1')).toBe(jobIdFor('acme', 'order-1'));
    expect(jobIdFor('acme', 'order-1')).toBe('job_vrbjidesvdqy6movurxhfzm2r6zv6kdk');
  });

  it('fits the pattern whatever owner and key are, also 10 KB, NUL, emoji or half a surrogate pair', () => {
    const odd = ['', '\0', '😀', '\ud83d', 'k'.repeat(10_000), 'a:b/c{d}%2F\n'];
    for (const key of odd) expect(jobIdFor('acme', key)).toMatch(jobIdPattern);
    fc.assert(
      fc.property(texts, texts, (owner, key) => {
        expect(jobIdFor(owner, key)).toMatch(jobIdPattern);
      }),
    );
  });

  it('T13 is another for every other owner or key, however the two are joined', () => {
    const pairs = [
      ['a', 'bc'],
      ['ab', 'c'],
      ['abc', ''],
      ['', 'abc'],
      ['a"', '"bc'],
      ['a","b', 'c'],
      ['a', 'b","c'],
      ['a\0b', 'c'],
      ['a', 'b\0c'],
      ['a:b', 'c'],
      ['a', 'b:c'],
      ['\ud83d', 'x'],
      ['\ufffd', 'x'],
      ['é', 'x'],
      ['e\u0301', 'x'],
    ] as const;
    expect(new Set(pairs.map(([owner, key]) => jobIdFor(owner, key))).size).toBe(pairs.length);
    fc.assert(
      fc.property(texts, texts, texts, (left, middle, right) => {
        fc.pre(middle !== '');
        expect(jobIdFor(left + middle, right)).not.toBe(jobIdFor(left, middle + right));
      }),
      { numRuns: 1_000 },
    );
  });

  it('does not fit the pattern when a character is missing, too many or outside of the alphabet', () => {
    const id = jobIdFor('acme', 'order-1');
    const wrong = [id.slice(0, -1), `${id}a`, id.toUpperCase(), `${id.slice(0, -1)}1`, `${id}\n`, ` ${id}`, '..', ''];
    expect(wrong.filter((text) => jobIdPattern.test(text))).toEqual([]);
  });
});

describe('a request’s fingerprint', () => {
  it('is SHA-256 in hex, equal for every spelling of one request and different for any other', () => {
    const request = { input: { model: 'm', prompt: 'p', duration: 8 }, deadline_seconds: 60, metadata: {} };
    const spelt = JSON.parse('{"metadata":{},"deadline_seconds":60,"input":{"duration":8.0,"prompt":"p","model":"m"}}');
    expect(fingerprintOf(request)).toMatch(/^[0-9a-f]{64}$/);
    expect(fingerprintOf(spelt)).toBe(fingerprintOf(request));
    expect(fingerprintOf({ ...request, deadline_seconds: 61 })).not.toBe(fingerprintOf(request));
    expect(fingerprintOf({ ...request, input: { ...request.input, duration: '8' } })).not.toBe(fingerprintOf(request));
  });
});
