import { createHash } from 'node:crypto';

/** Deeper bodies are refused: no create needs them, and they would overflow the stack of whoever walks them. */
const DEPTH_MAX = 64;
const KEY_LENGTH_MAX = 255;

/** One remembered key: what was asked with it, and the job that came of it. */
export type RememberedKey = { fingerprint: string; jobId: string };

export class TooDeepError extends Error {
  override name = 'TooDeepError';
}

/** A key is 1 to 255 visible ASCII characters. */
export function isValidKey(key: string): boolean {
  return key.length <= KEY_LENGTH_MAX && /^[\x21-\x7e]+$/.test(key);
}

/** The same for equal requests, whatever the order of their fields. Throws TooDeepError. */
export function fingerprint(target: string, body: unknown): string {
  return createHash('sha256')
    .update(`${target}\n${canonical(body, 0)}`)
    .digest('hex');
}

function canonical(value: unknown, depth: number): string {
  if (depth > DEPTH_MAX) throw new TooDeepError(`nested deeper than ${DEPTH_MAX} levels`);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
    return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item, depth + 1)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
