import { type Account, accountsOf } from './accounts.ts';
import { DueSetError, JobStoreError, messageOf } from './errors.ts';
import type { EventType } from './event.ts';
import { fingerprintOf, jobIdFor } from './identify.ts';
import { inParallel } from './in-parallel.ts';
import { acceptedJob, enter, type Job } from './job.ts';
import type { Log } from './log.ts';
import type { Clock, JobStore, Queues } from './ports.ts';
import { type Refusal, type RefusalPorts, refusalOf } from './refusal.ts';

/*
 * Renders that were made elsewhere, taken over by their provider's ids: they are only ever read. Such an id is all that it
 * takes, so that whoever may use an account can take over any render in its workspace: an account that several owners share
 * is shared in this too.
 */

export interface AdoptPorts extends RefusalPorts {
  store: Pick<JobStore, 'create' | 'get'>;
  queues: Queues;
  accounts: readonly Account[];
  clock: Pick<Clock, 'nowMs'>;
  log: Log;
}

/** What all renders of one request have in common. */
export interface AdoptRequest {
  owner: string;
  /** May be left out where the owner has only one. */
  account?: string;
  batch?: string;
  webhookUrl?: string;
  webhookEvents?: EventType[];
}

export interface AdoptItem {
  /** Unchecked: 1 to 200 of A-Z a-z 0-9 . _ ~ -, as one safe path segment, is for the caller. */
  providerJobId: string;
  metadata: Record<string, string>;
  deadlineSeconds: number;
}

/** As of a batch submit. A render that this owner has adopted before is a replay, whatever else the item says. */
export type AdoptResult =
  | { kind: 'accepted'; job: Job; replayed: boolean }
  | Refusal
  | { kind: 'failed'; error: JobStoreError }
  | { kind: 'not_tried' };

const width = 25;
/** Kept for the writes under way, and for making due what has been written. */
const marginMs = 9_000;
/** Between the first reads of two of them: ten a second. */
const firstReadGapMs = 100;

/** The account that is meant; null when it is not the owner's, or has to be named. */
export function accountToAdoptFrom(accounts: readonly Account[], { owner, account }: AdoptRequest): string | null {
  const allowed = accountsOf(owner, accounts).map(({ id }) => id);
  if (account !== undefined) return allowed.includes(account) ? account : null;
  return allowed.length === 1 ? (allowed[0] ?? null) : null;
}

/** Results in the order of the items. Rejects with a JobStoreError only before anything was written. */
export async function adopt(
  ports: AdoptPorts,
  request: AdoptRequest & { account: string },
  items: readonly AdoptItem[],
  remainingMs: () => number,
): Promise<AdoptResult[]> {
  // No item could be read: then nothing is made ready for them either.
  if (items.length === 0) return [];
  const refusal = await refusalOf(ports, request);
  const known = new Map<string, AdoptResult>();
  // The first of those with one id: the others are its repeats.
  const unique = new Map([...items].reverse().map((item) => [item.providerJobId, item]));
  await inParallel([...unique.values()].reverse(), width, async (item) => {
    if (remainingMs() < marginMs) return;
    known.set(item.providerJobId, await take(ports, adoptedJob(request, item, ports.clock), refusal));
  });
  const results = items.map((item): AdoptResult => {
    const result = known.get(item.providerJobId) ?? { kind: 'not_tried' };
    const isRepeat = unique.get(item.providerJobId) !== item;
    return isRepeat && result.kind === 'accepted' ? { ...result, replayed: true } : result;
  });
  await makeDue(ports, request.account, results);
  return results;
}

function adoptedJob(
  { owner, account, batch, webhookUrl, webhookEvents }: AdoptRequest & { account: string },
  { providerJobId, metadata, deadlineSeconds }: AdoptItem,
  clock: Pick<Clock, 'nowMs'>,
): Job {
  const nowMs = clock.nowMs();
  const told = {
    ...(batch === undefined ? {} : { batch }),
    ...(webhookUrl === undefined ? {} : { webhookUrl }),
    ...(webhookEvents === undefined ? {} : { webhookEvents }),
  };
  const accepted = acceptedJob(
    {
      // No key of a submit has a comma.
      id: jobIdFor(owner, `adopt,${account},${providerJobId}`),
      fingerprint: fingerprintOf({ adopt: providerJobId, account }),
      ...{ owner, account, metadata, input: {} },
      deadlineAtMs: nowMs + deadlineSeconds * 1000,
      ...told,
    },
    nowMs,
  );
  const queued = enter(accepted, 'queued', nowMs, 'adopted');
  // When it was sent nobody knows: of how long renders take it says nothing.
  return { ...queued, providerJobId, adopted: true };
}

async function take(ports: AdoptPorts, fresh: Job, refusal: Refusal | null): Promise<AdoptResult> {
  try {
    const known = refusal === null ? null : await ports.store.get(fresh.id);
    if (refusal !== null) return known === null ? refusal : { kind: 'accepted', job: known, replayed: true };
    const stored = await ports.store.create(fresh);
    if (stored.kind === 'created') return { kind: 'accepted', job: fresh, replayed: false };
    return { kind: 'accepted', job: stored.job, replayed: true };
  } catch (error) {
    if (!(error instanceof JobStoreError)) throw error;
    ports.log.error('item_failed', { jobId: fresh.id, error: messageOf(error) });
    return { kind: 'failed', error };
  }
}

/** Never rejects: the sweep makes up for it. */
async function makeDue({ queues, log }: AdoptPorts, account: string, results: readonly AdoptResult[]): Promise<void> {
  // A repeat may be the answer to a first try that got no further than the record. When one that was written since is to be
  // read, only its due time knows.
  const untouched = results.flatMap((result) =>
    result.kind === 'accepted' && result.job.revision === 1 ? [result.job.id] : [],
  );
  const entries = [...new Set(untouched)].map((id, place) => ({ id, delayMs: place * firstReadGapMs }));
  if (entries.length === 0) return;
  const queue = queues.get(account);
  if (queue === undefined) return log.error('account_unknown', { account, jobs: entries.length });
  try {
    const { wake } = await queue.dueSet.schedule(entries);
    if (wake) await queue.waker.wake();
  } catch (error) {
    if (!(error instanceof DueSetError)) throw error;
    log.error('job_not_scheduled', { jobs: entries.length, code: error.code, error: messageOf(error) });
  }
}
