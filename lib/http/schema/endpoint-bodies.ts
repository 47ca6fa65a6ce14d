import * as z from 'zod';
import { chosenEvents, webhookUrl } from './job-fields.ts';

/* The bodies that register and change endpoints. */

const description = z.string().max(500);

export const endpointBody = z
  .strictObject({ url: webhookUrl, events: chosenEvents.nullable().optional(), description: description.optional() })
  .meta({ id: 'EndpointBody' });

export const endpointPatch = z
  .strictObject({
    url: webhookUrl.optional(),
    events: chosenEvents.nullable().optional(),
    description: description.optional(),
    state: z.enum(['enabled', 'disabled']).optional(),
  })
  .meta({ id: 'EndpointPatch' });

const overlapMaxSeconds = 7 * 24 * 3600;
const overlapDefaultSeconds = 24 * 3600;

export const rotateSecretBody = z
  .strictObject({ overlap_seconds: z.int().min(0).max(overlapMaxSeconds).default(overlapDefaultSeconds) })
  .meta({ id: 'RotateSecretBody' });
