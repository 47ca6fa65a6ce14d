import type * as z from 'zod';
import { describeIssue, fieldOf } from './describe-issue.ts';
import { Problem } from './problem.ts';

/** The query of a request, checked. Throws a Problem (400, `<name>_invalid`) for the first parameter that is wrong. */
export function readQuery<Schema extends z.ZodType>(
  schema: Schema,
  query: Readonly<Record<string, string>>,
): z.output<Schema> {
  const checked = schema.safeParse(query);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const name = issue === undefined ? 'query' : fieldOf(issue);
  const rule = issue === undefined ? 'is not valid' : describeIssue(issue, query);
  throw new Problem(400, `${name}_invalid`, `${name} ${rule}.`, name);
}
