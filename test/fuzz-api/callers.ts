import { createHash } from 'node:crypto';
import * as fc from 'fast-check';

/* Who calls: tokens that are good for something, and all kinds of headers that hold none of them. */

const caller = (owner: string, name: string, scopes: readonly string[]) => ({
  owner,
  name,
  scopes,
  token: `pk_${name}_0123456789abcdef`,
});

const everything = ['read', 'submit', 'admin'];
const callers = [
  caller('acme', 'acme-all', everything),
  caller('acme', 'acme-read', ['read']),
  caller('acme', 'acme-submit', ['submit']),
  caller('globex', 'globex-all', everything),
];
/** Good once. */
const expired = { ...caller('acme', 'acme-old', everything), expiresAt: '2020-01-01T00:00:00Z' };

/** The value of API_TOKENS. */
export const apiTokens = JSON.stringify(
  [...callers, { ...expired }].map(({ owner, name, scopes, token, ...rest }) => ({
    ...{ owner, name, scopes, sha256: createHash('sha256').update(token).digest('hex') },
    ...('expiresAt' in rest ? { expires_at: rest.expiresAt } : {}),
  })),
);

/** What may stand in no answer and no log. */
export const tokenSecrets: readonly string[] = [...callers, expired].map(({ token }) => token);

const [first, ...others] = callers.map(({ token }) => `Bearer ${token}`) as [string, ...string[]];
const token = first.slice('Bearer '.length);

/** Values of the Authorization header; undefined for none. The first of them is the one that may do most. */
export const authorization: fc.Arbitrary<string | undefined> = fc.oneof(
  { weight: 30, arbitrary: fc.constant(first) },
  { weight: 6, arbitrary: fc.constantFrom(...others, `bearer  ${token}`, `BEARER ${token}`) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[undefined, '', ' ', 'Bearer', 'Bearer ', 'Basic YTpi', token, `Token ${token}`, `Bearer ${expired.token}`],
      ...[
        `Bearer ${token.slice(1)}`,
        `Bearer ${token}x`,
        `Bearer ${token.slice(0, -1)}é`,
        `Bearer ${'é'.repeat(token.length)}`,
      ],
      ...[
        `Bearer ${token.toUpperCase()}`,
        `Bearer ${'x'.repeat(10_240)}`,
        `Bearer ${token},Bearer ${token}`,
        `Bearer ${token} ${token}`,
      ],
      ...[
        `Bearer ${token}\0`,
        `Bearer\t${token}`,
        `Bearer "${token}"`,
        `Bearer ${'x'.repeat(token.length)}`,
        'Bearer \ud800',
      ],
    ),
  },
);
