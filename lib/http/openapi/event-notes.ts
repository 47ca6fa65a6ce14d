import { eventTypes, usualEventTypes } from '../../event.ts';
import { batchEventBody, jobEventBody } from '../schema/events.ts';
import { schemaOf } from './components.ts';
import { exampleBatch, exampleCompletedJob } from './examples.ts';

/* What the service itself sends: the `webhooks` of the document. */

const headers = [
  ['webhook-id', 'The id of the event, the same in every attempt: take it only once.'],
  ['webhook-timestamp', 'When the attempt was made, in seconds since 1970. Refuse what is older than five minutes.'],
  [
    'webhook-signature',
    '`v1,` and a signature of id, time and body; several, with a space between, while secrets rotate.',
  ],
].map(([name, description]) => ({ name, in: 'header', required: true, description, schema: { type: 'string' } }));

const rules =
  'As of Standard Webhooks. Any 2xx within 15 seconds counts as taken; 410 disables the endpoint; everything else is tried ' +
  'again, ten times in all, over some 76 hours, or later when Retry-After says so. Redirects are not followed.';

function webhook(operationId: string, summary: string, description: string, schema: object, value: unknown) {
  return {
    post: {
      operationId,
      tags: ['webhooks'],
      summary,
      description: `${description} ${rules}`,
      security: [],
      parameters: headers,
      requestBody: {
        required: true,
        description: 'At most 20 KB; what does not fit is left out, and linked.',
        content: { 'application/json': { schema, examples: { usual: { value } } } },
      },
      responses: {
        '2XX': { description: 'Taken.' },
        '410': { description: 'Nobody is there any more: nothing is sent there from now on.' },
        default: { description: 'Not taken: it is sent again.' },
      },
    },
  };
}

export function webhooks() {
  const unusual = eventTypes.filter((type) => !usualEventTypes.includes(type)).join(', ');
  const timestamp = '2026-11-30T09:17:30.000Z';
  return {
    jobEvent: webhook(
      'jobEvent',
      'A job has come to a state',
      `One event for each job and state. ${unusual} only goes to those who chose it.`,
      schemaOf(jobEventBody),
      { type: 'job.completed', timestamp, data: exampleCompletedJob },
    ),
    batchEvent: webhook(
      'batchEvent',
      'A batch has ended',
      'One event once all jobs of the batch have ended.',
      schemaOf(batchEventBody),
      { type: 'batch.completed', timestamp, data: { ...exampleBatch, job_ids: null, job_ids_truncated: true } },
    ),
  };
}
