import * as z from 'zod';
import {
  accountName,
  batchName,
  chosenEvents,
  deadlineSeconds,
  input,
  metadata,
  priority,
  webhookUrl,
} from './job-fields.ts';

/* The bodies that bring jobs in. */

const batchItemsMax = 500;
const adoptItemsMax = 1_000;

/** What may stand beside the items of a batch, for those that do not say it themselves. */
const defaults = {
  account: accountName.optional(),
  batch: batchName.optional(),
  webhook_url: webhookUrl.optional(),
  webhook_events: chosenEvents.optional(),
};

export const submitBody = z
  .strictObject({
    input,
    ...defaults,
    priority: priority.optional(),
    deadline_seconds: deadlineSeconds.optional(),
    metadata: metadata.optional(),
  })
  .meta({ id: 'SubmitBody' });

const keyRule = 'must be 1 to 255 visible ASCII characters without comma, quote or backslash';

export const batchItem = z
  .strictObject({
    idempotency_key: z.string().regex(/^[!#-+\--[\]-~]{1,255}$/, keyRule),
    ...submitBody.shape,
  })
  .meta({ id: 'BatchItem' });

/** The items are checked one by one, each by `batchItem`: one that is wrong fails alone. */
export const batchBody = z
  .strictObject({ items: z.array(z.unknown()).min(1).max(batchItemsMax), ...defaults })
  .meta({ id: 'BatchBody' });

const providerJobIdRule = 'must be the id of the provider, 1 to 200 characters of A–Z, a–z, 0–9, ., _, ~ and -';

export const adoptItem = z
  .strictObject({
    provider_job_id: z.string().regex(/^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,200}$/, providerJobIdRule),
    metadata: metadata.optional(),
    deadline_seconds: deadlineSeconds.optional(),
  })
  .meta({ id: 'AdoptItem' });

/** The items are checked one by one, each by `adoptItem`. */
export const adoptBody = z
  .strictObject({ items: z.array(z.unknown()).min(1).max(adoptItemsMax), ...defaults })
  .meta({ id: 'AdoptBody' });
