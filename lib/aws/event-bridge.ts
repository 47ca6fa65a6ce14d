import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import type { EventBusConfig } from '../config.ts';
import type { BusEntry, PutEntries } from '../webhooks/event-bus.ts';
import { awsTransport, localAws } from './transport.ts';

/** One try a call: the schedule of the deliveries repeats what failed. Rejects with the SDK's error. */
export function eventBridge({ busName, endpoint }: EventBusConfig, stage: string): PutEntries {
  const client = new EventBridgeClient({ maxAttempts: 1, ...awsTransport(4, 5_000), ...localAws(endpoint) });
  const toEntry = ({ eventId, subjectId, type, body }: BusEntry) => ({
    EventBusName: busName,
    Source: `pollkeeper.${stage}`,
    DetailType: type,
    // The body itself does not tell the event's id, by which a repeat is known.
    Resources: [eventId, subjectId],
    Detail: body,
  });
  return async (entries) => {
    const reply = await client.send(new PutEventsCommand({ Entries: entries.map(toEntry) }));
    return entries.map((_, place) => {
      const answer = reply.Entries?.[place];
      if (answer?.EventId !== undefined) return null;
      return `${answer?.ErrorCode ?? 'no answer'}: ${answer?.ErrorMessage ?? ''}`;
    });
  };
}
