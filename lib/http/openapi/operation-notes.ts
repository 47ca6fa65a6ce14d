import type * as z from 'zod';
import type { headers, parameterHeaders } from './headers.ts';
import type { ProblemCode } from './problem-codes.ts';

/** What the document says of an operation, beside its method, path and scope. */
export interface OperationNotes {
  tag: 'jobs' | 'webhooks' | 'accounts' | 'service';
  summary: string;
  description: string;
  /** Of the parts in braces in its path: an example of each. */
  path?: Readonly<Record<string, { schema: z.ZodType; description: string; example: string }>>;
  query?: z.ZodObject;
  /** By name; those that the examples are made with. */
  queryNotes?: Readonly<Record<string, { description: string; example?: unknown }>>;
  headers?: readonly (keyof typeof parameterHeaders)[];
  body?: BodyNotes;
  answers: Readonly<Record<number, AnswerNotes>>;
  problems: readonly ProblemCode[];
}

interface BodyNotes {
  schema: z.ZodType;
  description: string;
  /** Absent: it must be there. */
  optional?: true;
  examples: Readonly<Record<string, { summary: string; value: unknown }>>;
}

interface AnswerNotes {
  description: string;
  /** Absent: the answer is empty. */
  schema?: z.ZodType;
  example?: unknown;
  headers?: readonly (keyof typeof headers)[];
}
