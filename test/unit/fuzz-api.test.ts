import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerCheck } from '../fuzz-api/answer-check.ts';
import { documentOf, readDocument, routesAt } from '../fuzz-api/document.ts';
import type { SentRequest } from '../fuzz-api/gateway-event.ts';
import { KnownThings } from '../fuzz-api/known.ts';
import { readOptions } from '../fuzz-api/options.ts';
import { requestsFor } from '../fuzz-api/requests.ts';
import { secretFaults } from '../fuzz-api/secret-check.ts';
import { UsageError } from '../support/command-line.ts';

const problem = { type: 'object', properties: { code: { type: 'string' } }, required: ['code', 'status'] };
const thing = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } };
const document = documentOf({
  paths: {
    '/things/{id}': {
      get: { parameters: [{ name: 'id', in: 'path', schema: { type: 'string' } }], responses: { 200: thing, 204: {} } },
    },
    '/things/all': { post: { responses: { 200: thing } } },
  },
  components: {
    schemas: {
      Thing: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } }, required: ['at'] },
      Problem: problem,
    },
  },
});
const request: SentRequest = {
  id: 'r1',
  method: 'GET',
  rawPath: '/things/1',
  rawQueryString: '',
  headers: {},
  body: null,
};
const json = (value: unknown, type = 'application/json') => ({
  headers: { 'content-type': type, 'x-request-id': 'r1' },
  body: JSON.stringify(value),
});
const refusal = (status: number, more = {}) => ({
  statusCode: status,
  ...json({ code: 'x', status, request_id: 'r1', ...more }, 'application/problem+json'),
});

describe('the check of an answer', () => {
  const check = new AnswerCheck(document);
  const good = { statusCode: 200, ...json({ at: '2027-01-15T08:00:00.000Z' }) };

  it('finds nothing in answers that are as documented', () => {
    expect(check.faults(request, good)).toEqual([]);
    expect(check.faults(request, { ...good, statusCode: 204, body: '' })).toEqual([]);
    expect(check.faults(request, refusal(404))).toEqual([]);
    expect(check.faults({ ...request, rawPath: '/nowhere' }, refusal(404))).toEqual([]);
    expect(check.faults({ ...request, method: 'HEAD' }, { ...good, body: '' })).toEqual([]);
  });

  it.each([
    ['a 5xx', refusal(503), 'status 503'],
    ['a status that is not documented', { ...good, statusCode: 201 }, 'status 201 is not documented'],
    ['a 405 for what is documented', refusal(405), 'status 405 for a method that is documented'],
    ['no request id', { ...good, headers: { 'content-type': 'application/json' } }, 'X-Request-Id is undefined'],
    ['another form', { statusCode: 200, ...json({ at: 'now' }) }, 'the body is not as documented'],
    ['no JSON', { ...good, body: '<html>' }, 'the body is not JSON'],
    ['a body where there is none', { ...good, statusCode: 204 }, 'status 204 has a body'],
    [
      'an error that is no problem',
      { statusCode: 404, ...json({ message: 'no' }) },
      'the content type is application/json',
    ],
    ['a problem with another status', refusal(404, { status: 400 }), 'the problem says status 400'],
    ['a problem of another request', refusal(404, { request_id: 'r2' }), 'the problem says request r2'],
  ])('finds %s', (_, answer, fault) => {
    expect(check.faults(request, answer).join()).toContain(fault);
  });

  it('finds secrets in answers and logs, but for an endpoint’s where it is asked for', () => {
    const endpoint = { ...good, body: `"whsec_${'a'.repeat(44)}"` };
    const sent = { ...request, headers: { authorization: 'Bearer something' } };
    expect(secretFaults(sent, good, '', ['hidden'])).toEqual([]);
    expect(secretFaults(sent, { ...good, body: 'Bearer something' }, 'hidden', ['hidden'])).toEqual([
      ...['a secret is in the answer', 'a secret is in the log'],
    ]);
    expect(secretFaults(sent, endpoint, '', [])).toHaveLength(1);
    expect(secretFaults({ ...sent, rawPath: '/v1/endpoints/x/secret' }, endpoint, '', [])).toEqual([]);
  });
});

describe('the requests', () => {
  it('are the same for the same seed, and go to every route of the document', () => {
    const whole = readDocument();
    const some = (seed: number) => fc.sample(requestsFor(whole), { seed, numRuns: 400 });
    const requests = some(7);
    expect(some(7)).toEqual(requests);
    expect(some(8)).not.toEqual(requests);
    const known = new KnownThings();
    const hit = requests.flatMap(({ method, path }) => {
      const rawPath = path.map((part) => (typeof part === 'string' ? part : known.get(part))).join('/');
      return routesAt(whole, rawPath).filter((route) => route.method === method);
    });
    expect(new Set(hit).size).toBe(whole.routes.length);
  });

  it('are for the route with the plain path before one with a name in it, dots taken out', () => {
    const paths = (path: string) => routesAt(document, path).map((route) => route.path);
    expect([paths('/things/all'), paths('/things/./1'), paths('/things/'), paths('/things/1/2')]).toEqual([
      ...[['/things/all'], ['/things/{id}'], [], []],
    ]);
  });
});

describe('the options', () => {
  it('have defaults, and are refused with a line that tells why', () => {
    expect(readOptions([], 5)).toEqual({ help: false, json: false, requests: 20_000, seed: 5 });
    expect(readOptions(['--requests', '10', '--seed', '3', '--json'], 5)).toMatchObject({
      requests: 10,
      seed: 3,
      json: true,
    });
    for (const wrong of [['--requests', '0'], ['--seed', 'x'], ['--nonsense'], ['more']]) {
      expect(() => readOptions(wrong, 5)).toThrow(UsageError);
    }
  });
});
