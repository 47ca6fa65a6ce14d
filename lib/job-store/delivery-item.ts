import { eventTypes } from '../event.ts';
import { isObject } from '../json.ts';
import { busId, type Delivery, deliveryStates } from '../webhooks/delivery.ts';
import type { Mapping } from './documents.ts';
import { attributesOf, type Fields, fieldsOf, type Item, number } from './item-fields.ts';
import { retentionMs, shardOf } from './job-item.ts';

/*
 * A delivery as an item and back. It is in the index of active ones while it is pending, and in that of owners under what
 * it may be asked for by: its endpoint while it is pending, its owner when it is dead. No owner has a `#` in its name.
 */

const fixedFields = {
  id: ['id', 'text'],
  owner: ['belongs_to', 'text'],
  subjectId: ['subject_id', 'text'],
  eventId: ['event_id', 'text'],
  type: ['type', 'text'],
  endpointId: ['endpoint_id', 'text'],
  body: ['body', 'text'],
  createdAtMs: ['created_at_ms', 'number'],
} as const satisfies Fields & Partial<Record<keyof Delivery, unknown>>;

const movingFields = {
  state: ['state', 'text'],
  attempts: ['attempts', 'number'],
  nextAtMs: ['next_at_ms', 'number'],
  updatedAtMs: ['updated_at_ms', 'number'],
  endedAtMs: ['ended_at_ms', 'number'],
  log: ['log', 'list'],
  revision: ['revision', 'number'],
} as const satisfies Fields & Partial<Record<keyof Delivery, unknown>>;

const fields = { ...fixedFields, ...movingFields } satisfies Fields & Record<keyof Delivery, unknown>;

export const pendingAt = (endpointId: string) => `pending#${endpointId}`;
export const deadOf = (owner: string) => `dead#${owner}`;
/** Deliveries and batches stand beside the jobs in the index of active ones, in partitions of their own. */
export const activePartition = (shard: number) => `d${shard}`;

export const deliveryMapping: Mapping<Delivery> = {
  name: 'delivery',
  toItem: (delivery) => ({ ...attributesOf(fixedFields, delivery).set, ...moving(delivery).set }),
  moving,
  fromItem,
};

function moving(delivery: Delivery): { set: Item; remove: string[] } {
  const { set, remove } = attributesOf(movingFields, delivery);
  const indexes = {
    owner: listedUnder(delivery),
    active: delivery.state === 'pending' ? { S: activePartition(shardOf(delivery.id)) } : undefined,
    expires_at:
      delivery.state === 'pending'
        ? undefined
        : number(Math.floor(((delivery.endedAtMs ?? delivery.updatedAtMs) + retentionMs) / 1000)),
  };
  for (const [name, value] of Object.entries(indexes)) {
    if (value === undefined) remove.push(name);
    else set[name] = value;
  }
  return { set, remove };
}

/** Those for the bus are of all owners: nobody asks for them, and they would share one partition. */
function listedUnder({ state, owner, endpointId }: Delivery): Item[string] | undefined {
  if (state === 'dead') return { S: deadOf(owner) };
  return state === 'pending' && endpointId !== busId ? { S: pendingAt(endpointId) } : undefined;
}

function fromItem(item: Item): { document: Delivery } | { broken: string } {
  const read = fieldsOf(fields, item);
  if ('broken' in read) return read;
  const delivery: Record<string, unknown> = { log: [], ...read.found };
  const missing = Object.entries(fields).find(([field]) => field !== 'endedAtMs' && delivery[field] === undefined);
  if (missing !== undefined) return { broken: `attribute ${missing[1][0]} is missing` };
  if (!deliveryStates.some((state) => state === delivery.state)) return { broken: 'its state is unknown' };
  if (!eventTypes.some((type) => type === delivery.type)) return { broken: 'its type is unknown' };
  if (!Number.isSafeInteger(delivery.attempts) || Number(delivery.attempts) < 0)
    return { broken: 'attribute attempts is no count' };
  if (!(delivery.log as unknown[]).every((entry) => isObject(entry) && typeof entry.atMs === 'number'))
    return { broken: 'attribute log has an entry without a time' };
  return { document: delivery as unknown as Delivery };
}
