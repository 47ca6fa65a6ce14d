import { type EventType, usualEventTypes } from '../event.ts';

/** Where events of an owner are sent. Times in ms since 1970. */
export interface Endpoint {
  /** `whe_` + 32 base32 characters. */
  id: string;
  owner: string;
  /** `registered`: hears of all the owner's jobs. `job`: came with a job's `webhook_url`, and hears only of jobs that name it. */
  kind: 'registered' | 'job';
  url: string;
  /** Which events go there; null: `usualEventTypes`. Of a `job` one always null: there the job itself chooses. */
  events: EventType[] | null;
  description: string;
  state: 'enabled' | 'disabled';
  /** `gone`: it answered 410. `owner`: its owner did it. */
  disabledBy?: 'gone' | 'owner';
  disabledAtMs?: number;
  /** Newest first; the first signs for good, the others until they expire. */
  secrets: EndpointSecret[];
  createdAtMs: number;
  updatedAtMs: number;
  /** Grows by one with every write; every write is conditional on the one before. */
  revision: number;
}

export interface EndpointSecret {
  /** `whsec_` and base64 of 32 random bytes. Never in a log or an error. */
  secret: string;
  createdAtMs: number;
  /** Set once a newer one has taken its place. */
  expiresAtMs?: number;
}

/** One that is new, enabled and with its first secret. */
export function newEndpoint(
  given: Pick<Endpoint, 'id' | 'owner' | 'kind' | 'url' | 'events' | 'description'>,
  secret: string,
  nowMs: number,
): Endpoint {
  return {
    ...given,
    state: 'enabled',
    secrets: [{ secret, createdAtMs: nowMs }],
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    revision: 1,
  };
}

/** How many endpoints an owner may register. */
export const endpointsMax = 50;

/** Of those that came with jobs, a list has the newest: a URL of its own for each job makes any number of them. */
export const jobEndpointsListed = 100;

/** Whether the event goes to this registered endpoint. */
export function hears({ events, state }: Pick<Endpoint, 'events' | 'state'>, type: EventType): boolean {
  return state === 'enabled' && (events ?? usualEventTypes).includes(type);
}

/** The secrets that sign now: the newest, and those that it replaced a while ago. */
export function signingSecrets({ secrets }: Pick<Endpoint, 'secrets'>, nowMs: number): string[] {
  return secrets.filter((each) => isGood(each, nowMs)).map(({ secret }) => secret);
}

/** Whether the secret signs at that time. */
export function isGood({ expiresAtMs }: EndpointSecret, nowMs: number): boolean {
  return expiresAtMs === undefined || expiresAtMs > nowMs;
}
