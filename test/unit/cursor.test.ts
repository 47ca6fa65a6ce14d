import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCursor, writeCursor } from '../../lib/http/cursor.ts';
import { Problem } from '../../lib/http/problem.ts';
import { jobIdFor } from '../../lib/identify.ts';
import { startMs } from '../support/jobs.ts';

const position = { createdAtMs: startMs, id: jobIdFor('acme', 'key-1') };
const cursor = writeCursor(position, 'acme', 'queued');

/** What a cursor means for acme's queued jobs: its position, or the problem's code. Anything else fails the test. */
function meaning(text: string, owner = 'acme', filter = 'queued') {
  try {
    return readCursor(text, owner, filter);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect([error.status, error.field]).toEqual([400, 'cursor']);
    return error.code;
  }
}

describe('a list’s cursor', () => {
  it('leads back to its position, for its owner and filter, and goes into a URL as it is', () => {
    expect(meaning(cursor)).toEqual(position);
    expect(cursor).toMatch(/^[\w-]{1,200}$/);
    const times = fc.integer({ min: 0, max: 10 ** 14 });
    fc.assert(
      fc.property(times, fc.string(), fc.string(), fc.string(), (createdAtMs, key, owner, filter) => {
        const place = { createdAtMs, id: jobIdFor(owner, key) };
        expect(meaning(writeCursor(place, owner, filter), owner, filter)).toEqual(place);
      }),
    );
  });

  it('T107 of another owner, or of another filter, is refused', () => {
    expect(meaning(cursor, 'bolt')).toBe('cursor_invalid');
    for (const filter of ['', 'completed', 'queued ']) expect(meaning(cursor, 'acme', filter)).toBe('cursor_invalid');
    expect(meaning(writeCursor(position, 'acme', ''), 'acme', '')).toEqual(position);
    expect(meaning(writeCursor(position, 'a', 'bqueued'), 'ab', 'queued')).toBe('cursor_invalid');
  });

  it('T107 cut anywhere is refused', () => {
    for (let length = 0; length < cursor.length - 1; length++) {
      expect(meaning(cursor.slice(0, length))).toBe('cursor_invalid');
      expect(meaning(cursor.slice(cursor.length - length))).toBe('cursor_invalid');
    }
  });

  it('T107 with another position and the old seal is refused', () => {
    const parts = Buffer.from(cursor, 'base64url').toString().split('.');
    const forged = (...changed: string[]) => Buffer.from(changed.join('.')).toString('base64url');
    const [time = '', id = '', seal = ''] = parts;
    expect(meaning(forged(time, id, seal))).toEqual(position);
    for (const other of ['1', `${startMs + 1}`, `0${time}`, '-1', '1e3', 'NaN', '', '9'.repeat(16)]) {
      expect(meaning(forged(other, id, seal))).toBe('cursor_invalid');
    }
    for (const other of [jobIdFor('acme', 'key-2'), '', '..', `${id}x`]) {
      expect(meaning(forged(time, other, seal))).toBe('cursor_invalid');
    }
    expect([meaning(forged(time, id)), meaning(forged(time, id, ''))]).toEqual(['cursor_invalid', 'cursor_invalid']);
  });

  it('T107 that is not one of ours is refused, whatever it is', () => {
    for (const text of ['', ' ', '0', 'null', '../..', '😀', 'x'.repeat(10_000), '\0']) {
      expect(meaning(text)).toBe('cursor_invalid');
    }
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(meaning(text)).toBe('cursor_invalid');
      }),
      { numRuns: 1_000 },
    );
  });

  it('T107 with one character changed never leads to another position', () => {
    const alphabet = [...'ABCxyz019-_', '=', '.', ' ', 'é'];
    const places = fc.nat({ max: cursor.length - 1 });
    fc.assert(
      fc.property(places, fc.constantFrom(...alphabet), (place, character) => {
        const edited = cursor.slice(0, place) + character + cursor.slice(place + 1);
        expect(['cursor_invalid', position]).toContainEqual(meaning(edited));
      }),
      { numRuns: 1_000 },
    );
  });
});
