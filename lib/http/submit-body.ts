import * as z from 'zod';
import { priorityDefault, priorityMax } from '../job.ts';
import { depthOf, isObject, type JsonObject } from '../json.ts';
import { Problem } from './problem.ts';

export const bodyBytesMax = 256 * 1024;
const depthMax = 32;

const deadlineDefaultSeconds = 24 * 3600;
const deadlineSeconds = z
  .int()
  .min(60)
  .max(7 * 24 * 3600);

const priorityRule = `must be a whole number from 0 to ${priorityMax}, where ${priorityMax} goes first`;

/** Fields of `input` that we know are checked; all others go to the provider untouched. */
const input = z.looseObject({
  model: z.string().min(1).max(200),
  prompt: z.string().min(1).max(20_000),
  duration: z.number().positive().max(3_600).optional(),
  resolution: z.string().min(1).max(50).optional(),
});

const submitBody = z.strictObject({
  input,
  account: z.string().min(1).max(64).optional(),
  priority: z.int(priorityRule).min(0, priorityRule).max(priorityMax, priorityRule).optional(),
  deadline_seconds: deadlineSeconds.optional(),
  metadata: z.record(z.string().min(1).max(64), z.string().max(512)).optional(),
});

export interface SubmitBody {
  input: JsonObject;
  /** Absent: it is placed. */
  account?: string;
  priority: number;
  deadlineSeconds: number;
  metadata: Record<string, string>;
}

const metadataMax = 20;

/** The body of a submit. Throws a Problem (400 or 413) that names the first field that is wrong. */
export function readSubmitBody(text: string): SubmitBody {
  const body = parse(text);
  const checked = submitBody.safeParse(body);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    const field = fieldOf(issue?.path ?? [], issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined);
    throw new Problem(400, 'body_invalid', `${field}: ${issue?.message ?? 'invalid'}`.slice(0, 500), field);
  }
  // zod leaves this name out of its copy without a word.
  if (isObject(body.metadata) && Object.hasOwn(body.metadata, '__proto__')) {
    throw new Problem(400, 'body_invalid', 'metadata.__proto__: this name can not be used.', 'metadata.__proto__');
  }
  const metadata = checked.data.metadata ?? {};
  if (Object.keys(metadata).length > metadataMax) {
    throw new Problem(400, 'body_invalid', `metadata: at most ${metadataMax} entries.`, 'metadata');
  }
  // A number such as 1e20 is longer written out: what counts is what is stored.
  if (Buffer.byteLength(JSON.stringify(body.input)) > bodyBytesMax) throw tooLarge();
  // The caller's own object, not the checked copy: what goes to the provider is what was sent.
  return {
    input: body.input as JsonObject,
    ...(checked.data.account === undefined ? {} : { account: checked.data.account }),
    priority: checked.data.priority ?? priorityDefault,
    deadlineSeconds: checked.data.deadline_seconds ?? deadlineDefaultSeconds,
    metadata,
  };
}

function parse(text: string): JsonObject {
  if (Buffer.byteLength(text) > bodyBytesMax) {
    throw tooLarge();
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Problem(400, 'body_not_json', 'The body is not valid JSON.', 'body');
  }
  if (!isObject(body))
    throw new Problem(400, 'body_invalid', 'The body must be a JSON object with the field input.', 'body');
  const inexact = inexactNumber(text);
  if (inexact !== undefined) {
    const detail = `The number ${inexact.slice(0, 40)} can not be kept exactly. Send it as a text, or with fewer digits.`;
    throw new Problem(400, 'number_inexact', detail, 'body');
  }
  if (depthOf(body, depthMax) > depthMax) {
    throw new Problem(400, 'body_too_deep', `The body may nest at most ${depthMax} levels.`, 'body');
  }
  return body;
}

/** The first number in a JSON text that a double can't hold as written: too many digits, or out of range. */
function inexactNumber(text: string): string | undefined {
  const numbers = text.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g) ?? [];
  return numbers.find((number) => {
    const value = Number(number);
    const whole = /^-?\d+$/.test(number);
    return !Number.isFinite(value) || (whole && value !== 0 && JSON.stringify(value) !== number);
  });
}

function tooLarge(): Problem {
  return new Problem(413, 'body_too_large', `The body may have at most ${bodyBytesMax} bytes.`, 'body');
}

function fieldOf(path: readonly PropertyKey[], extraKey: string | undefined): string {
  const parts = [...path.map(String), ...(extraKey === undefined ? [] : [extraKey])];
  return parts.join('.').slice(0, 200) || 'body';
}
