import { DueSetError, messageOf } from './errors.ts';
import { fingerprintOf, jobIdFor } from './identify.ts';
import { acceptedJob, type Job, needsCreate, priorityDefault } from './job.ts';
import type { JsonObject } from './json.ts';
import type { Log } from './log.ts';
import type { Clock, Queues, WaitingEntry } from './ports.ts';
import { builtInPrices, estimateMicros, type Price } from './prices.ts';
import { createWithinCap, type SpendingPorts } from './spending-cap.ts';

/*
 * Taking a job in. The record first, the due set second: a job that was answered 202 is in DynamoDB, and should the
 * second write fail, the sweep makes up for it. The id follows from owner and idempotency key, so that the conditional
 * put is the whole check for a repeat.
 */

export interface SubmitPorts extends SpendingPorts {
  queues: Queues;
  clock: Pick<Clock, 'nowMs'>;
  log: Log;
  /** By which jobs are estimated; absent: those built in. */
  prices?: readonly Price[];
}

export interface SubmitRequest {
  owner: string;
  account: string;
  /** The caller named the account: then it is part of what a repeat must have in common. */
  accountNamed?: boolean;
  idempotencyKey: string;
  input: JsonObject;
  /** 0–9, the highest first; absent: 5. */
  priority?: number;
  deadlineSeconds: number;
  metadata: Record<string, string>;
}

/** `conflict`: this owner used the key before for another request; `job` is that one. */
export type SubmitResult = { kind: 'accepted'; job: Job; replayed: boolean } | { kind: 'conflict'; job: Job };

/**
 * Rejects with a JobStoreError when the record could not be written: then nothing was, and the caller may repeat. Rejects
 * with a SpendingCapReached when the job would pass its owner's cap.
 */
export async function submit(ports: SubmitPorts, request: SubmitRequest): Promise<SubmitResult> {
  const { owner, account, idempotencyKey, input, deadlineSeconds, metadata, priority = priorityDefault } = request;
  const nowMs = ports.clock.nowMs();
  const named = request.accountNamed === true ? { account } : {};
  // Left out where it is the default, so that a job from before there were priorities is still known by its repeat.
  const ranked = priority === priorityDefault ? {} : { priority };
  const fingerprint = fingerprintOf({ input, deadline_seconds: deadlineSeconds, metadata, ...named, ...ranked });
  const id = jobIdFor(owner, idempotencyKey);
  const deadlineAtMs = nowMs + deadlineSeconds * 1000;
  const estimate = estimateMicros(input, ports.prices ?? builtInPrices);
  const cost = estimate === null ? {} : { estimatedMicros: estimate };
  const given = { id, owner, account, input, fingerprint, metadata, priority, deadlineAtMs, ...cost };
  const fresh = acceptedJob(given, nowMs);
  const stored = await createWithinCap(ports, fresh);
  if (stored.kind === 'exists' && stored.job.fingerprint !== fingerprint) return { kind: 'conflict', job: stored.job };
  const job = stored.kind === 'exists' ? stored.job : fresh;
  // Also for a repeat: it may be the caller's answer to a first try that got no further than the record. But not for a
  // job that the provider has: when that may be read again, only its due time knows, or the sweep.
  if (needsCreate(job)) await putInLine(ports, job, nowMs);
  return { kind: 'accepted', job, replayed: stored.kind === 'exists' };
}

/** In line for a slot. A job that may have been sent is not new: it is due. */
async function putInLine(ports: SubmitPorts, job: Job, nowMs: number): Promise<void> {
  const queue = ports.queues.get(job.account);
  if (queue === undefined) return ports.log.error('account_unknown', { jobId: job.id, account: job.account });
  const { id, state } = job;
  try {
    const { wake } =
      state === 'waiting'
        ? await queue.dueSet.enqueue([waitingEntry(job, nowMs)])
        : await queue.dueSet.schedule([{ id, delayMs: 0 }]);
    if (wake) await queue.waker.wake();
  } catch (error) {
    if (!(error instanceof DueSetError)) throw error;
    ports.log.error('job_not_scheduled', { jobId: id, code: error.code, error: messageOf(error) });
  }
}

export function waitingEntry({ id, owner, priority, deadlineAtMs }: Job, nowMs: number): WaitingEntry {
  return { id, owner, priority, expiresInMs: deadlineAtMs - nowMs };
}
