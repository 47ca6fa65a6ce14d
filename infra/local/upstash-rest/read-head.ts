import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Target } from './parse-request.ts';
import type { Access } from './run-commands.ts';
import type { ReplyFormat } from './write-reply.ts';

export type Tokens = { token: string; readOnlyToken?: string };

/** What the request's token (`?_token=`, else `Authorization: Bearer`) may do; undefined when it is absent or wrong. */
export function readAccess(tokens: Tokens, request: IncomingMessage, target: Target): Access | undefined {
  const presented = target.token ?? /^Bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (same(presented, tokens.token)) return 'full';
  return tokens.readOnlyToken !== undefined && same(presented, tokens.readOnlyToken) ? 'read-only' : undefined;
}

/** The format that the headers ask for, or why there is none. */
export function readFormat(request: IncomingMessage, target: Target): { format: ReplyFormat } | { error: string } {
  const base64 = request.headers['upstash-encoding'] === 'base64';
  const wanted = request.headers['upstash-response-format'] ?? 'json';
  if (wanted === 'json') return { format: base64 ? 'base64' : 'json' };
  if (wanted !== 'resp2') return { error: 'ERR Upstash-Response-Format must be json or resp2' };
  if (base64) return { error: 'ERR Upstash-Encoding base64 cannot go with Upstash-Response-Format resp2' };
  if (/^\/multi-exec\/?$/.test(target.path)) return { error: 'ERR a transaction cannot be answered as resp2' };
  return { format: 'resp2' };
}

function same(presented: string, expected: string): boolean {
  const a = Buffer.from(presented);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}
