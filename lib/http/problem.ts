import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** An answer that is an error: RFC 9457. `code` is stable and for programs, `detail` is for people. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: ContentfulStatusCode;
  readonly code: string;
  /** The header, parameter or body field that is wrong, e.g. `input.model`. */
  readonly field?: string;
  readonly extra: Record<string, string>;

  constructor(
    status: ContentfulStatusCode,
    code: string,
    detail: string,
    field?: string,
    extra: Record<string, string> = {},
  ) {
    super(detail);
    this.status = status;
    this.code = code;
    this.extra = extra;
    if (field !== undefined) this.field = field;
  }
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  402: 'Payment required',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  413: 'Content too large',
  422: 'Unprocessable content',
  500: 'Internal server error',
  503: 'Service unavailable',
};

/** Writes the problem as `application/problem+json`. */
export function answerProblem(context: Context, problem: Problem): Response {
  const { status, code, message, field, extra } = problem;
  const title = titles[status] ?? 'Error';
  const body = {
    type: `urn:pollkeeper:problem:${code}`,
    title,
    status,
    detail: message,
    code,
    ...(field === undefined ? {} : { field }),
    ...extra,
  };
  if (status === 401) context.header('WWW-Authenticate', 'Bearer realm="pollkeeper"');
  if (status === 503) context.header('Retry-After', '5');
  return context.body(JSON.stringify(body), status, { 'content-type': 'application/problem+json' });
}
