import * as z from 'zod';
import { type EventType, eventTypes } from '../../event.ts';
import { priorityDefault, priorityMax } from '../../job.ts';

/* The fields that requests share. What a rule says when it is broken follows the field's name in the answer. */

const metadataMax = 20;
const priorityRule = `must be a whole number from 0 to ${priorityMax}, where ${priorityMax} goes first`;
const deadlineMaxSeconds = 7 * 24 * 3600;

/** Fields of `input` that we know are checked; all others go to the provider untouched. */
export const input = z
  .looseObject({
    model: z.string().min(1).max(200),
    prompt: z.string().min(1).max(20_000),
    duration: z.number().positive().max(3_600).optional(),
    resolution: z.string().min(1).max(50).optional(),
  })
  .meta({ id: 'Input' });

export const accountName = z.string().min(1).max(64);

export const priority = z
  .int(priorityRule)
  .min(0, priorityRule)
  .max(priorityMax, priorityRule)
  .meta({ default: priorityDefault });

export const deadlineSeconds = z.int().min(60).max(deadlineMaxSeconds);

const metadataEntries = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((entries) => Object.keys(entries).length <= metadataMax, `may have at most ${metadataMax} entries`);

export const metadata = z
  .preprocess((value, context) => {
    // zod leaves this name out of its copy without a word.
    if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__')) {
      context.issues.push({ code: 'custom', message: 'can not be used as a name', input: value, path: ['__proto__'] });
    }
    return value;
  }, metadataEntries)
  .meta({ id: 'Metadata', maxProperties: metadataMax });

const batchNameRule = 'must be 1 to 64 characters of A–Z, a–z, 0–9, _, . and -';
export const batchName = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, batchNameRule);

/** Only its length is checked here; whether events may be sent there is for the guard. */
export const webhookUrl = z.string().min(1).max(2_000);

const eventTypeRule = `must be one of ${eventTypes.join(', ')}`;
export const eventType = z.enum(eventTypes as [EventType, ...EventType[]], eventTypeRule).meta({ id: 'EventType' });

export const chosenEvents = z
  .array(eventType)
  .min(1)
  .refine((types) => new Set(types).size === types.length, 'must not name a type twice')
  .meta({ uniqueItems: true });
