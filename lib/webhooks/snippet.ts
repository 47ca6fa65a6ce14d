import { snippetMax } from './delivery.ts';

/**
 * What a receiver answered, fit to be shown: one line of printable characters, at most `snippetMax` UTF-16 units, and without a
 * secret that the receiver may have printed. `bytes` may end in the middle of a character.
 */
export function snippetOf(bytes: Uint8Array, secrets: readonly string[]): string {
  let text = new TextDecoder().decode(bytes, { stream: true });
  for (const secret of secrets) text = text.replaceAll(secret.replace(/^whsec_/, ''), '…');
  const line = text
    .replace(/whsec_[\w+/=-]*/g, 'whsec_')
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim();
  // Not half of a pair at the end.
  return line.slice(0, snippetMax).replace(/[\ud800-\udbff]$/, '');
}
