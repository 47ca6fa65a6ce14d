import * as fc from 'fast-check';
import { authorization } from './callers.ts';
import type { ApiDocument, Parameter, Route } from './document.ts';
import { signatureMark, timeMark } from './hook-signature.ts';
import { oddText } from './odd-values.ts';
import { fitting } from './values.ts';

/** The token, the content type, what the route asks for; now and then one that it does not. */
export function headersFor(document: ApiDocument, { parameters }: Route): fc.Arbitrary<[string, string][]> {
  const own = parameters
    .filter((parameter) => parameter.in === 'header')
    .map((parameter) => ownHeader(document, parameter));
  const authorized = authorization.map((value): [string, string][] =>
    value === undefined ? [] : [['authorization', value]],
  );
  const type = fc.oneof(
    { weight: 9, arbitrary: fc.constant('application/json') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'text/plain',
        '',
        'application/json; charset=utf-16',
        'application/x-www-form-urlencoded',
        'multipart/form-data',
      ),
    },
  );
  const typed = type.map((value): [string, string][] => [['content-type', value]]);
  return fc.tuple(authorized, typed, ...own, oddHeaders).map((parts) => parts.flat() as [string, string][]);
}

function ownHeader(document: ApiDocument, { name, schema }: Parameter): fc.Arbitrary<[string, string][]> {
  const right = fitting(document, schema).map(String);
  const key = fc.oneof(
    fc.nat(40).map((number) => `again-${number}`),
    fc.uuid(),
    fc.constantFrom('"quoted"', 'a,a', 'twice,twice2'),
  );
  const usual: Readonly<Record<string, fc.Arbitrary<string>>> = {
    'Idempotency-Key': key,
    'X-Sume-Event-Id': fc.nat(500).map((number) => `sume-${number}`),
    'X-Sume-Timestamp': fc.constant(timeMark),
    'X-Sume-Signature': fc.constant(signatureMark),
  };
  const value = fc.oneof(
    { weight: 14, arbitrary: usual[name] ?? right },
    { weight: 2, arbitrary: fc.oneof(oddText, fc.constantFrom('W/"1"', '"1"', '*', 'v1=00', 'é')) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
  return value.map((given): [string, string][] => (given === undefined ? [] : [[name.toLowerCase(), given]]));
}

const oddHeader = fc.constantFrom<[string, string]>(
  ...[...pairs('accept', 'text/html'), ...pairs('accept-encoding', 'gzip,br'), ...pairs('content-length', '5', 'x')],
  ...[
    ...pairs('content-encoding', 'gzip'),
    ...pairs('expect', '100-continue'),
    ...pairs('transfer-encoding', 'chunked'),
  ],
  ...[...pairs('host', 'evil.example', '', 'a b'), ...pairs('x-request-id', 'mine'), ...pairs('range', 'bytes=0-1')],
  ...[...pairs('x-forwarded-for', '1.1.1.1,2.2.2.2'), ...pairs('content-type', 'application/json,application/json')],
  ...[...pairs('x-http-method-override', 'DELETE'), ...pairs('cookie', 'a=b'), ...pairs('if-none-match', '*')],
  ...[
    ...pairs('x-odd', '\0', '\r\nset-cookie: a=b', 'y'.repeat(9_000)),
    ...pairs('x ö', 'a'),
    ...pairs('__proto__', 'a'),
  ],
);

function pairs(name: string, ...values: string[]): [string, string][] {
  return values.map((value) => [name, value]);
}

/** Mostly none. What comes twice is joined by a comma on the way. */
const oddHeaders: fc.Arbitrary<[string, string][]> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<[string, string][]>([]) },
  { weight: 1, arbitrary: oddHeader.map((header): [string, string][] => [header]) },
);
