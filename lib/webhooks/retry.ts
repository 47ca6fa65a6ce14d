import type { Random } from '../ports.ts';
import { type Delivery, type DeliveryAttempt, deliveryLogMax, snippetMax } from './delivery.ts';

/* What becomes of a delivery after an attempt. Pure; times in ms. */

/** What one attempt came to. Success is a status of 200 to 299 and nothing else. */
export interface SendResult {
  /** Null when none came. */
  status: number | null;
  /** Null after a success. */
  fault: string | null;
  /** The beginning of what was answered. */
  snippet: string;
  tookMs: number;
  /** What the receiver asked to wait; null when it did not. */
  retryAfterMs: number | null;
}

const minute = 60_000;
const hour = 60 * minute;

/** The wait before each attempt, the first of which is made at once; after the last one it is dead. Close to four days in all. */
export const retryDelaysMs: readonly number[] = [
  0,
  5_000,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/** A receiver that asks for more is asked again after this. */
export const retryAfterMaxMs = 24 * hour;

/** The answer by which a receiver says that it is gone for good. */
const goneStatus = 410;

export function succeeded({ status }: Pick<SendResult, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300;
}

export function saysGone({ status }: Pick<SendResult, 'status'>): boolean {
  return status === goneStatus;
}

/**
 * The delivery with this attempt in it, and in the state that follows from it. It may have ended meanwhile: then it stays so, unless
 * it arrived. `hasMoved`: it was sent where its endpoint leads no more, so that being gone there is a failure like others.
 */
export function afterAttempt(
  delivery: Delivery,
  sent: SendResult,
  nowMs: number,
  random: Random,
  hasMoved = false,
): Delivery {
  const noted = withAttempt(delivery, sent, nowMs);
  if (succeeded(sent)) return ended(noted, 'delivered', nowMs);
  if (delivery.state !== 'pending') return noted;
  if (saysGone(sent) && !hasMoved) return ended(noted, 'canceled', nowMs);
  const delayMs = retryDelaysMs[noted.attempts];
  if (delayMs === undefined) return ended(noted, 'dead', nowMs);
  const askedMs = Math.min(sent.retryAfterMs ?? 0, retryAfterMaxMs);
  return { ...noted, nextAtMs: Math.ceil(nowMs + Math.max(delayMs * (1 + random() / 10), askedMs)) };
}

/** The delivery, ended without another attempt. */
export function ended(delivery: Delivery, state: 'delivered' | 'dead' | 'canceled', nowMs: number): Delivery {
  return { ...delivery, state, endedAtMs: nowMs, updatedAtMs: nowMs };
}

function withAttempt(delivery: Delivery, sent: SendResult, nowMs: number): Delivery {
  const { status, tookMs, fault, snippet } = sent;
  const attempt: DeliveryAttempt = {
    atMs: nowMs,
    status,
    tookMs: Math.round(tookMs),
    fault,
    snippet: snippet.slice(0, snippetMax),
  };
  return {
    ...delivery,
    attempts: delivery.attempts + 1,
    log: [...delivery.log, attempt].slice(-deliveryLogMax),
    updatedAtMs: nowMs,
  };
}
