import * as z from 'zod';
import { fieldNotes } from './field-notes.ts';

type Schema = Record<string, unknown>;

const uri = (id: string) => `#/components/schemas/${id}`;

/** A schema as JSON Schema: by its name where it has one, and with those that have one named in it. */
export function schemaOf(schema: z.ZodType): Schema {
  const id = z.globalRegistry.get(schema)?.id;
  if (id !== undefined) return { $ref: uri(id) };
  const { $defs: _, ...inline } = z.toJSONSchema(schema, options) as Schema;
  const text = JSON.stringify(withoutNames(inline)).replaceAll('"#/$defs/', `"${uri('')}`);
  return JSON.parse(text) as Schema;
}

/** Every schema that has a name, by it. */
export function namedSchemas(): Record<string, Schema> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, options) as { schemas: Record<string, Schema> };
  const named = Object.entries(schemas)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([id, schema]): [string, Schema] => [id, withNotes(id, withoutNames(schema))]);
  return Object.fromEntries(named);
}

const options = { io: 'input', uri, override: tidy } as const;

/** What zod says of every whole number, that it fits a double, is left out. */
function tidy({ jsonSchema }: { jsonSchema: Schema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}

function withoutNames({ $schema: _, $id: __, id: ___, ...schema }: Schema): Schema {
  return schema;
}

/** Items are checked one by one, so that their schema is not a part of the body's own; here it is shown there. */
const itemsOf: Readonly<Record<string, string>> = { BatchBody: 'BatchItem', AdoptBody: 'AdoptItem' };

function withNotes(id: string, schema: Schema): Schema {
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  const item = itemsOf[id];
  const noted = Object.entries(properties).map(([name, property]): [string, Schema] => {
    const description = fieldNotes[`${id}.${name}`] ?? fieldNotes[name];
    const shown = item !== undefined && name === 'items' ? { ...property, items: { $ref: uri(item) } } : property;
    return [name, description === undefined ? shown : { ...shown, description }];
  });
  return noted.length === 0 ? schema : { ...schema, properties: Object.fromEntries(noted) };
}
