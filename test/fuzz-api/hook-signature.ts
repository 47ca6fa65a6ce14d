import { createHmac } from 'node:crypto';
import type { Body } from './bodies.ts';

/** Stand for what can only be known when a hook is sent. */
export const timeMark = '{now}';
export const signatureMark = '{signature}';

/** The headers with their marks filled in, as the provider would. */
export function signHook(
  headers: ReadonlyMap<string, string>,
  body: Body | null,
  secret: string,
  nowMs: number,
): Map<string, string> {
  const timestamp = headers.get('x-sume-timestamp')?.replace(timeMark, String(Math.floor(nowMs / 1_000)));
  const bytes = body === null ? '' : Buffer.from(body.text, body.isBase64Encoded ? 'base64' : 'utf8');
  const signature = createHmac('sha256', secret).update(`${timestamp}.`).update(bytes).digest('hex');
  const filled = [...headers].map(([name, value]): [string, string] => {
    if (name === 'x-sume-timestamp') return [name, timestamp ?? ''];
    return [name, name === 'x-sume-signature' ? value.replace(signatureMark, `v1=${signature}`) : value];
  });
  return new Map(filled);
}
