import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Json } from '../json.ts';

/** An answer that is an error: RFC 9457. `code` is stable and for programs, `detail` is for people. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: ContentfulStatusCode;
  readonly code: string;
  /** The header, parameter or body field that is wrong, e.g. `input.model`. */
  readonly field?: string;
  readonly extra: Readonly<Record<string, Json>>;
  /** Of the answer, besides those that its status asks for. */
  headers: Readonly<Record<string, string>> = {};

  constructor(
    status: ContentfulStatusCode,
    code: string,
    detail: string,
    field?: string,
    extra: Readonly<Record<string, Json>> = {},
  ) {
    super(detail);
    this.status = status;
    this.code = code;
    this.extra = extra;
    if (field !== undefined) this.field = field;
  }

  /** Itself, to be thrown: `throw new Problem(…).withHeaders({ Allow: 'GET' })`. */
  withHeaders(headers: Readonly<Record<string, string>>): this {
    this.headers = { ...this.headers, ...headers };
    return this;
  }
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  402: 'Payment required',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content too large',
  415: 'Unsupported media type',
  422: 'Unprocessable content',
  429: 'Too many requests',
  500: 'Internal server error',
  503: 'Service unavailable',
};

const statusHeaders: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': 'Bearer realm="pollkeeper"' },
  503: { 'Retry-After': '5' },
};

/** The problem as a JSON object, for an answer or for one item of a list. */
export function problemBody({ status, code, message, field, extra }: Problem, requestId?: string) {
  return {
    type: `urn:pollkeeper:problem:${code}`,
    title: titles[status] ?? 'Error',
    status,
    detail: message,
    code,
    ...(field === undefined ? {} : { field }),
    ...(requestId === undefined ? {} : { request_id: requestId }),
    ...extra,
  };
}

/** Writes the problem as `application/problem+json`. */
export function answerProblem(context: Context, problem: Problem): Response {
  const headers = { ...statusHeaders[problem.status], ...problem.headers };
  for (const [name, value] of Object.entries(headers)) context.header(name, value);
  const requestId: string | undefined = context.get('requestId');
  const body = JSON.stringify(problemBody(problem, requestId));
  return context.body(body, problem.status, { 'content-type': 'application/problem+json' });
}
