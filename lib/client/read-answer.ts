import { PollkeeperError, type ProblemBody } from './error.ts';

/** What came back, read to its end. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

const retryableStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** The JSON of a good answer; null for one without a body, such as 204 and 304. Throws a PollkeeperError for any other. */
export function readAnswer({ status, headers, text }: Answer, nowMs: number): unknown {
  const requestId = requestIdOf(headers);
  if (status === 204 || status === 304) return null;
  if (status < 200 || status > 299) throw errorOf({ status, headers, text }, nowMs);
  const body = parse(text);
  if (body !== undefined) return body;
  throw new PollkeeperError(`The answer (status ${status}) is not JSON; is baseUrl right?`, {
    ...{ status, code: 'answer_invalid', retryable: false },
    ...(requestId === undefined ? {} : { requestId }),
  });
}

function errorOf({ status, headers, text }: Answer, nowMs: number): PollkeeperError {
  const parsed = parse(text);
  const problem = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as ProblemBody;
  // A gateway's own errors are no problem documents: {"message": "…"}.
  const detail = textOf(problem.detail) ?? textOf(problem.message);
  const field = textOf(problem.field);
  const requestId = requestIdOf(headers) ?? textOf(problem.request_id);
  const retryAfterMs = readRetryAfter(headers, nowMs);
  return new PollkeeperError(detail ?? messageFor(status), {
    status,
    code: textOf(problem.code) ?? `http_${status}`,
    retryable: retryableStatuses.has(status),
    ...(field === undefined ? {} : { field }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(problem.code === undefined ? {} : { problem }),
  });
}

/** 0 is what a browser tells of a redirect that it was asked not to follow. */
function messageFor(status: number): string {
  return status === 0 || (status >= 300 && status < 400)
    ? 'The answer is a redirect, which is not followed; is baseUrl right?'
    : `The answer has status ${status} and says nothing more.`;
}

/** Retry-After in ms from now: seconds, or an HTTP date. */
function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

function requestIdOf(headers: Headers): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
