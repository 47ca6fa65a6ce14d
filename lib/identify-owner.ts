import { createHash, timingSafeEqual } from 'node:crypto';
import type { TokenEntry } from './config.ts';

/**
 * Whose bearer token an Authorization header holds; null for none of ours. Digests of equal length are compared, every
 * entry is looked at, and each comparison takes constant time: the answer's timing says nothing about the tokens.
 */
export function identifyOwner(authorization: string | undefined, tokens: readonly TokenEntry[]): string | null {
  const token = /^bearer +([\x21-\x7e]{1,512})$/i.exec(authorization?.trim() ?? '')?.[1];
  const digest = createHash('sha256')
    .update(token ?? '')
    .digest();
  let owner: string | null = null;
  for (const entry of tokens) {
    if (timingSafeEqual(digest, Buffer.from(entry.sha256, 'hex'))) owner = entry.owner;
  }
  return token === undefined ? null : owner;
}
