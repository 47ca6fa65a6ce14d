import type * as z from 'zod';
import type { EventType } from '../event.ts';
import { priorityDefault } from '../job.ts';
import type { JsonObject } from '../json.ts';
import { checkFields, demandExact, demandShallow, parseBody, tooLarge } from './read-body.ts';
import { submitBody } from './schema/submit.ts';

export const bodyBytesMax = 256 * 1024;
export const deadlineDefaultSeconds = 24 * 3600;

export interface SubmitBody extends SubmitDefaults {
  input: JsonObject;
  priority: number;
  deadlineSeconds: number;
  metadata: Record<string, string>;
}

/** What many jobs of one request may have in common. */
export interface SubmitDefaults {
  /** Absent: it is placed. */
  account?: string;
  batch?: string;
  webhookUrl?: string;
  /** Absent: the usual ones. */
  webhookEvents?: EventType[];
}

/** The body of a submit. Throws a Problem (400 or 413) that names the first field that is wrong. */
export function readSubmitBody(text: string): SubmitBody {
  const body = parseBody(text, { bytesMax: bodyBytesMax });
  demandExact(text);
  demandShallow(body);
  return submissionOf(body.input, checkFields(submitBody, body));
}

/** A checked submit, its defaults filled in. `sentInput` is the caller's own object: what goes to the provider is what was sent. */
export function submissionOf(sentInput: unknown, fields: z.output<typeof submitBody>): SubmitBody {
  // A number such as 1e20 is longer written out: what counts is what is stored.
  if (Buffer.byteLength(JSON.stringify(sentInput)) > bodyBytesMax) throw tooLarge(bodyBytesMax);
  return {
    input: sentInput as JsonObject,
    ...defaultsOf(fields),
    priority: fields.priority ?? priorityDefault,
    deadlineSeconds: fields.deadline_seconds ?? deadlineDefaultSeconds,
    metadata: fields.metadata ?? {},
  };
}

export function defaultsOf(
  fields: Pick<z.output<typeof submitBody>, 'account' | 'batch' | 'webhook_url' | 'webhook_events'>,
): SubmitDefaults {
  const { account, batch, webhook_url: webhookUrl, webhook_events: webhookEvents } = fields;
  return {
    ...(account === undefined ? {} : { account }),
    ...(batch === undefined ? {} : { batch }),
    ...(webhookUrl === undefined ? {} : { webhookUrl }),
    ...(webhookEvents === undefined ? {} : { webhookEvents }),
  };
}
