import { DueSetError, messageOf } from './errors.ts';
import type { EventType } from './event.ts';
import { fingerprintOf, jobIdFor } from './identify.ts';
import { acceptedJob, type Job, needsCreate, priorityDefault } from './job.ts';
import type { JsonObject } from './json.ts';
import type { Log } from './log.ts';
import type { Clock, CreateResult, Queue, Queues, WaitingEntry } from './ports.ts';
import { builtInPrices, estimateMicros, type Price } from './prices.ts';
import { type Refusal, type RefusalPorts, refusalOf } from './refusal.ts';
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
  /** The name of its batch, which is known to be open. */
  batch?: string;
  /** Where its events go, which is known to be ready. */
  webhookUrl?: string;
  /** Absent: the usual ones. */
  webhookEvents?: EventType[];
}

/** `conflict`: this owner used the key before for another request; `job` is that one. */
export type SubmitResult = { kind: 'accepted'; job: Job; replayed: boolean } | { kind: 'conflict'; job: Job };

/**
 * Rejects with a JobStoreError when the record could not be written: then nothing was, and the caller may repeat. Rejects
 * with a SpendingCapReached when the job would pass its owner's cap.
 */
export async function submit(ports: SubmitPorts, request: SubmitRequest): Promise<SubmitResult> {
  const result = await writeDown(ports, request);
  if (result.kind === 'accepted') await putInLine(ports, [result.job]);
  return result;
}

/** As `submit`, unless something is against a new job. One that is there already is answered first, and writes nothing. */
export async function submitUnlessRefused(
  ports: SubmitPorts & RefusalPorts,
  request: SubmitRequest,
): Promise<SubmitResult | Refusal> {
  if (request.batch === undefined && request.webhookUrl === undefined) return submit(ports, request);
  const known = await lookUp(ports, request);
  if (known?.kind === 'accepted') await putInLine(ports, [known.job]);
  return known ?? (await refusalOf(ports, request)) ?? submit(ports, request);
}

/** The first half of `submit`: the record. */
export async function writeDown(ports: SubmitPorts, request: SubmitRequest): Promise<SubmitResult> {
  const fresh = newJob(ports, request);
  return asResult(await createWithinCap(ports, fresh), fresh);
}

/** What `writeDown` would say of a job that is there already, or null: nothing is written. */
export async function lookUp(ports: SubmitPorts, request: SubmitRequest): Promise<SubmitResult | null> {
  const fresh = newJob(ports, request);
  const job = await ports.store.get(fresh.id);
  return job === null ? null : asResult({ kind: 'exists', job }, fresh);
}

function asResult(stored: CreateResult, fresh: Job): SubmitResult {
  if (stored.kind === 'created') return { kind: 'accepted', job: fresh, replayed: false };
  const { job } = stored;
  return job.fingerprint === fresh.fingerprint ? { kind: 'accepted', job, replayed: true } : { kind: 'conflict', job };
}

function newJob({ clock, prices = builtInPrices }: SubmitPorts, request: SubmitRequest): Job {
  const { owner, account, idempotencyKey, input, deadlineSeconds, metadata, priority = priorityDefault } = request;
  const { batch, webhookUrl, webhookEvents } = request;
  const nowMs = clock.nowMs();
  const named = request.accountNamed === true ? { account } : {};
  // Left out where it is the default, so that a job from before there were priorities is still known by its repeat.
  const ranked = priority === priorityDefault ? {} : { priority };
  const told = {
    ...(batch === undefined ? {} : { batch }),
    ...(webhookUrl === undefined ? {} : { webhookUrl }),
    ...(webhookEvents === undefined ? {} : { webhookEvents }),
  };
  const common = { input, deadline_seconds: deadlineSeconds, metadata, ...named, ...ranked };
  const fingerprint = fingerprintOf({ ...common, ...told });
  const id = jobIdFor(owner, idempotencyKey);
  const deadlineAtMs = nowMs + deadlineSeconds * 1000;
  const estimate = estimateMicros(input, prices);
  const cost = estimate === null ? {} : { estimatedMicros: estimate };
  return acceptedJob(
    { id, owner, account, input, fingerprint, metadata, priority, deadlineAtMs, ...cost, ...told },
    nowMs,
  );
}

/**
 * The second half of `submit`, for many at once: into line for a slot. A job that may have been sent is not new: it is due.
 * Also repeats, which may be the caller's answer to a first try that got no further than the record. But none that the
 * provider has: when that may be read again, only its due time knows, or the sweep. Never rejects: the sweep makes up for it.
 */
export async function putInLine(
  ports: Pick<SubmitPorts, 'queues' | 'clock' | 'log'>,
  jobs: readonly Job[],
): Promise<void> {
  const unsent = jobs.filter(needsCreate);
  const accounts = [...new Set(unsent.map(({ account }) => account))];
  const put = accounts.map(async (account) => {
    const theirs = unsent.filter((job) => job.account === account);
    const queue = ports.queues.get(account);
    const about = theirs.length === 1 ? { jobId: theirs[0]?.id } : { jobs: theirs.length };
    if (queue === undefined) return ports.log.error('account_unknown', { ...about, account });
    try {
      await enqueue(queue, theirs, ports.clock.nowMs());
    } catch (error) {
      if (!(error instanceof DueSetError)) throw error;
      ports.log.error('job_not_scheduled', { ...about, code: error.code, error: messageOf(error) });
    }
  });
  await Promise.all(put);
}

async function enqueue({ dueSet, waker }: Queue, jobs: readonly Job[], nowMs: number): Promise<void> {
  const waiting = jobs.filter(({ state }) => state === 'waiting').map((job) => waitingEntry(job, nowMs));
  const sent = jobs.filter(({ state }) => state !== 'waiting').map(({ id }) => ({ id, delayMs: 0 }));
  const lined = waiting.length === 0 ? null : await dueSet.enqueue(waiting);
  const due = sent.length === 0 ? null : await dueSet.schedule(sent);
  if (lined?.wake === true || due?.wake === true) await waker.wake();
}

export function waitingEntry({ id, owner, priority, deadlineAtMs }: Job, nowMs: number): WaitingEntry {
  return { id, owner, priority, expiresInMs: deadlineAtMs - nowMs };
}
