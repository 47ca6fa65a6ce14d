import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scope } from '../../../lib/tokens.ts';

/** The secrets of one local stack: made once, kept in a file that only its owner may read. */
export interface LocalKeys {
  /** Bearer token of the HTTP API. */
  apiToken: string;
  redisToken: string;
  sumeKey: string;
}

/** Whose the API token is. */
export const localOwner = 'demo';

const names = ['apiToken', 'redisToken', 'sumeKey'] as const;

/** The keys under `dataDir`; whichever is missing or unreadable is made anew. */
export function readLocalKeys(dataDir: string): LocalKeys {
  const path = join(dataDir, 'keys.json');
  const kept = readKept(path);
  const keys = Object.fromEntries(names.map((name) => [name, kept[name] ?? makeKey(name)])) as unknown as LocalKeys;
  if (names.some((name) => kept[name] === undefined)) {
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
    renameSync(unfinished, path);
  }
  return keys;
}

/** Another owner who may use the API of this stack. */
export interface OwnerToken {
  owner: string;
  token: string;
  /** All of them without. */
  scopes?: readonly Scope[];
}

/** What the authorizer is told of the tokens: their digests, never the tokens. */
export function tokenList(keys: LocalKeys, others: readonly OwnerToken[] = []): string {
  const all: OwnerToken[] = [{ owner: localOwner, token: keys.apiToken }, ...others];
  return JSON.stringify(
    all.map(({ token, ...entry }) => ({ ...entry, sha256: createHash('sha256').update(token).digest('hex') })),
  );
}

function makeKey(name: (typeof names)[number]): string {
  const prefixes = { apiToken: 'pk_local', redisToken: 'redis_local', sumeKey: 'sume_local' };
  return `${prefixes[name]}_${randomBytes(24).toString('hex')}`;
}

function readKept(path: string): Partial<LocalKeys> {
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    return Object.fromEntries(names.flatMap((name) => (typeof kept[name] === 'string' ? [[name, kept[name]]] : [])));
  } catch {
    return {};
  }
}
