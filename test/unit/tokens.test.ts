import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../lib/errors.ts';
import { readTokens, scopes } from '../../lib/tokens.ts';

const sha256 = 'ab'.repeat(32);
const good = { owner: 'acme', sha256 };
const read = (...entries: unknown[]) => readTokens({ API_TOKENS: JSON.stringify(entries) });

function refusal(entry: unknown): string {
  try {
    read(good, entry);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error('nothing was refused');
}

describe('the list of tokens', () => {
  it('has owners and digests, in lower case, and all scopes where none is named', () => {
    const entries = [
      { owner: 'acme', sha256: sha256.toUpperCase() },
      { owner: 'a.b_C-9', sha256, note: 'ignored' },
    ];
    expect(read(...entries)).toEqual([
      { owner: 'acme', sha256, scopes },
      { owner: 'a.b_C-9', sha256, scopes },
    ]);
    expect(read()).toEqual([]);
  });

  it('may say what a token is for, how it is called and when it ends; an owner may have several', () => {
    const ci = {
      ...good,
      scopes: ['submit', 'read', 'read'],
      name: 'CI of main',
      expires_at: '2027-01-31T02:00:00+02:00',
    };
    expect(read(good, ci)).toEqual([
      { ...good, scopes },
      { ...good, scopes: ['read', 'submit'], name: 'CI of main', expiresAtMs: Date.UTC(2027, 0, 31) },
    ]);
  });

  it.each([
    ['owner', ['', 'a b', 'x'.repeat(65), 7, null, ['acme']]],
    ['sha256', ['', 'ab', sha256.slice(1), `${sha256}a`, 'z'.repeat(64), 7, null]],
    ['scopes', [[], 'read', ['write'], ['read', 'Admin'], [null], null, {}]],
    ['name', ['', 'a\nb', 'x'.repeat(65), 7, null]],
    ['expires_at', ['', 'tomorrow', '2027-01-31', '2027-01-31T00:00:00', '2027-13-01T00:00:00Z', 1_800_000_000, null]],
  ])('says which entry has no valid %s, and shows nothing of it', (field, values) => {
    for (const value of values) {
      const message = refusal({ ...good, [field]: value });
      expect(message).toContain(`entry 2 has no valid ${field}`);
      expect(message).not.toContain(sha256.slice(0, 8));
    }
  });

  it('refuses a limit that is misspelt, which would be none', () => {
    for (const name of ['scope', 'Scopes', 'expires', 'expiresAt', 'expiry']) {
      expect(refusal({ ...good, [name]: ['read'] })).toContain(
        'entry 2 has a field that is neither scopes nor expires_at',
      );
    }
  });
});
