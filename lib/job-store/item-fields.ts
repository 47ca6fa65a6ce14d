import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { isObject } from '../json.ts';

/*
 * A document's fields as attributes of an item and back. Scalars are attributes; documents inside are JSON text: numbers
 * survive as they were, absent fields stay absent, and an SDK upgrade changes nothing.
 */
export type Item = Record<string, AttributeValue>;

/** `object` and `list` are stored as JSON text, a `flag` that is up as the text `true`. */
type Kind = 'text' | 'number' | 'flag' | 'object' | 'list';

/** By field: the attribute's name, and what is in it. */
export type Fields = Readonly<Record<string, readonly [attribute: string, kind: Kind]>>;

/** No number of ours is larger than the last time that a Date can hold. */
export const timeMaxMs = 8.64e15;

/** A number as an attribute. */
export function number(value: number): AttributeValue {
  return { N: String(value) };
}

/** The attributes that a write of these fields sets, and those that it removes since the document has no value for them. */
export function attributesOf(fields: Fields, document: object): { set: Item; remove: string[] } {
  const set: Item = {};
  const remove: string[] = [];
  for (const [field, [attribute, kind]] of Object.entries(fields)) {
    const value = (document as Record<string, unknown>)[field];
    if (value === undefined) remove.push(attribute);
    else set[attribute] = encode(value, kind);
  }
  return { set, remove };
}

/** The fields that an item holds, or why one can't be read. */
export function fieldsOf(fields: Fields, item: Item): { found: Record<string, unknown> } | { broken: string } {
  const found: Record<string, unknown> = {};
  for (const [field, [attribute, kind]] of Object.entries(fields)) {
    const value = item[attribute];
    if (value === undefined) continue;
    const decoded = decode(value, kind);
    if (decoded === undefined) return { broken: `attribute ${attribute} is not ${kind}` };
    found[field] = decoded;
  }
  return { found };
}

function encode(value: unknown, kind: Kind): AttributeValue {
  if (kind === 'number') return number(Number(value));
  return { S: kind === 'text' || kind === 'flag' ? String(value) : JSON.stringify(value) };
}

/** Undefined when the attribute is not of the kind. */
function decode(value: AttributeValue, kind: Kind): unknown {
  if (kind === 'number') {
    const number = Number(value.N ?? Number.NaN);
    return Math.abs(number) <= timeMaxMs ? number : undefined;
  }
  if (value.S === undefined || kind === 'text') return value.S;
  if (kind === 'flag') return value.S === 'true' ? true : undefined;
  try {
    const document: unknown = JSON.parse(value.S);
    return (kind === 'list' ? Array.isArray(document) : isObject(document)) ? document : undefined;
  } catch {
    return undefined;
  }
}
