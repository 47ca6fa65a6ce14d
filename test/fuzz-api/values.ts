import * as fc from 'fast-check';
import { type ApiDocument, resolve, type Schema } from './document.ts';

/** Values that an earlier answer has given are drawn when the request is sent: of which kind, and which of them. */
export interface Known {
  known: 'job' | 'endpoint' | 'delivery' | 'batch' | 'cursor' | 'account';
  pick: number;
}

/** URLs that are taken and URLs that are not, none of which has a name to be looked up. */
const urls = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'https://93.184.215.14/hook',
      'https://8.8.8.8:8443/a?b=c',
      'https://[2606:4700::1111]/x',
    ),
  },
  fc.constantFrom(
    ...[
      'http://93.184.215.14/',
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://0x7f.1/',
      'https://user:word@8.8.8.8/',
      'https://8.8.8.8:22/',
    ],
    ...[
      'https://169.254.169.254/latest/meta-data',
      'https://10.0.0.1/',
      'ftp://8.8.8.8/',
      'https://',
      'javascript:alert(1)',
      '//8.8.8.8',
    ],
  ),
);

/** Members that have a meaning which their schema can't tell. */
const special: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  webhook_url: urls,
  url: urls,
  account: fc.constantFrom('sume', 'sume', 'studio', 'nobodys'),
  batch: fc.constantFrom('campaign-814', 'b', 'other.batch', '..'),
};

/** JSON values that the schema takes. Of long texts and lists mostly short ones. */
export function fitting(document: ApiDocument, given: Schema, depth = 0): fc.Arbitrary<unknown> {
  const schema = resolve(document.whole, given);
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const choices = (schema.oneOf ?? schema.anyOf) as Schema[] | undefined;
  if (choices !== undefined) return fc.oneof(...choices.map((choice) => fitting(document, choice, depth)));
  if (Array.isArray(schema.type)) {
    return fc.oneof(...schema.type.map((type) => fitting(document, { ...schema, type }, depth)));
  }
  switch (schema.type) {
    case 'string':
      return text(schema);
    case 'integer':
    case 'number':
      return number(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return list(document, schema, depth);
    case 'object':
      return object(document, schema, depth);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

function text({ pattern, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  if (typeof pattern === 'string') {
    const whole = new RegExp(pattern);
    // Texts are not made for what is looked ahead for: they are filtered by it.
    return fc.stringMatching(new RegExp(pattern.replaceAll(/\(\?!.*?\)/g, ''))).filter((value) => whole.test(value));
  }
  const least = minLength as number;
  const most = Math.max(least, maxLength as number);
  const usual = fc.string({ minLength: least, maxLength: Math.min(most, least + 30), unit: 'grapheme' });
  const longest = fc.constant('y'.repeat(most));
  return fc.oneof(
    { weight: 12, arbitrary: usual.filter((value) => value.length <= most) },
    { weight: 1, arbitrary: longest },
  );
}

function number({ type, minimum, maximum, exclusiveMinimum }: Schema): fc.Arbitrary<number> {
  const least = (minimum ?? exclusiveMinimum ?? -1_000) as number;
  const most = Math.max(least, (maximum ?? 100_000) as number);
  if (type === 'integer') return fc.integer({ min: Math.ceil(least), max: Math.floor(most) });
  return fc.double({ min: least, max: most, noNaN: true, minExcluded: exclusiveMinimum !== undefined });
}

function list(
  document: ApiDocument,
  { items, minItems = 0, maxItems = 5 }: Schema,
  depth: number,
): fc.Arbitrary<unknown[]> {
  const least = minItems as number;
  const length = { minLength: least, maxLength: Math.max(least, Math.min(maxItems as number, 4)) };
  return fc.array(items === undefined ? fc.jsonValue() : fitting(document, items as Schema, depth + 1), length);
}

function object(document: ApiDocument, schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const required = (schema.required ?? []) as string[];
  const model = Object.fromEntries(
    properties.map(([name, property]) => [name, special[name] ?? fitting(document, property, depth + 1)]),
  );
  const known = fc.record(model, { requiredKeys: required, noNullPrototype: true });
  const more = schema.additionalProperties;
  if (more === undefined || more === false || depth > 3) return known;
  const rest = fc.dictionary(
    fc.stringMatching(/^[a-z][a-z_]{0,12}$/),
    more === true || Object.keys(more as Schema).length === 0
      ? fc.jsonValue({ maxDepth: 1 })
      : fitting(document, more as Schema, depth + 1),
    { maxKeys: 3, noNullPrototype: true },
  );
  return fc.tuple(rest, known).map(([others, own]) => ({ ...others, ...own }));
}
