import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';

/* The checked-in OpenAPI document, read by nothing of ours. */

type Json = Record<string, unknown>;

interface DocumentedParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  example?: unknown;
}

export interface DocumentedOperation {
  operationId: string;
  method: string;
  path: string;
  security: Record<string, string[]>[];
  parameters?: DocumentedParameter[];
  requestBody?: {
    required: boolean;
    content: { 'application/json': { examples: Record<string, { value: unknown }> } };
  };
  responses: Record<string, { headers?: Json; content?: Record<string, { schema: Json }> }>;
}

const path = new URL('../../docs/openapi.json', import.meta.url);

export const openapiText = readFileSync(path, 'utf8');
const document = JSON.parse(openapiText) as { paths: Record<string, Record<string, Json>> };

export const documentedOperations: DocumentedOperation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => {
    return { ...operation, method: method.toUpperCase(), path } as unknown as DocumentedOperation;
  }),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/);
ajv.addSchema(document, 'openapi');

/** What is wrong with a value, by the schema at this place in the document; empty when nothing is. */
export function faultsBySchema(pointer: string[], value: unknown): string[] {
  const escaped = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
  const validate = ajv.getSchema(`openapi#/${escaped.join('/')}`);
  if (validate === undefined) return [`there is no schema at ${pointer.join(' ')}`];
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

/** What is wrong with an answer of the operation: its status, its headers, its body. */
export function faultsOfAnswer(
  { method, path, responses }: DocumentedOperation,
  answer: Response,
  body: string,
): string[] {
  const status = String(answer.status);
  const documented = responses[status];
  if (documented === undefined) return [`${status} is not documented: ${body}`];
  const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
  const known = Object.keys(documented.content ?? {});
  if (known.length === 0) return body === '' ? [] : [`${status} has a body`];
  if (!known.includes(type)) return [`${status} is ${type}, not ${known.join(', ')}`];
  const place = ['paths', path, method.toLowerCase(), 'responses', status, 'content', type, 'schema'];
  return faultsBySchema(place, JSON.parse(body));
}
