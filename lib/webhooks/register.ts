import type { EventType } from '../event.ts';
import type { EndpointStore } from '../event-ports.ts';
import { endpointIdFor } from '../identify.ts';
import type { Clock } from '../ports.ts';
import { type Endpoint, type EndpointSecret, endpointsMax, isGood, newEndpoint } from './endpoint.ts';

/* What an owner does to the endpoints that hear of all its jobs, and to those that its jobs have brought along. */

/** Why events are never sent to this URL, for people; null when they may be. */
export type CheckWebhookUrl = (url: string) => Promise<string | null>;

export interface RegisterPorts {
  endpoints: Pick<EndpointStore, 'create' | 'get' | 'update' | 'remove' | 'list'>;
  checkWebhookUrl: CheckWebhookUrl;
  /** `whsec_` and base64 of 32 random bytes. */
  newSecret: () => string;
  /** A text that was never there before. */
  newId: () => string;
  clock: Pick<Clock, 'nowMs'>;
}

/** `raced`: others kept changing it; may be repeated. */
type EndpointRefusal =
  | { kind: 'url_refused'; reason: string }
  | { kind: 'too_many' }
  | { kind: 'job_endpoint' }
  | { kind: 'too_many_secrets' }
  | { kind: 'raced' };
export type EndpointResult = { kind: 'done'; endpoint: Endpoint } | EndpointRefusal;

export interface EndpointChange {
  url?: string;
  events?: EventType[] | null;
  description?: string;
  state?: Endpoint['state'];
}

const lostRacesMax = 3;
/** Each that still signs makes the header of every delivery longer. */
const signingSecretsMax = 5;

/**
 * Registers one more. Many at the same moment may bring an owner a little past its limit: no further than the index is behind.
 * Rejects with a JobStoreError.
 */
export async function registerEndpoint(
  ports: RegisterPorts,
  owner: string,
  { url, events = null, description = '' }: { url: string } & Pick<EndpointChange, 'events' | 'description'>,
): Promise<EndpointResult> {
  const reason = await ports.checkWebhookUrl(url);
  if (reason !== null) return { kind: 'url_refused', reason };
  const registered = await ports.endpoints.list(owner, 'registered');
  if (registered.length >= endpointsMax) return { kind: 'too_many' };
  // Its URL may change, and two may have the same. A space is in no URL, so that no job's endpoint can have its id.
  const id = endpointIdFor(owner, `registered ${ports.newId()}`);
  const given = { id, owner, kind: 'registered', url, events, description } as const;
  const endpoint = newEndpoint(given, ports.newSecret(), ports.clock.nowMs());
  const result = await ports.endpoints.create(endpoint);
  // A name that has never been before can only have met its own first try, whose answer was lost.
  const made = result.kind === 'exists' ? result.endpoint : endpoint;
  if (!isBeyondLimit(made, await ports.endpoints.list(owner, 'registered'))) return { kind: 'done', endpoint: made };
  await ports.endpoints.remove(made.id);
  return { kind: 'too_many' };
}

/** Others may have registered at the same moment; then the last ones give way, all by the same order. */
function isBeyondLimit(made: Endpoint, registered: readonly Endpoint[]): boolean {
  const isBefore = ({ createdAtMs, id }: Endpoint) =>
    createdAtMs < made.createdAtMs || (createdAtMs === made.createdAtMs && id < made.id);
  return registered.filter(isBefore).length >= endpointsMax;
}

/** Where a job's endpoint leads, and what it hears, is said by its jobs: of it only the rest can be changed. */
export async function changeEndpoint(
  ports: RegisterPorts,
  found: Endpoint,
  change: EndpointChange,
): Promise<EndpointResult> {
  if (found.kind === 'job' && (change.url !== undefined || change.events !== undefined))
    return { kind: 'job_endpoint' };
  const reason = change.url === undefined ? null : await ports.checkWebhookUrl(change.url);
  if (reason !== null) return { kind: 'url_refused', reason };
  return write(ports, found, (endpoint, nowMs) => changed(endpoint, change, nowMs));
}

function changed(endpoint: Endpoint, { state, ...change }: EndpointChange, nowMs: number): Endpoint {
  const next = { ...endpoint, ...change };
  if (state === undefined || state === endpoint.state) return next;
  if (state === 'disabled') return { ...next, state, disabledBy: 'owner', disabledAtMs: nowMs };
  const { disabledBy: _, disabledAtMs: __, ...rest } = next;
  return { ...rest, state };
}

/** Its pending deliveries are canceled when they are next due. */
export async function removeEndpoint({ endpoints }: RegisterPorts, { id }: Endpoint): Promise<void> {
  await endpoints.remove(id);
}

/** A new secret signs from now on; the older ones do so too, for `overlapMs` at most. */
export async function rotateSecret(ports: RegisterPorts, found: Endpoint, overlapMs: number): Promise<EndpointResult> {
  const secret = ports.newSecret();
  return write(ports, found, (endpoint, nowMs) => {
    const older = endpoint.secrets.map((old) => expiring(old, nowMs + overlapMs)).filter((old) => isGood(old, nowMs));
    if (older.length >= signingSecretsMax) return { kind: 'too_many_secrets' };
    return { ...endpoint, secrets: [{ secret, createdAtMs: nowMs }, ...older] };
  });
}

function expiring(old: EndpointSecret, atMs: number): EndpointSecret {
  return { ...old, expiresAtMs: Math.min(old.expiresAtMs ?? atMs, atMs) };
}

/** Writes what `make` makes of the endpoint as it is stored. */
async function write(
  { endpoints, clock }: RegisterPorts,
  found: Endpoint,
  make: (endpoint: Endpoint, nowMs: number) => Endpoint | EndpointRefusal,
): Promise<EndpointResult> {
  let endpoint: Endpoint | null = found;
  for (let tries = 1; endpoint !== null && tries <= lostRacesMax; tries++) {
    const nowMs = clock.nowMs();
    const next = make(endpoint, nowMs);
    // An endpoint's kind is never one of a refusal's.
    if (!('id' in next)) return next;
    const written = await endpoints.update({ ...next, updatedAtMs: nowMs });
    if (written.kind === 'updated') return { kind: 'done', endpoint: written.endpoint };
    endpoint = await endpoints.get(found.id);
  }
  return { kind: 'raced' };
}
