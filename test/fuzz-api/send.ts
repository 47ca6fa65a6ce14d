import type { GivenAnswer } from './answer-check.ts';
import type { SentRequest } from './gateway-event.ts';
import { signHook } from './hook-signature.ts';
import type { KnownThings } from './known.ts';
import type { PlannedRequest } from './requests.ts';
import type { Stage } from './stage.ts';
import type { Known } from './values.ts';

/** Far more than an answer takes, also on a machine that is busy with other things. */
const answerMaxMs = 10_000;

/** The request as it goes out, with what earlier answers have told. */
export function sentRequest(
  { method, path, query, rawQuery, headers, body }: PlannedRequest,
  nth: number,
  known: KnownThings,
  hookSecret: string,
): SentRequest {
  const text = (part: string | Known) => (typeof part === 'string' ? part : known.get(part));
  const rawQueryString = rawQuery ?? query.map(([name, value]) => `${encode(name)}=${encode(text(value))}`).join('&');
  const joined = new Map<string, string>();
  for (const [name, value] of headers) joined.set(name, joined.has(name) ? `${joined.get(name)},${value}` : value);
  return {
    id: `fuzz-${nth}`,
    method,
    rawPath: path.map(text).join('/'),
    rawQueryString,
    headers: Object.fromEntries(signHook(joined, body, hookSecret, Date.now())),
    body,
  };
}

/** A lone surrogate can't be encoded; it goes as it is. */
function encode(text: string): string {
  return /\p{Surrogate}/u.test(text) ? text : encodeURIComponent(text);
}

/** The answer, or what kept it from coming. */
export async function answerInTime(stage: Stage, request: SentRequest): Promise<GivenAnswer | string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, answerMaxMs, `no answer came in ${answerMaxMs} ms`);
  });
  const thrown = (error: unknown) =>
    `it threw ${error instanceof Error ? error.stack?.split('\n').slice(0, 2).join(' ') : error}`;
  try {
    return await Promise.race([stage.answer(request).catch(thrown), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Enough of a request to see what was sent. */
export function describe({ method, rawPath, rawQueryString, headers, body }: SentRequest): string {
  const shown = Object.entries(headers).map(([name, value]) => [
    name,
    name === 'authorization' ? '…' : value.slice(0, 80),
  ]);
  const text = `${method} ${rawPath}${rawQueryString === '' ? '' : `?${rawQueryString}`}`.slice(0, 300);
  const sent = body === null ? 'no body' : `${body.isBase64Encoded ? 'base64 ' : ''}${body.text.slice(0, 400)}`;
  return `${text} ${JSON.stringify(Object.fromEntries(shown))} ${sent}`;
}
