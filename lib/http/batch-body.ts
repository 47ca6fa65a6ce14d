import type * as z from 'zod';
import { isObject } from '../json.ts';
import { inexactByItem } from './inexact-number.ts';
import { Problem } from './problem.ts';
import { checkFields, demandShallow, inexact, parseBody } from './read-body.ts';
import { adoptBody, adoptItem, batchBody, batchItem } from './schema/submit.ts';
import {
  deadlineDefaultSeconds,
  defaultsOf,
  type SubmitBody,
  type SubmitDefaults,
  submissionOf,
} from './submit-body.ts';

export const batchBytesMax = 5 * 1024 * 1024;

export interface BatchItem extends SubmitBody {
  idempotencyKey: string;
}

export interface AdoptItem {
  providerJobId: string;
  deadlineSeconds: number;
  metadata: Record<string, string>;
}

/** What a body of many items has in common, and each item as it was read, or the Problem for which it alone is refused. */
export interface ManyBody<Item> {
  defaults: SubmitDefaults;
  items: (Item | Problem)[];
}

/** The items have the body's defaults in them. Throws a Problem (400 or 413) for what is wrong with the whole. */
export function readBatchBody(text: string): ManyBody<BatchItem> {
  return readMany(text, batchBody, (item, defaults) => {
    const { idempotency_key: idempotencyKey, ...fields } = checkFields(batchItem, item);
    const sentInput = isObject(item) ? item.input : undefined;
    return { ...defaults, idempotencyKey, ...submissionOf(sentInput, fields) };
  });
}

/** Throws a Problem (400 or 413) for what is wrong with the whole. */
export function readAdoptBody(text: string): ManyBody<AdoptItem> {
  return readMany(text, adoptBody, (item) => {
    const { provider_job_id: providerJobId, deadline_seconds: seconds, metadata } = checkFields(adoptItem, item);
    return { providerJobId, deadlineSeconds: seconds ?? deadlineDefaultSeconds, metadata: metadata ?? {} };
  });
}

function readMany<Item>(
  text: string,
  schema: typeof batchBody | typeof adoptBody,
  readItem: (item: unknown, defaults: SubmitDefaults) => Item,
): ManyBody<Item> {
  const body: z.output<typeof schema> = checkFields(schema, parseBody(text, { bytesMax: batchBytesMax }));
  const defaults = defaultsOf(body);
  const inexactOnes = inexactByItem(text, 'items');
  const outside = inexactOnes.get(-1);
  if (outside !== undefined) throw inexact(outside);
  const items = body.items.map((item, index) => {
    try {
      const number = inexactOnes.get(index);
      if (number !== undefined) throw inexact(number);
      demandShallow(item);
      return readItem(item, defaults);
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  });
  return { defaults, items };
}
