import { deliveryIdFor, endpointIdFor, eventIdFor } from '../../lib/identify.ts';
import type { Delivery } from '../../lib/webhooks/delivery.ts';
import { type Endpoint, newEndpoint } from '../../lib/webhooks/endpoint.ts';
import type { SendResult } from '../../lib/webhooks/retry.ts';
import { testNowMs } from './dynamo.ts';

export const testSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A registered endpoint, of acme's unless another owner is given. */
export function testEndpoint(given: Partial<Endpoint> & { url: string }): Endpoint {
  const { url, owner = 'acme' } = given;
  const fixed = {
    id: endpointIdFor(owner, url),
    owner,
    kind: 'registered',
    url,
    events: null,
    description: '',
  } as const;
  return { ...newEndpoint(fixed, testSecret, testNowMs), ...given };
}

/** A pending delivery of acme's, due now; `job` tells one from another. */
export function testDelivery(given: Partial<Delivery> & { job?: string } = {}): Delivery {
  const { job = 'a', ...rest } = given;
  const subjectId = `job_${job.padStart(32, 'a')}`;
  const eventId = eventIdFor(subjectId, 'job.completed');
  const endpointId = given.endpointId ?? endpointIdFor('acme', 'https://example.com');
  return {
    id: deliveryIdFor(eventId, endpointId),
    owner: 'acme',
    subjectId,
    eventId,
    type: 'job.completed',
    endpointId,
    body: JSON.stringify({ type: 'job.completed', data: { id: subjectId, note: '🎬\u2028', share: 0.1 + 0.2 } }),
    state: 'pending',
    attempts: 0,
    nextAtMs: testNowMs,
    createdAtMs: testNowMs,
    updatedAtMs: testNowMs,
    log: [],
    revision: 1,
    ...rest,
  };
}

/** What an attempt came to that was answered with this status, or not at all. */
export function answered(status: number | null): SendResult {
  const ok = status !== null && status >= 200 && status < 300;
  const fault = ok ? null : status === null ? 'timeout' : 'status';
  return { status, fault, snippet: '', tookMs: 5, retryAfterMs: null };
}
