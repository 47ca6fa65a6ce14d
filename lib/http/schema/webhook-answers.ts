import * as z from 'zod';
import { deliveryStates } from '../../webhooks/delivery.ts';
import {
  batchId,
  count,
  deliveryId,
  endpointId,
  eventId,
  jobId,
  links,
  nextCursor,
  time,
  timeOrNull,
} from './answer-fields.ts';
import { chosenEvents, eventType } from './job-fields.ts';

/* Endpoints, their secrets, and deliveries, as the API shows them. */

export const endpointAnswer = z
  .strictObject({
    id: endpointId,
    kind: z.enum(['registered', 'job']),
    url: z.string(),
    events: chosenEvents.nullable(),
    description: z.string(),
    state: z.enum(['enabled', 'disabled']),
    disabled_by: z.enum(['gone', 'owner']).nullable(),
    disabled_at: timeOrNull,
    created_at: time,
    updated_at: time,
    links: links('self', 'list'),
  })
  .meta({ id: 'Endpoint' });

const secret = z.string().regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/);

export const newEndpointAnswer = endpointAnswer.extend({ secret }).meta({ id: 'NewEndpoint' });

export const endpointListAnswer = z.strictObject({ endpoints: z.array(endpointAnswer) }).meta({ id: 'EndpointList' });

export const secretAnswer = z
  .strictObject({
    secret: secret.nullable(),
    created_at: timeOrNull,
    previous: z.array(z.strictObject({ secret, expires_at: time })),
  })
  .meta({ id: 'EndpointSecret' });

const attempt = z.strictObject({
  at: time,
  status: z.int().nullable(),
  ms: count,
  fault: z.string().nullable(),
  snippet: z.string(),
});

export const deliveryAnswer = z
  .strictObject({
    id: deliveryId,
    event_id: eventId,
    type: eventType,
    job_id: jobId.optional(),
    batch_id: batchId.optional(),
    endpoint_id: z.string(),
    state: z.enum(deliveryStates),
    attempts: count,
    next_at: timeOrNull,
    created_at: time,
    ended_at: timeOrNull,
    log: z.array(attempt),
  })
  .meta({ id: 'Delivery' });

export const deliveriesAnswer = z.strictObject({ deliveries: z.array(deliveryAnswer) }).meta({ id: 'Deliveries' });

export const deliveryListAnswer = z
  .strictObject({ deliveries: z.array(deliveryAnswer), next_cursor: nextCursor })
  .meta({ id: 'DeliveryList' });
