import type { EventType } from '../../lib/event.ts';
import { endpointIdFor } from '../../lib/identify.ts';
import type { Job } from '../../lib/job.ts';
import type { SubmitRequest } from '../../lib/submit.ts';
import type { Endpoint } from '../../lib/webhooks/endpoint.ts';
import type { Dice } from './dice.ts';
import { epochMs } from './scheduler.ts';

/** Who listens to what, from the start to the end of a history. Written down apart from the product's own idea of it. */
const registered: readonly { owner: string; path: string; events: EventType[] | null }[] = [
  { owner: 'acme', path: 'usual', events: null },
  { owner: 'acme', path: 'all', events: ['job.processing', 'job.overdue', 'job.completed', 'job.failed'] },
  { owner: 'globex', path: 'few', events: ['job.completed', 'job.overdue', 'job.canceled'] },
  // Nobody listens to initech, but its jobs may bring an address along.
];

export const registeredEndpoints: readonly Endpoint[] = registered.map(({ owner, path, events }) => {
  const url = `https://${owner}.example/${path}`;
  return {
    ...{ id: endpointIdFor(owner, url), owner, kind: 'registered', url, events, description: '', state: 'enabled' },
    secrets: [{ secret: 'whsec_', createdAtMs: epochMs }],
    ...{ createdAtMs: epochMs, updatedAtMs: epochMs, revision: 1 },
  };
});

/** Ids of the endpoints that are to get the job's event of this type. */
export function listenersOf({ owner, webhookUrl, webhookEvents }: Job, type: EventType): string[] {
  const hears = (events: readonly EventType[] | null | undefined) =>
    events == null ? type !== 'job.processing' : events.includes(type);
  const theirs = registeredEndpoints.filter((endpoint) => endpoint.owner === owner && hears(endpoint.events));
  const own = webhookUrl !== undefined && hears(webhookEvents) ? [endpointIdFor(owner, webhookUrl)] : [];
  return [...theirs.map(({ id }) => id), ...own];
}

/** A third of the jobs bring an address of their own along. */
export function ownAddress(dice: Dice): Pick<SubmitRequest, 'webhookUrl' | 'webhookEvents'> {
  if (!dice.chance(0.33)) return {};
  const webhookUrl = `https://hooks.example/${dice.whole(1, 2)}`;
  const chosen = dice.pick<EventType[] | null>([null, ['job.completed'], ['job.processing', 'job.canceled']]);
  return chosen === null ? { webhookUrl } : { webhookUrl, webhookEvents: chosen };
}
