import type * as z from 'zod';

type Issue = z.core.$ZodIssue;

/** The field that an issue is about, e.g. `input.model`; `body` for the whole of it. */
export function fieldOf(issue: Issue): string {
  const extra = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  return [...issue.path.map(String), ...extra].join('.').slice(0, 200) || 'body';
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  boolean: 'true or false',
};

/** What is wrong, to follow the field's name and a colon: without a full stop. */
export function describeIssue(issue: Issue, body: unknown): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'there is no such field here';
    case 'invalid_type':
      if (isWritten(issue.message)) return issue.message;
      return valueAt(body, issue.path) === undefined
        ? 'is missing'
        : `must be ${kinds[issue.expected] ?? 'another type'}`;
    case 'too_small':
    case 'too_big':
      return isWritten(issue.message) ? issue.message : describeBound(issue);
    case 'invalid_key':
      return 'has a name that is empty or too long';
    default:
      return isWritten(issue.message) ? issue.message : 'is not valid';
  }
}

/** Our own rules say what must be; zod's words begin otherwise. */
function isWritten(message: string): boolean {
  return /^(must|may|can) /.test(message);
}

function describeBound(issue: Extract<Issue, { code: 'too_small' | 'too_big' }>): string {
  const small = issue.code === 'too_small';
  const bound = Number(small ? issue.minimum : issue.maximum);
  const least = small ? 'at least' : 'at most';
  if (issue.origin === 'string') return `must have ${least} ${bound} character${bound === 1 ? '' : 's'}`;
  if (issue.origin === 'array') return `must have ${least} ${bound} item${bound === 1 ? '' : 's'}`;
  return issue.inclusive === false ? `must be ${small ? 'more' : 'less'} than ${bound}` : `must be ${least} ${bound}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}
