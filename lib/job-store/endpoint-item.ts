import { isObject } from '../json.ts';
import type { Endpoint } from '../webhooks/endpoint.ts';
import type { Mapping } from './documents.ts';
import { attributesOf, type Fields, fieldsOf, type Item } from './item-fields.ts';

/*
 * An endpoint as an item and back. Its secrets are in it; no reason why it can't be read tells a value. Those that were
 * registered and those that came with a job stand apart in the index of owners: of the latter there may be thousands.
 */

const fixedFields = {
  id: ['id', 'text'],
  owner: ['belongs_to', 'text'],
  kind: ['kind', 'text'],
  createdAtMs: ['created_at_ms', 'number'],
} as const satisfies Fields & Partial<Record<keyof Endpoint, unknown>>;

const movingFields = {
  url: ['url', 'text'],
  events: ['events', 'list'],
  description: ['description', 'text'],
  state: ['state', 'text'],
  disabledBy: ['disabled_by', 'text'],
  disabledAtMs: ['disabled_at_ms', 'number'],
  secrets: ['secrets', 'list'],
  updatedAtMs: ['updated_at_ms', 'number'],
  revision: ['revision', 'number'],
} as const satisfies Fields & Partial<Record<keyof Endpoint, unknown>>;

const fields = { ...fixedFields, ...movingFields } satisfies Fields & Record<keyof Endpoint, unknown>;

export function endpointsOf(owner: string, kind: Endpoint['kind']): string {
  return kind === 'registered' ? `endpoint#${owner}` : `job-endpoint#${owner}`;
}

export const endpointMapping: Mapping<Endpoint> = {
  name: 'endpoint',
  toItem: (endpoint) => ({
    ...attributesOf(fixedFields, endpoint).set,
    ...moving(endpoint).set,
    owner: { S: endpointsOf(endpoint.owner, endpoint.kind) },
  }),
  moving,
  fromItem,
};

/** Null, all the usual events, is an attribute that is not there. */
function moving({ events, ...endpoint }: Endpoint): { set: Item; remove: string[] } {
  return attributesOf(movingFields, events === null ? endpoint : { ...endpoint, events });
}

const required = ['id', 'owner', 'kind', 'url', 'state', 'secrets', 'createdAtMs', 'revision'] as const;

function fromItem(item: Item): { document: Endpoint } | { broken: string } {
  const read = fieldsOf(fields, item);
  if ('broken' in read) return read;
  const endpoint: Record<string, unknown> = {
    ...{ events: null, description: '', updatedAtMs: read.found.createdAtMs },
    ...read.found,
  };
  const missing = required.find((field) => endpoint[field] === undefined);
  if (missing !== undefined) return { broken: `attribute ${fields[missing][0]} is missing` };
  if (endpoint.kind !== 'registered' && endpoint.kind !== 'job') return { broken: 'its kind is unknown' };
  if (endpoint.state !== 'enabled' && endpoint.state !== 'disabled') return { broken: 'its state is unknown' };
  const secrets = endpoint.secrets as unknown[];
  if (secrets.length === 0 || !secrets.every((entry) => isObject(entry) && typeof entry.secret === 'string'))
    return { broken: 'attribute secrets has an entry that is none, or none at all' };
  return { document: endpoint as unknown as Endpoint };
}
