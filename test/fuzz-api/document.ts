import { readFileSync } from 'node:fs';

/* The OpenAPI document, as far as the fuzzer reads it. */

export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  name: string;
  in: 'query' | 'header' | 'path' | 'cookie';
  schema: Schema;
  required?: boolean;
}

export interface Route {
  /** In capitals. */
  method: string;
  /** With names in braces. */
  path: string;
  parameters: readonly Parameter[];
  body?: Schema;
  /** By status: the content type and the schema of its body; null where there is no body. */
  answers: ReadonlyMap<number, { type: string; schema: Schema } | null>;
}

export interface ApiDocument {
  whole: Schema;
  routes: readonly Route[];
  schemas: Readonly<Record<string, Schema>>;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

export function readDocument(url = new URL('../../docs/openapi.json', import.meta.url)): ApiDocument {
  return documentOf(JSON.parse(readFileSync(url, 'utf8')));
}

export function documentOf(whole: Schema): ApiDocument {
  const paths = Object.entries((whole.paths ?? {}) as Record<string, Schema>);
  const routes = paths.flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method] as Schema | undefined;
      return operation === undefined ? [] : [routeOf(whole, method.toUpperCase(), path, item, operation)];
    }),
  );
  return {
    whole,
    routes,
    schemas: ((whole.components as Schema | undefined)?.schemas ?? {}) as Record<string, Schema>,
  };
}

function routeOf(whole: Schema, method: string, path: string, item: Schema, operation: Schema): Route {
  const listed = [...((item.parameters ?? []) as Schema[]), ...((operation.parameters ?? []) as Schema[])];
  const body = operation.requestBody === undefined ? null : contentOf(resolve(whole, operation.requestBody as Schema));
  const responses = Object.entries(operation.responses as Record<string, Schema>);
  return {
    ...{ method, path },
    parameters: listed.map((parameter) => resolve(whole, parameter) as unknown as Parameter),
    ...(body === null ? {} : { body: body.schema }),
    answers: new Map(responses.map(([status, response]) => [Number(status), contentOf(resolve(whole, response))])),
  };
}

function contentOf(holder: Schema): { type: string; schema: Schema } | null {
  const [first] = Object.entries((holder.content ?? {}) as Record<string, { schema: Schema }>);
  return first === undefined ? null : { type: first[0], schema: first[1].schema };
}

/** What a reference inside the document stands for. */
export function resolve(whole: Schema, schema: Schema): Schema {
  if (typeof schema.$ref !== 'string') return schema;
  const parts = schema.$ref.replace(/^#\//, '').split('/');
  const found = parts.reduce<unknown>((at, part) => (at as Schema | undefined)?.[part], whole);
  if (found === undefined) throw new Error(`The OpenAPI document has nothing at ${schema.$ref}.`);
  return found as Schema;
}

/** Of the routes whose path this is, the one that takes the method, if any does. */
export function routesAt(document: ApiDocument, rawPath: string): Route[] {
  // Dots are taken out as every URL has it, and what follows a `#` is no path.
  const url = `https://host${rawPath}`;
  const parts = (URL.canParse(url) ? new URL(url).pathname : rawPath).split('/');
  const fitting = document.routes.filter(({ path }) => {
    const wanted = path.split('/');
    return (
      wanted.length === parts.length &&
      wanted.every((part, at) => (part.startsWith('{') ? parts[at] !== '' : part === parts[at]))
    );
  });
  // `POST /v1/jobs/batch` is itself, not something of the job of that name.
  const plain = fitting.filter(({ path }) => !path.includes('{'));
  return plain.length > 0 ? plain : fitting;
}
