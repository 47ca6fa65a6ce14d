import type { Delivery } from '../webhooks/delivery.ts';
import { isoOrNull } from './iso.ts';

/** A delivery as the API shows it, its attempts newest last; without the body, which is the job's or batch's own. */
export function deliveryView(delivery: Delivery) {
  const { subjectId, state, log } = delivery;
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    type: delivery.type,
    ...(subjectId.startsWith('bat_') ? { batch_id: subjectId } : { job_id: subjectId }),
    endpoint_id: delivery.endpointId,
    state,
    attempts: delivery.attempts,
    next_at: state === 'pending' ? isoOrNull(delivery.nextAtMs) : null,
    created_at: isoOrNull(delivery.createdAtMs),
    ended_at: isoOrNull(delivery.endedAtMs),
    log: log.map(({ atMs, status, tookMs, fault, snippet }) => ({
      at: isoOrNull(atMs),
      ...{ status, ms: tookMs, fault, snippet },
    })),
  };
}
