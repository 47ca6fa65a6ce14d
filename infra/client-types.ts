/*
 * The client's types, from the OpenAPI document: a type for each of its schemas, and what each route takes and answers.
 * Not openapi-typescript: that needs the compiler as a library, which TypeScript 7 no longer is.
 */

type Json = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, Json>>;

const banner = '// Made by `npm run generate` from docs/openapi.json. DO NOT EDIT.\n';
const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The text of lib/client/api.gen.ts. Throws for what it can't tell in types. */
export function clientTypes(document: Json): string {
  const schemas = ((document.components as Json | undefined)?.schemas ?? {}) as Members;
  const types = Object.entries(schemas).map(
    ([name, schema]) => `${comment(schema, '')}export type ${name} = ${typeOf(schema, '')};\n`,
  );
  const paths = Object.entries((document.paths ?? {}) as Members);
  const routes = paths.flatMap(([path, item]) => {
    const shared = (item.parameters ?? []) as Json[];
    return methods.flatMap((method) => {
      const operation = item[method] as Json | undefined;
      if (operation === undefined) return [];
      const key = literal(`${method.toUpperCase()} ${path}`);
      return [`  ${key}: ${operationType(document, operation, shared)};\n`];
    });
  });
  return [banner, ...types, `export interface Operations {\n${routes.join('')}}\n`].join('\n');
}

function operationType(document: Json, operation: Json, shared: Json[]): string {
  const parameters = [...shared, ...((operation.parameters ?? []) as Json[])].map((one) => resolve(document, one));
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const properties = Object.fromEntries(
    query.map(({ name, schema, description }) => [name, { ...(schema as Json), description }]),
  );
  const required = query.filter((parameter) => parameter.required === true).map(({ name }) => name);
  const indent = '    ';
  const body =
    operation.requestBody === undefined ? undefined : jsonSchemaOf(resolve(document, operation.requestBody as Json));
  const answers = Object.entries((operation.responses ?? {}) as Members).flatMap(([status, response]) => {
    if (!/^2\d\d$/.test(status)) return [];
    const schema = jsonSchemaOf(resolve(document, response));
    return [`${indent}  ${status}: ${schema === undefined ? 'null' : typeOf(schema, `${indent}  `)};\n`];
  });
  return [
    '{\n',
    `${indent}query: ${typeOf({ type: 'object', properties, required, additionalProperties: false }, indent)};\n`,
    `${indent}body: ${body === undefined ? 'null' : typeOf(body, indent)};\n`,
    `${indent}answers: {\n${answers.join('')}${indent}};\n`,
    '  }',
  ].join('');
}

function jsonSchemaOf({ content }: Json): Json | undefined {
  return (content as Members | undefined)?.['application/json']?.schema as Json | undefined;
}

function resolve(document: Json, given: Json): Json {
  if (typeof given.$ref !== 'string') return given;
  const parts = given.$ref.replace(/^#\//, '').split('/');
  return parts.reduce<Json>((at, part) => at[part] as Json, document);
}

/** A schema as a type. Bounds, patterns and formats are the service's to check. */
function typeOf(schema: Json | boolean, indent: string): string {
  if (typeof schema === 'boolean') return schema ? 'unknown' : 'never';
  if (typeof schema.$ref === 'string') return nameOf(schema.$ref);
  if ('const' in schema) return literal(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(literal).join(' | ');
  const choices = (schema.oneOf ?? schema.anyOf) as Json[] | undefined;
  if (choices !== undefined) return union(choices.map((choice) => typeOf(choice, indent)));
  if (Array.isArray(schema.allOf)) return schema.allOf.map((part) => `(${typeOf(part, indent)})`).join(' & ');
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, indent)));
  return plainType(schema, indent);
}

function plainType(schema: Json, indent: string): string {
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return arrayOf(typeOf((schema.items ?? true) as Json, indent));
    case 'object':
      return objectType(schema, indent);
    case undefined:
      return schema.properties === undefined ? 'unknown' : objectType(schema, indent);
    default:
      throw new Error(`The OpenAPI document has a schema of type ${JSON.stringify(schema.type)}.`);
  }
}

function objectType({ properties = {}, required = [], additionalProperties }: Json, indent: string): string {
  const inner = `${indent}  `;
  // An object of which nothing is said may hold anything; one with named members holds those.
  const more = additionalProperties ?? Object.keys(properties as Members).length === 0;
  const members = Object.entries(properties as Members).map(([name, schema]) => {
    const mark = (required as unknown[]).includes(name) ? '' : '?';
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : literal(name);
    return `${comment(schema, inner)}${inner}${key}${mark}: ${typeOf(schema, inner)};\n`;
  });
  if (more === false) return members.length === 0 ? 'Record<string, never>' : `{\n${members.join('')}${indent}}`;
  // Beside named members an index must allow what those hold.
  const others = members.length === 0 ? typeOf(more as Json | boolean, inner) : 'unknown';
  return `{\n${members.join('')}${inner}[name: string]: ${others};\n${indent}}`;
}

function arrayOf(type: string): string {
  return /[|&]/.test(type) ? `(${type})[]` : `${type}[]`;
}

function union(types: string[]): string {
  return [...new Set(types)].join(' | ');
}

function comment({ description }: Json, indent: string): string {
  if (typeof description !== 'string' || description === '') return '';
  return `${indent}/** ${description.replaceAll('*/', '* /').replaceAll(/\s*\n\s*/g, ' ')} */\n`;
}

function literal(value: unknown): string {
  return JSON.stringify(value);
}

function nameOf(reference: string): string {
  const name = /^#\/components\/schemas\/(\w+)$/.exec(reference)?.[1];
  if (name === undefined)
    throw new Error(`The OpenAPI document refers to ${reference}, which is no schema of its own.`);
  return name;
}
