import fc from 'fast-check';
import { Hono } from 'hono';
import type { LambdaContext, LambdaEvent } from 'hono/aws-lambda';
import { describe, expect, it } from 'vitest';
import type { AccountView } from '../../lib/account-view.ts';
import { readAccounts } from '../../lib/accounts.ts';
import { DueSetError } from '../../lib/errors.ts';
import { type ApiPorts, createApp } from '../../lib/http/app.ts';
import { serveEvents } from '../../lib/http/serve.ts';
import type { LogFields } from '../../lib/log.ts';
import { withLogContext } from '../../lib/log-context.ts';

/* What stands before the routes: ids, tokens, scopes, and requests that no framework takes. Nothing here reaches a store. */

const logged: { event: string; fields: LogFields | undefined }[] = [];
const note = (event: string, fields?: LogFields) => void logged.push({ event, fields });
const log = withLogContext({ info: note, warn: note, error: note });
const never = () => Promise.reject(new DueSetError('unreachable', 'no store here'));
const view: AccountView = { overview: never, look: never, setPaused: never };
const ports = {
  ...{
    accounts: readAccounts(undefined),
    view,
    log,
    stage: 'test',
    clock: { nowMs: () => 1_000, monotonicMs: () => 0 },
    newId: () => 'made-up',
  },
  ...{ queues: new Map(), pauses: { read: never, write: never } },
  store: { create: never, get: never, list: never, update: never },
} as unknown as ApiPorts;
const app = createApp(ports);
const serve = serveEvents(app);

interface Given {
  method?: string;
  path?: string;
  query?: string;
  headers?: Record<string, string>;
  body?: string;
  base64?: boolean;
  requestId?: unknown;
  authorizer?: Record<string, unknown>;
}

const all = { owner: 'acme', scopes: 'read submit admin', token: 'ci' };

async function call(given: Given) {
  const { method = 'GET', path = '/v1/accounts', query = '', headers = {}, requestId = 'JKJaXmPLvHcESHA=' } = given;
  const event = {
    ...{ version: '2.0', routeKey: '$default', rawPath: path, rawQueryString: query, headers },
    requestContext: {
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test' },
      ...{ domainName: 'api.test', stage: '$default', requestId },
      authorizer: { lambda: given.authorizer ?? all },
    },
    ...(given.body === undefined ? {} : { body: given.body }),
    isBase64Encoded: given.base64 ?? false,
  };
  logged.length = 0;
  const reply = await serve(event as unknown as LambdaEvent, {} as LambdaContext);
  return {
    status: reply.statusCode,
    headers: (reply.headers ?? {}) as Record<string, string>,
    body: reply.body === '' ? null : JSON.parse(reply.body),
  };
}

describe('a request', () => {
  it('has the gateway’s id on its answer, in its problem and on every line that is logged for it', async () => {
    const { headers, body } = await call({ path: '/v1/stats', query: 'token=abc' });
    expect([headers['x-request-id'], body.request_id, body.code]).toEqual([
      'JKJaXmPLvHcESHA=',
      'JKJaXmPLvHcESHA=',
      'due_set_unavailable',
    ]);
    const requestId = 'JKJaXmPLvHcESHA=';
    expect(logged).toMatchObject([
      { event: 'request_failed', fields: { requestId, route: '/v1/stats' } },
      {
        event: 'request',
        fields: { requestId, method: 'GET', route: '/v1/stats', status: 503, ms: 0, owner: 'acme', tokenName: 'ci' },
      },
    ]);
    expect(JSON.stringify(logged)).not.toContain('abc');
  });

  it.each([undefined, null, 7, '', 'a b', 'x\r\nSet-Cookie: y', 'x'.repeat(129), 'é'])(
    'is given an id of our own where the gateway’s is %j, whatever id the client sends',
    async (requestId) => {
      const headers = { 'x-request-id': 'mine' };
      const answer = await call({ path: '/nowhere', headers, requestId: requestId ?? null });
      expect([answer.headers['x-request-id'], answer.body.request_id]).toEqual(['made-up', 'made-up']);
    },
  );

  it('is logged by its route, not by its path', async () => {
    await call({ path: '/v1/accounts/my-secret-name' });
    expect(logged.at(-1)?.fields).toMatchObject({ route: '/v1/accounts/:id', status: 404 });
    await call({ path: '/v1/my-secret-name' });
    expect(logged.at(-1)?.fields).toMatchObject({ status: 404 });
    expect(JSON.stringify(logged)).not.toContain('secret');
  });

  it('by HEAD is answered like one by GET, without a body; other methods are told which there are', async () => {
    const head = await call({ method: 'HEAD', path: '/v1/accounts/none', body: '{}' });
    expect([head.status, head.body, head.headers['x-request-id']]).toEqual([404, null, 'JKJaXmPLvHcESHA=']);
    for (const [path, allow] of [
      ['/health', 'GET'],
      ['/v1/accounts', 'GET'],
      ['/v1/accounts/a/pause', 'POST'],
    ]) {
      const options = await call({ method: 'OPTIONS', path: path ?? '' });
      expect([options.status, options.headers.allow]).toEqual([405, allow]);
    }
  });
});

describe('a caller', () => {
  it('T105 without an owner is a 401 on every route that needs a token, also where there is no route', async () => {
    for (const path of ['/v1/accounts', '/v1/stats', '/v1/nothing', '/v1/jobs/batch']) {
      const { status, headers, body } = await call({ path, authorizer: {} });
      expect([status, body.code, headers['www-authenticate']]).toEqual([
        401,
        'token_invalid',
        'Bearer realm="pollkeeper"',
      ]);
    }
  });

  it('whom the authorizer can not tell now is a 503 that says when to repeat', async () => {
    const { status, headers, body } = await call({ authorizer: { unavailable: 'tokens' } });
    expect([status, body.code, headers['retry-after']]).toEqual([503, 'tokens_unavailable', '5']);
  });

  it('whose token lacks a scope is a 403 that names the scope', async () => {
    const tries: [string, string, string][] = [
      ['GET', '/v1/accounts', 'read'],
      ['GET', '/v1/accounts/sume', 'read'],
      ['GET', '/v1/stats', 'read'],
      ['POST', '/v1/accounts/sume/pause', 'admin'],
    ];
    for (const [method, path, scope] of tries) {
      const others = ['read', 'submit', 'admin'].filter((other) => other !== scope).join(' ');
      for (const scopes of [others, '', 'everything']) {
        const { status, body } = await call({ method, path, authorizer: { owner: 'acme', scopes } });
        expect([status, body.code, body.scope]).toEqual([403, 'scope_missing', scope]);
      }
      expect((await call({ method, path, authorizer: { owner: 'acme', scopes: scope } })).status).toBe(503);
      // An authorizer that does not know scopes yet.
      expect((await call({ method, path, authorizer: { owner: 'acme' } })).status).toBe(503);
    }
  });
});

it('every route but the open ones demands a token, and a scope of it: read to look, another to act', async () => {
  const open = /^\/(health|openapi\.json|v1\/hooks\/.*)$/;
  const routes = app.routes.filter(({ method, path }) => method !== 'ALL' && !open.test(path));
  expect(routes.length).toBeGreaterThan(15);
  for (const { method, path: pattern } of routes) {
    const path = pattern.replace(/:\w+/g, 'x');
    const code = async (authorizer: Record<string, unknown>) => (await call({ method, path, authorizer })).body.code;
    expect([pattern, await code({})]).toEqual([pattern, 'token_invalid']);
    expect([pattern, await code({ owner: 'acme', scopes: '' })]).toEqual([pattern, 'scope_missing']);
    const reads = (await code({ owner: 'acme', scopes: 'read' })) !== 'scope_missing';
    const isSecret = pattern.endsWith('/secret');
    expect([method, pattern, reads]).toEqual([method, pattern, method === 'GET' && !isSecret]);
  }
});

describe('a request that is none', () => {
  it.each<[string, Given, number, string]>([
    [
      'a body that is said to be base64 and is not',
      { method: 'POST', body: '{"a":1}', base64: true },
      400,
      'body_not_text',
    ],
    ['base64 that is cut off', { method: 'POST', body: 'eyJhIjoxf', base64: true }, 400, 'body_not_text'],
    ['base64 of what is not UTF-8', { method: 'POST', body: '//79', base64: true }, 400, 'body_not_text'],
    ['half a character in a header', { headers: { a: '\ud83d' } }, 400, 'header_invalid'],
    ['a line break in a header', { headers: { a: 'x\ny' } }, 400, 'header_invalid'],
    ['a blank in the name of a header', { headers: { 'a b': 'x' } }, 400, 'header_invalid'],
    ['a method that no framework takes', { method: 'TRACE' }, 405, 'method_not_allowed'],
    ['a method of other characters', { method: 'GE T' }, 405, 'method_not_allowed'],
    ['a path that is none', { path: '*' }, 400, 'path_invalid'],
    ['a percent sign that means nothing', { path: '/v1/accounts/%zz' }, 404, 'no_such_account'],
    ['bytes that are no character', { path: '/v1/accounts/%ff%fe' }, 404, 'no_such_account'],
    [
      'two tokens in one header',
      { headers: { authorization: 'Bearer a,Bearer b' }, authorizer: {} },
      401,
      'token_invalid',
    ],
  ])('with %s is answered by a problem', async (_, given, status, code) => {
    const answer = await call(given);
    expect([answer.status, answer.body.code, answer.headers['content-type']]).toEqual([
      status,
      code,
      'application/problem+json',
    ]);
    expect(answer.headers['x-request-id']).toBe('JKJaXmPLvHcESHA=');
    expect(logged.at(-1)?.event).toBe('request');
  });

  it('may have a body where none is looked at, and one in base64 that is text', async () => {
    expect((await call({ path: '/health', body: 'x' })).status).toBe(503);
    const base64 = Buffer.from('{"größe":"😀"}').toString('base64');
    const echo = new Hono();
    echo.post('/', async (context) => context.json(await context.req.text()));
    const event = { rawPath: '/', rawQueryString: '', headers: {}, body: base64, isBase64Encoded: true };
    const posted = { ...event, requestContext: { domainName: 'x', http: { method: 'POST' } } };
    const reply = await serveEvents(echo as never)(posted as never, {} as LambdaContext);
    expect(JSON.parse(reply.body)).toBe('{"größe":"😀"}');
  });

  it('whatever it is made of, never is a 500, and always has its id', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 12 });
    const given = fc.record<Given>({
      method: fc.oneof(fc.constantFrom('GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'PATCH', 'DELETE', 'CONNECT'), text),
      path: fc.oneof(
        text,
        text.map((part) => `/${part}`),
        text.map((part) => `/v1/accounts/${part}`),
        text.map((part) => `//${part}`),
      ),
      query: text,
      headers: fc.dictionary(fc.oneof(text, fc.constantFrom('content-type', 'host', 'cookie', 'content-length')), text),
      body: fc.oneof(
        text,
        text.map((part) => Buffer.from(part).toString('base64')),
      ),
      base64: fc.boolean(),
      requestId: fc.oneof(text, fc.constant('sane')),
    });
    await fc.assert(
      fc.asyncProperty(given, async (request) => {
        const { status, headers, body } = await call(request);
        expect([400, 401, 404, 405, 503]).toContain(status);
        expect(headers['x-request-id']).toBeTruthy();
        if (body !== null && status !== 503)
          expect(body).toMatchObject({ status, request_id: headers['x-request-id'] });
      }),
      { numRuns: 1_000 },
    );
  });
});
