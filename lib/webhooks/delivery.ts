import type { EventType } from '../event.ts';

/*
 * One event on its way to one endpoint.
 *
 *   pending ──▶ delivered    a 2xx came
 *      │   └──▶ dead         every attempt of the schedule failed; can be asked for again
 *      └──────▶ canceled     the endpoint was removed or disabled, or said 410
 *
 * Times in ms since 1970.
 */
export const deliveryStates = ['pending', 'delivered', 'dead', 'canceled'] as const;
type DeliveryState = (typeof deliveryStates)[number];

export interface Delivery {
  /** `dlv_` + 32 base32 characters, from the event's and the endpoint's id. */
  id: string;
  owner: string;
  /** Id of the job or batch that the event is about. */
  subjectId: string;
  /** The `webhook-id` of every attempt. */
  eventId: string;
  type: EventType;
  /** Id of the endpoint, or `bus`: the event bus of the deployment. */
  endpointId: string;
  /** The very bytes that every attempt sends, under 20 KB. */
  body: string;
  state: DeliveryState;
  /** Attempts since it was made, or since it was last asked for again. */
  attempts: number;
  /** When the next attempt is due; of no meaning once it has ended. */
  nextAtMs: number;
  createdAtMs: number;
  updatedAtMs: number;
  endedAtMs?: number;
  /** Newest last, at most `deliveryLogMax`. */
  log: DeliveryAttempt[];
  /** Grows by one with every write; every write is conditional on the one before. */
  revision: number;
}

export interface DeliveryAttempt {
  atMs: number;
  /** The status that came; null when none did. */
  status: number | null;
  tookMs: number;
  /** Why it failed without a status, or in spite of one: `timeout`, `connection`, `refused_address`, `redirect` …; null after a 2xx. */
  fault: string | null;
  /** The beginning of what was answered, at most `snippetMax` characters. */
  snippet: string;
}

export const deliveryLogMax = 20;
export const snippetMax = 500;
/** Bytes of a body at most; a result that does not fit is left out, and linked. */
export const bodyMax = 20_000;
/** The endpoint id of the event bus. */
export const busId = 'bus';
