import * as fc from 'fast-check';
import { type Body, bodiesFor } from './bodies.ts';
import type { ApiDocument, Parameter, Route } from './document.ts';
import { oddText } from './odd-values.ts';
import { headersFor } from './request-headers.ts';
import { fitting, type Known } from './values.ts';

/** A request, but for what earlier answers will have told. */
export interface PlannedRequest {
  method: string;
  /** The parts between slashes, the first of them empty. */
  path: readonly (string | Known)[];
  query: readonly (readonly [string, string | Known])[];
  /** Sent as it is, in place of `query`. */
  rawQuery?: string;
  /** Names in lower case. */
  headers: readonly (readonly [string, string])[];
  body: Body | null;
}

/** What a name in braces stands for, by the part of the path before it. */
const kinds: Readonly<Record<string, Known['known']>> = {
  jobs: 'job',
  endpoints: 'endpoint',
  deliveries: 'delivery',
  batches: 'batch',
  accounts: 'account',
};

const knownOf = (known: Known['known']): fc.Arbitrary<Known> => fc.nat(10_000).map((pick) => ({ known, pick }));

const oddPart = fc.oneof(
  fc.constantFrom(
    '',
    '.',
    '..',
    '%2e%2e',
    '%2F',
    '%00',
    '%',
    '%zz',
    '%ff',
    '%F0%9F%97%BC',
    '🗼',
    'a b',
    'a?b',
    '*',
    '//',
    '\\',
    ';a=b',
    '~',
  ),
  oddText,
  fc.constant('p'.repeat(9_000)),
);

const oddPath: fc.Arbitrary<string[]> = fc.oneof(
  fc.constantFrom(
    ...[
      [''],
      ['', ''],
      ['', 'v1'],
      ['', 'v1', ''],
      ['', 'v2', 'jobs'],
      ['', 'v1', 'jobs', ''],
      ['', 'V1', 'Jobs'],
      ['', 'v1', 'hooks', 'other'],
    ],
    ...[
      ['', 'health', ''],
      ['', 'favicon.ico'],
      ['', '..', 'v1', 'jobs'],
      ['', 'v1', '.', 'jobs'],
      ['', '', 'v1', 'jobs'],
      ['*'],
    ],
  ),
  fc.array(oddPart, { minLength: 1, maxLength: 4 }).map((parts) => ['', ...parts]),
  fc.array(oddPart, { minLength: 1, maxLength: 3 }).map((parts) => ['', 'v1', 'jobs', ...parts]),
);

/** Requests for the whole API: those that take a body twice as often as the others, most by their own method and path. */
export function requestsFor(document: ApiDocument): fc.Arbitrary<PlannedRequest> {
  const routes = document.routes.map((route) => ({
    weight: route.body === undefined ? 1 : 2,
    arbitrary: requestFor(document, route),
  }));
  return fc.oneof(...routes);
}

function requestFor(document: ApiDocument, route: Route): fc.Arbitrary<PlannedRequest> {
  return fc
    .record(
      {
        method: methodOf(route),
        path: pathOf(document, route),
        query: queryOf(document, route),
        rawQuery: fc.oneof({ weight: 25, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: oddQuery }),
        headers: headersFor(document, route),
        body: bodiesFor(document, route),
      },
      { noNullPrototype: true },
    )
    .map(({ rawQuery, ...rest }) => (rawQuery === undefined ? rest : { ...rest, rawQuery }));
}

function methodOf({ method }: Route): fc.Arbitrary<string> {
  const other = fc.constantFrom(
    ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'get', 'G T', ''],
  );
  return fc.oneof({ weight: 14, arbitrary: fc.constant(method) }, { weight: 1, arbitrary: other });
}

function pathOf(document: ApiDocument, { path, parameters }: Route): fc.Arbitrary<(string | Known)[]> {
  const parts = path.split('/');
  const usual = parts.map((part, at): fc.Arbitrary<string | Known> => {
    if (!part.startsWith('{')) return fc.constant(part);
    const schema = parameters.find(({ name, in: place }) => place === 'path' && `{${name}}` === part)?.schema ?? {};
    const kind = kinds[parts[at - 1] ?? ''];
    const known = kind === undefined ? fc.constant('x') : knownOf(kind);
    return fc.oneof(
      { weight: 10, arbitrary: known },
      { weight: 1, arbitrary: fitting(document, schema).map(String) },
      { weight: 1, arbitrary: oddPart },
    );
  });
  return fc.oneof({ weight: 20, arbitrary: fc.tuple(...usual) }, { weight: 1, arbitrary: oddPath });
}

function queryOf(document: ApiDocument, { parameters }: Route): fc.Arbitrary<[string, string | Known][]> {
  const own = parameters
    .filter((parameter) => parameter.in === 'query')
    .map((parameter) => queryPair(document, parameter));
  const extra = fc.tuple(fc.oneof(fc.constantFrom('limit', 'cursor', 'wait', 'x', '', 'owner'), oddText), oddText);
  const odd = { weight: 1, arbitrary: fc.array(extra, { minLength: 1, maxLength: 2 }) };
  const none = { weight: 8, arbitrary: fc.constant([]) };
  const twice =
    own.length === 0 ? [] : [{ weight: 1, arbitrary: fc.tuple(...own, ...own) as fc.Arbitrary<[string, string][]> }];
  const some = own.length === 0 ? [] : [{ weight: 16, arbitrary: fc.tuple(...own.map((pair) => fc.option(pair))) }];
  return fc
    .oneof(none, odd, ...twice, ...some)
    .map((pairs) => pairs.filter((pair) => pair !== null) as [string, string | Known][]);
}

function queryPair(document: ApiDocument, { name, schema }: Parameter): fc.Arbitrary<[string, string | Known]> {
  const right = fitting(document, schema).map(String);
  const byName: Readonly<Record<string, fc.Arbitrary<string | Known>>> = {
    cursor: knownOf('cursor'),
    endpoint_id: knownOf('endpoint'),
    job: knownOf('job'),
    batch: knownOf('batch'),
    // A read that waits holds up all that follow.
    wait: fc.oneof({ weight: 60, arbitrary: fc.constant('0') }, { weight: 1, arbitrary: fc.constant('1') }),
  };
  const wrong = fc.oneof(fc.constantFrom('-1', '26', '1e9', '1.5', '0x1', 'abc', ' 1', '٣', '100000'), oddText);
  return fc
    .oneof({ weight: 6, arbitrary: byName[name] ?? right }, { weight: 2, arbitrary: wrong })
    .map((value): [string, string | Known] => [name, value]);
}

const oddQuery = fc.constantFrom(
  ...[
    '%',
    '%zz=%',
    '&&&',
    '=',
    'a',
    'limit',
    'limit=',
    'limit[]=1',
    'state=waiting&state=failed',
    'cursor=%00',
    '?',
    '#',
    'a=%ff',
    'x'.repeat(9_000),
  ],
);
