import type { Environment } from './config.ts';
import { ConfigError } from './errors.ts';
import { isObject } from './json.ts';

/* Who may use the API, and for what: the list in API_TOKENS. It holds the tokens' digests, never a token. */

/** `read`: looking. `submit`: what makes, ends or repeats jobs and deliveries. `admin`: accounts and endpoints. */
export type Scope = 'read' | 'submit' | 'admin';

export const scopes: readonly Scope[] = ['read', 'submit', 'admin'];

/** One bearer token's digest, whose it is and what it may do. */
export interface TokenEntry {
  owner: string;
  /** SHA-256 of the token, lower-case hex. */
  sha256: string;
  /** All of them where the entry names none. */
  scopes: readonly Scope[];
  /** For people: stands in the log beside what was done with it. */
  name?: string;
  /** From then on it is nobody's, ms since 1970. */
  expiresAtMs?: number;
}

/** The entries of API_TOKENS. Throws a ConfigError that tells which entry is wrong in what, and never shows a value. */
export function readTokens(environment: Environment): TokenEntry[] {
  const text = environment.API_TOKENS;
  if (text === undefined || text === '') throw wrong('is missing');
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    throw wrong('is not JSON');
  }
  if (!Array.isArray(entries)) throw wrong('is not a list');
  return entries.map((entry: unknown, index) => readEntry(isObject(entry) ? entry : {}, `entry ${index + 1}`));
}

function readEntry(given: Readonly<Record<string, unknown>>, entry: string): TokenEntry {
  const { owner, sha256, name } = given;
  if (typeof owner !== 'string' || !/^[\w.-]{1,64}$/.test(owner))
    throw wrong(`${entry} has no valid owner (1 to 64 of A-Z a-z 0-9 _ . -)`);
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256)) throw wrong(`${entry} has no valid sha256`);
  if (name !== undefined && (typeof name !== 'string' || !/^[\w. -]{1,64}$/.test(name)))
    throw wrong(`${entry} has no valid name (1 to 64 of A-Z a-z 0-9 _ . - and blanks)`);
  // A misspelt limit would be none at all.
  const misspelt = Object.keys(given).find(
    (key) => /scope|expir/i.test(key) && !['scopes', 'expires_at'].includes(key),
  );
  if (misspelt !== undefined)
    throw wrong(`${entry} has a field that is neither scopes nor expires_at but looks like it`);
  return {
    owner,
    sha256: sha256.toLowerCase(),
    scopes: readScopes(given.scopes, entry),
    ...(name === undefined ? {} : { name }),
    ...(given.expires_at === undefined ? {} : { expiresAtMs: readTime(given.expires_at, entry) }),
  };
}

function readScopes(given: unknown, entry: string): readonly Scope[] {
  if (given === undefined) return scopes;
  const named = Array.isArray(given) ? given : [];
  if (named.length === 0 || !named.every((name) => scopes.includes(name)))
    throw wrong(`${entry} has no valid scopes (a list of read, submit, admin; left out for all of them)`);
  return scopes.filter((scope) => named.includes(scope));
}

function readTime(given: unknown, entry: string): number {
  const whole = typeof given === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(given);
  const atMs = whole ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(atMs)) throw wrong(`${entry} has no valid expires_at (such as 2027-01-31T00:00:00Z)`);
  return atMs;
}

function wrong(what: string): ConfigError {
  const example = '[{"owner":"acme","sha256":"<64 hex digits of the token\'s SHA-256>","scopes":["read","submit"]}]';
  return new ConfigError(`API_TOKENS ${what}; expected ${example}`);
}
