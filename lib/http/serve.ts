import { isUtf8 } from 'node:buffer';
import type { Hono } from 'hono';
import { handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda';
import type { ApiEnv } from './app.ts';
import { Problem } from './problem.ts';

/** An event of an HTTP API, payload version 2.0, as far as it is looked at here. */
interface GatewayEvent {
  rawPath: string;
  headers?: Record<string, string | undefined>;
  cookies?: string[];
  body?: string;
  isBase64Encoded?: boolean;
  requestContext: { http: { method: string } };
  /** Put here, not by the gateway: why the app must not take it. */
  refused?: Problem;
}

/** The app as a function for Lambda. Whatever a client can send is answered by the app, if only with a problem. */
export function serveEvents(app: Hono<ApiEnv>) {
  const serve = handle(app);
  return (event: LambdaEvent, context: LambdaContext) =>
    serve(servable(event as unknown as GatewayEvent) as unknown as LambdaEvent, context);
}

/** What serveEvents found wrong with the request. */
export function refusalOf(event: LambdaEvent | undefined): Problem | undefined {
  return (event as unknown as GatewayEvent | undefined)?.refused;
}

/**
 * The event such that a Request can be made of it: the framework answers what it can't make one of with a plain text, and
 * sometimes with a 500. Cookies, and the body of a GET, mean nothing here and are left out.
 */
function servable({ cookies: _, ...event }: GatewayEvent): GatewayEvent {
  const refused = refuse(event);
  const { body, isBase64Encoded, ...rest } = event;
  const { http } = event.requestContext;
  if (refused !== null) {
    return {
      ...rest,
      rawPath: '/',
      headers: {},
      // The answer to a HEAD has no body, whatever it is.
      requestContext: { ...event.requestContext, http: { ...http, method: http.method === 'HEAD' ? 'HEAD' : 'GET' } },
      refused,
    };
  }
  return /^(GET|HEAD)$/.test(http.method) ? rest : event;
}

function refuse({ rawPath, headers = {}, body, isBase64Encoded, requestContext }: GatewayEvent): Problem | null {
  const { method } = requestContext.http;
  if (!/^[A-Z]{1,20}$/.test(method) || /^(CONNECT|TRACE|TRACK)$/.test(method)) {
    return new Problem(405, 'method_not_allowed', 'This method is never taken here.', 'method');
  }
  if (!rawPath.startsWith('/') || !URL.canParse(`https://host${rawPath}`)) {
    return new Problem(400, 'path_invalid', 'The path can not be read.', 'path');
  }
  const odd = Object.entries(headers).find(([name, value = '']) => !isHeader(name, value));
  if (odd !== undefined) {
    const [name] = odd;
    const field = /^[\w-]{1,100}$/.test(name) ? name : 'headers';
    return new Problem(400, 'header_invalid', 'A header has characters that no header can have.', field);
  }
  if (isBase64Encoded === true && body !== undefined && !isText(body)) {
    return new Problem(400, 'body_not_text', 'The body must be JSON in UTF-8.', 'body');
  }
  return null;
}

function isHeader(name: string, value: string): boolean {
  return (
    /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\uffff]*$/.test(value) && !/\p{Surrogate}/u.test(value)
  );
}

/** Whether it is base64, of valid UTF-8. */
function isText(base64: string): boolean {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64) || base64.length % 4 !== 0) return false;
  return isUtf8(Buffer.from(base64, 'base64'));
}
