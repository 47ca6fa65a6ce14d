import { createHash, timingSafeEqual } from 'node:crypto';
import type { TokenEntry } from './tokens.ts';

/** The token in an Authorization header; null where there is none that could be one. */
export function bearerToken(authorization: string | undefined): string | null {
  return /^bearer +([\x21-\x7e]{1,512})$/i.exec(authorization?.trim() ?? '')?.[1] ?? null;
}

/**
 * The entry of a bearer token; null for none of ours, or for one that has expired. Digests of equal length are compared,
 * every entry is looked at, and each comparison takes constant time: the answer's timing says nothing about the tokens.
 * Of two entries with the same token the last counts.
 */
export function identifyOwner(token: string, tokens: readonly TokenEntry[], nowMs: number): TokenEntry | null {
  const digest = createHash('sha256').update(token).digest();
  let found: TokenEntry | null = null;
  for (const entry of tokens) {
    if (timingSafeEqual(digest, Buffer.from(entry.sha256, 'hex'))) found = entry;
  }
  return found?.expiresAtMs !== undefined && found.expiresAtMs <= nowMs ? null : found;
}
