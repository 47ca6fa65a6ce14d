import type { BatchStore } from './event-ports.ts';
import { batchIdFor } from './identify.ts';
import type { RememberedEndpoints } from './webhooks/remembered-endpoints.ts';

/*
 * What must be right before a job is written: its batch is open, and knows that jobs are coming; its webhook may be
 * called. Only new jobs are refused: one that was taken in before is answered as it is.
 */

export type Refusal =
  | { kind: 'batch_completed'; batch: string }
  /** `reason`: why this URL is never called, for people. */
  | { kind: 'webhook_refused'; reason: string }
  | { kind: 'webhook_disabled'; endpointId: string };

export interface RefusalPorts {
  batches: Pick<BatchStore, 'get' | 'touch'>;
  jobEndpoints: Pick<RememberedEndpoints, 'ready'>;
  clock: { nowMs(): number };
}

/** Null when nothing is against a new job. Rejects with a JobStoreError. */
export async function refusalOf(
  { batches, jobEndpoints, clock }: RefusalPorts,
  { owner, batch, webhookUrl }: { owner: string; batch?: string; webhookUrl?: string },
): Promise<Refusal | null> {
  // Before an endpoint is made for it.
  const known = batch === undefined || webhookUrl === undefined ? null : await batches.get(batchIdFor(owner, batch));
  if (batch !== undefined && known?.completedAtMs !== undefined) return { kind: 'batch_completed', batch };
  const refusal = webhookUrl === undefined ? null : await jobEndpoints.ready(owner, webhookUrl);
  if (refusal !== null || batch === undefined) return refusal;
  const url = webhookUrl === undefined ? {} : { webhookUrl };
  const state = await batches.touch({ owner, name: batch, atMs: clock.nowMs(), ...url });
  return state === 'completed' ? { kind: 'batch_completed', batch } : null;
}
