import { jobEndpointsListed } from '../../webhooks/endpoint.ts';
import { deliveryId, endpointId, jobId } from '../schema/answer-fields.ts';
import { endpointBody, endpointPatch, rotateSecretBody } from '../schema/endpoint-bodies.ts';
import { deliveriesQuery } from '../schema/queries.ts';
import {
  deliveriesAnswer,
  deliveryAnswer,
  deliveryListAnswer,
  endpointAnswer,
  endpointListAnswer,
  newEndpointAnswer,
  secretAnswer,
} from '../schema/webhook-answers.ts';
import {
  exampleDelivery,
  exampleDeliveryId,
  exampleEndpoint,
  exampleEndpointId,
  exampleJobId,
  exampleSecret,
} from './examples.ts';
import type { OperationNotes } from './operation-notes.ts';
import { bodyProblems, tokenProblems } from './problem-codes.ts';

const path = { id: { schema: endpointId, description: 'The id of the endpoint.', example: exampleEndpointId } };
const jobPath = { id: { schema: jobId, description: 'The id of the job.', example: exampleJobId } };
const problems = [...tokenProblems, 'no_such_endpoint'] as const;
const secretExample = { secret: exampleSecret, created_at: '2026-11-30T09:00:00.000Z', previous: [] };

export const webhookOperations = {
  listEndpoints: {
    tag: 'webhooks',
    summary: 'List endpoints',
    description: `Those that were registered, and the newest ${jobEndpointsListed} of those that came with jobs, newest first.`,
    answers: {
      200: { description: 'The endpoints.', schema: endpointListAnswer, example: { endpoints: [exampleEndpoint] } },
    },
    problems: tokenProblems,
  },
  createEndpoint: {
    tag: 'webhooks',
    summary: 'Register an endpoint',
    description: 'Events of all the owner’s jobs go there from now on. This answer has the secret that signs them.',
    body: {
      schema: endpointBody,
      description: 'Where to, and which events: the usual ones when `events` is null or left out.',
      examples: {
        usual: { summary: 'The usual events', value: { url: 'https://example.com/hooks/all' } },
        ends: {
          summary: 'Two kinds of ends',
          value: {
            url: 'https://example.com/hooks/ends',
            events: ['job.completed', 'job.failed'],
            description: 'The editing desk',
          },
        },
      },
    },
    answers: {
      201: {
        description: 'It is registered.',
        schema: newEndpointAnswer,
        example: { ...exampleEndpoint, secret: exampleSecret },
        headers: ['Location'],
      },
    },
    problems: [...tokenProblems, ...bodyProblems, 'webhook_url_refused', 'too_many_endpoints', 'request_raced'],
  },
  getEndpoint: {
    tag: 'webhooks',
    summary: 'Read an endpoint',
    description: 'Without its secret.',
    path,
    answers: { 200: { description: 'The endpoint.', schema: endpointAnswer, example: exampleEndpoint } },
    problems,
  },
  changeEndpoint: {
    tag: 'webhooks',
    summary: 'Change an endpoint',
    description: 'Fields that are left out stay. Disabling it cancels what is on its way there.',
    path,
    body: {
      schema: endpointPatch,
      description: 'What is to be another.',
      examples: {
        disable: { summary: 'No more events for now', value: { state: 'disabled' } },
        enable: { summary: 'The usual events again', value: { state: 'enabled', events: null } },
      },
    },
    answers: { 200: { description: 'The endpoint as it is now.', schema: endpointAnswer, example: exampleEndpoint } },
    problems: [...problems, ...bodyProblems, 'webhook_url_refused', 'endpoint_of_jobs', 'request_raced'],
  },
  removeEndpoint: {
    tag: 'webhooks',
    summary: 'Remove an endpoint',
    description: 'What is on its way there is canceled.',
    path,
    answers: { 204: { description: 'It is gone.' } },
    problems,
  },
  getEndpointSecret: {
    tag: 'webhooks',
    summary: 'Read an endpoint’s secret',
    description: 'The one that signs, and those that it replaced and that still sign beside it.',
    path,
    answers: { 200: { description: 'The secrets.', schema: secretAnswer, example: secretExample } },
    problems,
  },
  rotateEndpointSecret: {
    tag: 'webhooks',
    summary: 'Give an endpoint a new secret',
    description: 'For `overlap_seconds` both the new and the old one sign.',
    path,
    body: {
      schema: rotateSecretBody,
      description: 'How long the old secret goes on signing; a day when left out.',
      optional: true,
      examples: {
        hour: { summary: 'An hour', value: { overlap_seconds: 3_600 } },
        usual: { summary: 'A day', value: {} },
      },
    },
    answers: { 200: { description: 'The secrets as they are now.', schema: secretAnswer, example: secretExample } },
    problems: [...problems, ...bodyProblems, 'too_many_secrets', 'request_raced'],
  },
  listDeliveries: {
    tag: 'webhooks',
    summary: 'List dead deliveries, or those on their way to an endpoint',
    description: 'Newest first. Exactly one of `state` and `endpoint_id` is to be given.',
    query: deliveriesQuery,
    queryNotes: {
      state: { description: '`dead`: those that failed ten times.', example: 'dead' },
      endpoint_id: { description: 'Those that are pending at this endpoint.' },
      limit: { description: 'Deliveries on a page at most.', example: 20 },
      cursor: { description: '`next_cursor` of the page before, as it was.' },
    },
    answers: {
      200: {
        description: 'A page.',
        schema: deliveryListAnswer,
        example: { deliveries: [exampleDelivery], next_cursor: null },
      },
    },
    problems: [...problems, 'state_invalid', 'endpoint_id_invalid', 'limit_invalid', 'cursor_invalid'],
  },
  redeliverJob: {
    tag: 'webhooks',
    summary: 'Deliver a job’s newest event again',
    description: 'To every endpoint that it went to, with the same event id and the same bytes.',
    path: jobPath,
    answers: {
      202: {
        description: 'The deliveries begin anew. None while they are still made out.',
        schema: deliveriesAnswer,
        example: { deliveries: [exampleDelivery] },
      },
    },
    problems: [
      ...tokenProblems,
      'body_invalid',
      'no_such_job',
      'no_event',
      'nobody_listens',
      'endpoint_disabled',
      'endpoint_removed',
      'request_raced',
    ],
  },
  listJobDeliveries: {
    tag: 'webhooks',
    summary: 'The delivery log of a job',
    description: 'Every delivery of its events, each with its newest attempts. Kept for 30 days after its end.',
    path: jobPath,
    answers: {
      200: { description: 'All of them.', schema: deliveriesAnswer, example: { deliveries: [exampleDelivery] } },
    },
    problems: [...tokenProblems, 'no_such_job'],
  },
  redeliver: {
    tag: 'webhooks',
    summary: 'Deliver once more',
    description: 'The delivery begins anew, with the same ids and the same bytes, whatever became of it.',
    path: { id: { schema: deliveryId, description: 'The id of the delivery.', example: exampleDeliveryId } },
    answers: { 202: { description: 'It is due.', schema: deliveryAnswer, example: exampleDelivery } },
    problems: [
      ...tokenProblems,
      'body_invalid',
      'no_such_delivery',
      'endpoint_disabled',
      'endpoint_removed',
      'request_raced',
    ],
  },
} satisfies Record<string, OperationNotes>;
