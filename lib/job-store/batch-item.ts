import type { Batch } from '../batch.ts';
import { activePartition } from './delivery-item.ts';
import type { Mapping } from './documents.ts';
import { attributesOf, type Fields, fieldsOf, type Item, number } from './item-fields.ts';
import { retentionMs, shardOf } from './job-item.ts';

/*
 * A batch as an item and back. It is in the index of active ones until it has ended and its event is on its way. It has no
 * attribute `owner`: it is read by its id alone, and must not stand among the owner's jobs.
 */

const fixedFields = {
  id: ['id', 'text'],
  owner: ['belongs_to', 'text'],
  name: ['name', 'text'],
  webhookUrl: ['webhook_url', 'text'],
  createdAtMs: ['created_at_ms', 'number'],
} as const satisfies Fields & Partial<Record<keyof Batch, unknown>>;

const movingFields = {
  touchedAtMs: ['touched_at_ms', 'number'],
  completedAtMs: ['completed_at_ms', 'number'],
  counts: ['counts', 'object'],
  pending: ['pending', 'flag'],
  deliveries: ['deliveries', 'list'],
  revision: ['revision', 'number'],
} as const satisfies Fields & Partial<Record<keyof Batch, unknown>>;

const fields = { ...fixedFields, ...movingFields } satisfies Fields & Record<keyof Batch, unknown>;

/** Longer than a job can take, and be kept: by then an open batch is one whose jobs were never there. */
const openKeptMs = 2 * retentionMs;

/** Of a batch that is written anew: `expires_at`, in seconds, after its last sign of life. */
export function expiry({ touchedAtMs, completedAtMs }: Pick<Batch, 'touchedAtMs' | 'completedAtMs'>): Item[string] {
  const endMs = completedAtMs === undefined ? touchedAtMs + openKeptMs : completedAtMs + retentionMs;
  return number(Math.floor(endMs / 1000));
}

export const batchMapping: Mapping<Batch> = {
  name: 'batch',
  toItem: (batch) => ({ ...attributesOf(fixedFields, batch).set, ...moving(batch).set }),
  moving,
  fromItem,
};

function moving(batch: Batch): { set: Item; remove: string[] } {
  const { set, remove } = attributesOf(movingFields, batch);
  set.expires_at = expiry(batch);
  if (batch.completedAtMs === undefined || batch.pending === true) set.active = activeAttribute(batch.id);
  else remove.push('active');
  return { set, remove };
}

export function activeAttribute(id: string): Item[string] {
  return { S: activePartition(shardOf(id)) };
}

const required = ['id', 'owner', 'name', 'createdAtMs', 'touchedAtMs', 'revision'] as const;

function fromItem(item: Item): { document: Batch } | { broken: string } {
  const read = fieldsOf(fields, item);
  if ('broken' in read) return read;
  const missing = required.find((field) => read.found[field] === undefined);
  if (missing !== undefined) return { broken: `attribute ${fields[missing][0]} is missing` };
  return { document: read.found as unknown as Batch };
}
