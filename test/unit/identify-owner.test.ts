import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bearerToken, identifyOwner } from '../../lib/identify-owner.ts';
import { readTokens } from '../../lib/tokens.ts';

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const entries = [
  { owner: 'acme', sha256: sha256('acme-token-1') },
  { owner: 'bolt', sha256: sha256('bolt-token-1') },
  // The digests of nothing and of "undefined": no request may meet them by accident.
  { owner: 'nobody', sha256: sha256('') },
  { owner: 'nobody', sha256: sha256('undefined') },
];
const tokens = readTokens({ API_TOKENS: JSON.stringify(entries) });
const nowMs = Date.UTC(2026, 10, 30);

/** As the authorizer does it. */
function ownerOf(header: string | undefined, list = tokens): string | null {
  const token = bearerToken(header);
  return token === null ? null : (identifyOwner(token, list, nowMs)?.owner ?? null);
}

describe('whose token it is', () => {
  it('is found with the scheme in any case and blanks around', () => {
    const headers = ['Bearer acme-token-1', 'bearer acme-token-1', 'BEARER   acme-token-1', '  Bearer acme-token-1 '];
    expect(headers.map((header) => ownerOf(header))).toEqual(['acme', 'acme', 'acme', 'acme']);
    expect(ownerOf('Bearer bolt-token-1')).toBe('bolt');
  });

  it('is nobody’s from the moment it expires, and any of an owner’s tokens will do', () => {
    const list = readTokens({
      API_TOKENS: JSON.stringify([
        { owner: 'acme', sha256: sha256('old'), expires_at: '2026-11-30T00:00:00Z' },
        { owner: 'acme', sha256: sha256('new'), expires_at: '2026-11-30T00:00:00.001Z', scopes: ['read'] },
      ]),
    });
    expect(identifyOwner('old', list, nowMs)).toBeNull();
    expect(identifyOwner('new', list, nowMs)).toMatchObject({ owner: 'acme', scopes: ['read'] });
    expect(identifyOwner('new', list, nowMs + 1)).toBeNull();
  });

  it.each([
    ['absent', undefined],
    ['empty', ''],
    ['the scheme alone', 'Bearer'],
    ['the scheme and blanks', 'Bearer    '],
    ['another scheme', 'Basic acme-token-1'],
    ['no scheme', 'acme-token-1'],
    ['too short', 'Bearer acme-token-'],
    ['too long', 'Bearer acme-token-11'],
    ['in another case', 'Bearer ACME-TOKEN-1'],
    ['of the same length with characters of several bytes', 'Bearer äcme-tökén-1'],
    ['two tokens', 'Bearer acme-token-1 bolt-token-1'],
    ['two headers joined', 'Bearer acme-token-1, Bearer bolt-token-1'],
    ['10 KB long', `Bearer ${'x'.repeat(10_240)}`],
    ['10 KB of blanks', `Bearer ${' '.repeat(10_240)}x`],
    ['with a control character', 'Bearer acme-token-1\0'],
    ['the digest itself', `Bearer ${sha256('acme-token-1')}`],
    ['half a surrogate pair', 'Bearer \ud83d'],
  ])('T105 is nobody’s when the header is %s, and nothing is thrown', (_name, header) => {
    expect(ownerOf(header)).toBeNull();
  });

  it('T105 is nobody’s for any other text, and for every text when there are no tokens', () => {
    const header = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.string({ maxLength: 40 }).map((text) => `Bearer ${text}`),
    );
    fc.assert(
      fc.property(header, (text) => {
        expect(ownerOf(text)).toBeNull();
        expect(ownerOf(text, [])).toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });
});
