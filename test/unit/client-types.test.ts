import { describe, expect, it } from 'vitest';
import { clientTypes } from '../../infra/client-types.ts';

/** What the generator makes of one schema. */
function typeOf(schema: object): string {
  const types = clientTypes({ paths: {}, components: { schemas: { Thing: schema } } });
  return types.replace(/^[\s\S]*?export type Thing = ([\s\S]*?);\n\nexport interface[\s\S]*$/, '$1');
}

describe('the types of the client', () => {
  it.each([
    [{ type: 'string', format: 'date-time' }, 'string'],
    [{ type: ['integer', 'null'] }, 'number | null'],
    [{ enum: ['a', 'b'] }, '"a" | "b"'],
    [{ const: 202 }, '202'],
    [{ type: 'array', items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, '(string | null)[]'],
    [{ $ref: '#/components/schemas/Other' }, 'Other'],
    [{ oneOf: [{ const: 'a' }, { type: 'number' }] }, '"a" | number'],
    [{ allOf: [{ $ref: '#/components/schemas/A' }, { type: 'object' }] }, '(A) & ({\n  [name: string]: unknown;\n})'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, '{\n  [name: string]: number;\n}'],
    [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
    [{}, 'unknown'],
  ])('has for %j what it means', (schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  it('has members with their comments, those that may be absent marked', () => {
    const properties = { id: { type: 'string', description: 'Ends */ nothing.' }, 'a-b': { type: 'boolean' } };
    expect(typeOf({ type: 'object', properties, required: ['id'] })).toBe(
      '{\n  /** Ends * / nothing. */\n  id: string;\n  "a-b"?: boolean;\n}',
    );
  });

  it('has what each route takes and answers well', () => {
    const content = { 'application/json': { schema: { type: 'string' } } };
    const parameters = [{ in: 'query', name: 'limit', schema: { type: 'integer' } }];
    const get = { parameters, responses: { 200: { content }, 204: {}, 404: { content } } };
    expect(clientTypes({ paths: { '/a/{id}': { get } } })).toContain(
      '"GET /a/{id}": {\n    query: {\n      limit?: number;\n    };\n    body: null;\n    answers: {\n      200: string;\n      204: null;\n    };\n  };',
    );
  });

  it('are not made of what they can not tell', () => {
    expect(() => typeOf({ type: 'tuple' })).toThrow('a schema of type "tuple"');
    expect(() => typeOf({ $ref: 'other.json#/A' })).toThrow('refers to other.json#/A');
  });
});
