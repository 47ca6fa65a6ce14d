import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { ApiPorts } from '../../lib/http/app.ts';
import { DynamoBatches } from '../../lib/job-store/dynamo-batches.ts';
import { DynamoDeliveries } from '../../lib/job-store/dynamo-deliveries.ts';
import { DynamoEndpoints } from '../../lib/job-store/dynamo-endpoints.ts';
import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/ports.ts';
import { noEvents } from './no-events.ts';
import { noNews } from './no-notes.ts';

export type WebhookPorts = Pick<
  ApiPorts,
  'endpoints' | 'deliveries' | 'batches' | 'eventQueue' | 'news' | 'jobEndpoints' | 'checkWebhookUrl' | 'newSecret'
>;

/** What the API needs for events, over a real table. Nobody listens, and any URL may be called. */
export function quietWebhooks(
  client: DynamoDBClient,
  table: string,
  clock: Pick<Clock, 'nowMs' | 'sleep'>,
  log: Log,
): WebhookPorts {
  return {
    endpoints: new DynamoEndpoints(client, table, clock, log),
    deliveries: new DynamoDeliveries(client, table, clock, log),
    batches: new DynamoBatches(client, table, clock, log),
    eventQueue: noEvents.events,
    news: noNews,
    jobEndpoints: { ready: async () => null },
    checkWebhookUrl: async () => null,
    newSecret: () => 'whsec_dGhlIHNlY3JldCBvZiBhIHRlc3QgMTIzNDU2Nzg=',
  };
}
