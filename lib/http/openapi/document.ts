import { type Operation, type OperationName, operations } from '../operations.ts';
import { namedSchemas, schemaOf } from './components.ts';
import { webhooks } from './event-notes.ts';
import { headers, headersByStatus, parameterHeaders, tokenHeaders } from './headers.ts';
import { jobOperations } from './job-operations.ts';
import type { OperationNotes } from './operation-notes.ts';
import { type ProblemCode, problemCodes } from './problem-codes.ts';
import { serviceOperations } from './service-operations.ts';
import { webhookOperations } from './webhook-operations.ts';

const notes: Readonly<Record<OperationName, OperationNotes>> = {
  ...jobOperations,
  ...webhookOperations,
  ...serviceOperations,
};

const description =
  'Submit AI-video renders and have them polled to their end: no lost id, no clip paid twice.\n\n' +
  'Every error is a problem document (RFC 9457): `code` is for programs. What is another owner’s is answered like what does ' +
  'not exist. A path that is not here is 404 `no_such_route`, another method 405 `method_not_allowed`. Times are ISO 8601, ' +
  'money is in millionths of a US dollar. Absent values are null. The gateway itself answers 429 and 503 without a problem ' +
  'document when it is overrun.';

/** The API as an OpenAPI 3.1 document, all of it from the schemas that handlers read by and the table of operations. */
export function openapiDocument(version: string) {
  return {
    openapi: '3.1.1',
    info: { title: 'Pollkeeper', version, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'Where this document was read.' }],
    tags: [
      { name: 'jobs', description: 'Renders, from acceptance to their end.' },
      { name: 'webhooks', description: 'News of jobs and batches: events, endpoints and deliveries.' },
      { name: 'accounts', description: 'Provider accounts and how they are doing.' },
      { name: 'service', description: 'The service itself.' },
    ],
    paths: pathsOf(Object.keys(operations) as OperationName[]),
    webhooks: webhooks(),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of an owner, with the scopes read, submit or admin.',
        },
      },
      headers,
      schemas: namedSchemas(),
    },
  };
}

function pathsOf(names: readonly OperationName[]): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const name of names) {
    const { method, path } = operations[name];
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(name) };
  }
  return paths;
}

function operationOf(name: OperationName) {
  const { scope }: Operation = operations[name];
  const { tag, summary, description, body } = notes[name];
  const parameters = parametersOf(notes[name]);
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: scope === null ? description : `${description} Takes the scope \`${scope}\`.`,
    security: scope === null ? [] : [{ bearer: [scope] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBodyOf(body) }),
    responses: responsesOf(notes[name], scope === null ? ['X-Request-Id'] : ['X-Request-Id', ...tokenHeaders]),
  };
}

function parametersOf({ path = {}, query, queryNotes = {}, headers: names = [] }: OperationNotes): object[] {
  const inPath = Object.entries(path).map(([name, { schema, description, example }]) => {
    return { name, in: 'path', required: true, description, schema: schemaOf(schema), example };
  });
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const required = !schema.safeParse(undefined).success;
    return { name, in: 'query', required, ...queryNotes[name], schema: schemaOf(schema) };
  });
  const inHeaders = names.map((name) => ({ name, in: 'header', ...parameterHeaders[name] }));
  return [...inPath, ...inQuery, ...inHeaders];
}

function requestBodyOf({ schema, description, optional, examples }: NonNullable<OperationNotes['body']>) {
  return {
    description,
    required: optional !== true,
    content: { 'application/json': { schema: schemaOf(schema), examples } },
  };
}

function responsesOf(
  { answers, problems }: OperationNotes,
  always: readonly (keyof typeof headers)[],
): Record<string, unknown> {
  const good = Object.entries(answers).map(([status, { description, schema, example, headers: names = [] }]) => {
    const shown = example === undefined ? {} : { examples: { usual: { value: example } } };
    const content =
      schema === undefined ? {} : { content: { 'application/json': { schema: schemaOf(schema), ...shown } } };
    return [status, { description, headers: headerRefs([...always, ...names]), ...content }] as const;
  });
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set(problems)) {
    const [status] = problemCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const bad = [...byStatus].map(([status, codes]) => [String(status), problemResponse(status, codes)] as const);
  return Object.fromEntries([...good, ...bad]);
}

function problemResponse(status: number, codes: readonly ProblemCode[]) {
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      { properties: { status: { const: status }, code: { enum: codes } }, required: ['request_id'] },
    ],
  };
  return {
    description: codes.map((code) => `\`${code}\`: ${problemCodes[code][1]}`).join('\n\n'),
    headers: headerRefs(['X-Request-Id', ...(headersByStatus[status] ?? [])]),
    content: { 'application/problem+json': { schema } },
  };
}

function headerRefs(names: readonly (keyof typeof headers)[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
