import { DueSetError, messageOf } from './errors.ts';
import { fingerprintOf, jobIdFor } from './identify.ts';
import { acceptedJob, type Job, needsCreate } from './job.ts';
import type { JsonObject } from './json.ts';
import type { Log } from './log.ts';
import type { Clock, DueSet, JobStore, Waker } from './ports.ts';

/*
 * Taking a job in. The record first, the due set second: a job that was answered 202 is in DynamoDB, and should the
 * second write fail, the sweep makes up for it. The id follows from owner and idempotency key, so that the conditional
 * put is the whole check for a repeat.
 */

export interface SubmitPorts {
  store: Pick<JobStore, 'create'>;
  dueSet: Pick<DueSet, 'schedule'>;
  waker: Waker;
  clock: Pick<Clock, 'nowMs'>;
  log: Log;
}

export interface SubmitRequest {
  owner: string;
  account: string;
  idempotencyKey: string;
  input: JsonObject;
  deadlineSeconds: number;
  metadata: Record<string, string>;
}

/** `conflict`: this owner used the key before for another request; `job` is that one. */
export type SubmitResult = { kind: 'accepted'; job: Job; replayed: boolean } | { kind: 'conflict'; job: Job };

/** Rejects with a JobStoreError when the record could not be written: then nothing was, and the caller may repeat. */
export async function submit(ports: SubmitPorts, request: SubmitRequest): Promise<SubmitResult> {
  const { owner, account, idempotencyKey, input, deadlineSeconds, metadata } = request;
  const nowMs = ports.clock.nowMs();
  const fingerprint = fingerprintOf({ input, deadline_seconds: deadlineSeconds, metadata });
  const id = jobIdFor(owner, idempotencyKey);
  const deadlineAtMs = nowMs + deadlineSeconds * 1000;
  const fresh = acceptedJob({ id, owner, account, input, fingerprint, metadata, deadlineAtMs }, nowMs);
  const stored = await ports.store.create(fresh);
  if (stored.kind === 'exists' && stored.job.fingerprint !== fingerprint) return { kind: 'conflict', job: stored.job };
  const job = stored.kind === 'exists' ? stored.job : fresh;
  // Also for a repeat: it may be the caller's answer to a first try that got no further than the record. But not for a
  // job that the provider has: when that may be read again, only its due time knows, or the sweep.
  if (needsCreate(job)) await makeDue(ports, job);
  return { kind: 'accepted', job, replayed: stored.kind === 'exists' };
}

async function makeDue(ports: SubmitPorts, job: Job): Promise<void> {
  try {
    const { wake } = await ports.dueSet.schedule([{ id: job.id, delayMs: 0 }]);
    if (wake) await ports.waker.wake();
  } catch (error) {
    if (!(error instanceof DueSetError)) throw error;
    ports.log.error('job_not_scheduled', { jobId: job.id, code: error.code, error: messageOf(error) });
  }
}
