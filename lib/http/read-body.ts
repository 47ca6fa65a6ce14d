import type * as z from 'zod';
import { depthOf, isObject, type JsonObject } from '../json.ts';
import { describeIssue, fieldOf } from './describe-issue.ts';
import { inexactNumber } from './inexact-number.ts';
import { Problem } from './problem.ts';

/** How deeply a body, or one item of a list of many, may nest. */
const depthMax = 32;

export interface BodyBounds {
  bytesMax: number;
  /** Nothing at all counts as `{}`. */
  mayBeEmpty?: boolean;
}

/** The body of a request, checked. Throws a Problem (400 or 413) that names the first field that is wrong. */
export function readBody<Schema extends z.ZodType>(schema: Schema, text: string, bounds: BodyBounds): z.output<Schema> {
  const body = parseBody(text, bounds);
  demandExact(text);
  demandShallow(body);
  return checkFields(schema, body);
}

/** The JSON object in a body of bounded size, unchecked. Throws a Problem (400 or 413). */
export function parseBody(text: string, { bytesMax, mayBeEmpty = false }: BodyBounds): JsonObject {
  if (Buffer.byteLength(text) > bytesMax) throw tooLarge(bytesMax);
  if (mayBeEmpty && text.trim() === '') return {};
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Problem(400, 'body_not_json', 'The body is not valid JSON.', 'body');
  }
  if (!isObject(body)) throw new Problem(400, 'body_invalid', 'The body must be a JSON object.', 'body');
  return body;
}

/** Throws a Problem (400) for a number that would be stored as another one. */
export function demandExact(text: string): void {
  const number = inexactNumber(text);
  if (number !== undefined) throw inexact(number);
}

export function demandShallow(value: unknown): void {
  if (depthOf(value, depthMax) <= depthMax) return;
  throw new Problem(400, 'body_too_deep', `The body may nest at most ${depthMax} levels.`, 'body');
}

/** The value as the schema gives it. Throws a Problem (400) that names the first field that is wrong. */
export function checkFields<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const field = issue === undefined ? 'body' : fieldOf(issue);
  const detail = issue === undefined ? 'The body is not valid.' : `${field}: ${describeIssue(issue, value)}.`;
  throw new Problem(400, 'body_invalid', detail.slice(0, 500), field);
}

export function inexact(number: string): Problem {
  const detail = `The number ${number.slice(0, 40)} can not be kept exactly. Send it as a text, or with fewer digits.`;
  return new Problem(400, 'number_inexact', detail, 'body');
}

export function tooLarge(bytesMax: number): Problem {
  return new Problem(413, 'body_too_large', `The body may have at most ${bytesMax} bytes.`, 'body');
}
