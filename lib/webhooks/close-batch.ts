import { type Batch, batchQuietMs } from '../batch.ts';
import { DueSetError, JobStoreError, messageOf } from '../errors.ts';
import type { BatchStore } from '../event-ports.ts';
import { eventIdFor } from '../identify.ts';
import { isActive, type JobState } from '../job.ts';
import type { Log } from '../log.ts';
import type { DueSet, JobStore } from '../ports.ts';
import { batchEventBody } from './event-body.ts';
import type { EventSettle } from './event-settle.ts';
import { Listeners } from './listeners.ts';
import { type MakeDeliveriesPorts, makeDeliveries } from './make-deliveries.ts';

/*
 * The end of a batch: noted once, by one conditional write, when no jobs were added for a while and all have ended. Its event
 * is made out after that, like a job's, and may be made out again.
 */

export interface CloseBatchPorts extends MakeDeliveriesPorts {
  batches: Pick<BatchStore, 'get' | 'jobs' | 'update'>;
  store: Pick<JobStore, 'getMany'>;
  /** That of events. */
  dueSet: Pick<DueSet, 'schedule'>;
  log: Log;
  /** By batch: a job that was seen open last. While it is, all others need no look. One map for a process. */
  seenOpen: Map<string, string>;
}

export interface ClosedBatch {
  settle: EventSettle;
  /** How many ids were made due. */
  scheduled: number;
}

const seenOpenMax = 10_000;
const readsAtOnce = 100;
const troubleRetryMs = 5_000;
/** With a record that can't be read: only somebody's hand helps. */
const brokenRetryMs = 600_000;
const remove: ClosedBatch = { settle: { kind: 'remove' }, scheduled: 0 };
const dueIn = (delayMs: number): ClosedBatch => ({ settle: { kind: 'due', delayMs }, scheduled: 0 });

/** One look at a batch. Trouble of a store or of the due set never rejects: then it is due again soon. */
export async function closeBatch(ports: CloseBatchPorts, id: string): Promise<ClosedBatch> {
  try {
    const batch = await ports.batches.get(id);
    if (batch === null) return remove;
    if (batch.completedAtMs === undefined) return await end(ports, batch);
    return batch.pending === true ? await tell(ports, batch, await ports.batches.jobs(id)) : remove;
  } catch (error) {
    if (!(error instanceof JobStoreError || error instanceof DueSetError)) throw error;
    ports.log.warn('batch_not_closed', { batchId: id, error: messageOf(error) });
    return dueIn(error instanceof JobStoreError && error.broken ? brokenRetryMs : troubleRetryMs);
  }
}

async function end(ports: CloseBatchPorts, batch: Batch): Promise<ClosedBatch> {
  const nowMs = ports.clock.nowMs();
  const quietInMs = batch.touchedAtMs + batchQuietMs - nowMs;
  if (quietInMs > 0) return dueIn(Math.min(quietInMs, batchQuietMs));
  if (await isStillOpen(ports, batch.id)) return remove;
  const ended = await endedJobs(ports, batch.id);
  // Open: the next of its jobs that ends brings it back. Or none was ever added: then it is no batch yet.
  if (ended === null || ended.length === 0) return remove;
  const counts: Partial<Record<JobState, number>> = {};
  for (const { state } of ended) counts[state] = (counts[state] ?? 0) + 1;
  // Whoever adds jobs has touched it before: then its revision is another, and this writes nothing.
  const written = await ports.batches.update({ ...batch, completedAtMs: nowMs, counts, pending: true });
  if (written.kind === 'stale') return dueIn(0);
  ports.log.info('batch_completed', { batchId: batch.id, jobs: ended.length });
  return tell(ports, written.batch, ended);
}

/** One cheap read for a batch that still waits for the same job as before. */
async function isStillOpen({ seenOpen, store }: CloseBatchPorts, id: string): Promise<boolean> {
  const seen = seenOpen.get(id);
  if (seen === undefined) return false;
  const { jobs } = await store.getMany([seen]);
  if (jobs[0] !== undefined && isActive(jobs[0].state)) return true;
  seenOpen.delete(id);
  return false;
}

/** All its jobs, each of which has ended; null when one has not. The index may lag: what looks open there is read itself. */
async function endedJobs(ports: CloseBatchPorts, id: string): Promise<{ id: string; state: JobState }[] | null> {
  const listed = await ports.batches.jobs(id);
  const ended = listed.filter(({ state }) => !isActive(state));
  const open = listed.filter(({ state }) => isActive(state)).map((job) => job.id);
  // The first alone: it nearly always is what it looks like.
  for (let start = 0, size = 1; start < open.length; start += size, size = readsAtOnce) {
    const { jobs, broken } = await ports.store.getMany(open.slice(start, start + size));
    // Nobody works on such a record; the batch does not wait for it.
    for (const { id: jobId, reason } of broken) ports.log.error('record_broken', { jobId, reason });
    const one = jobs.find(({ state }) => isActive(state));
    if (one !== undefined) {
      if (ports.seenOpen.size >= seenOpenMax) ports.seenOpen.clear();
      ports.seenOpen.set(id, one.id);
      return null;
    }
    ended.push(...jobs.map((job) => ({ id: job.id, state: job.state })));
  }
  return ended;
}

async function tell(ports: CloseBatchPorts, batch: Batch, jobs: readonly { id: string }[]): Promise<ClosedBatch> {
  const made = await makeDeliveries(ports, new Listeners(ports), {
    owner: batch.owner,
    subjectId: batch.id,
    eventId: eventIdFor(batch.id, 'batch.completed'),
    type: 'batch.completed',
    url: batch.webhookUrl,
    body: () => batchEventBody(batch, jobs.map(({ id }) => id).sort()),
  });
  const due = made.due.map((id) => ({ id, delayMs: 0 }));
  const scheduled = due.length === 0 ? 0 : (await ports.dueSet.schedule(due, 'pull')).added;
  const { pending: _, ...rest } = batch;
  const written = await ports.batches.update({ ...rest, deliveries: made.ids });
  return { settle: written.kind === 'updated' ? remove.settle : { kind: 'due', delayMs: 0 }, scheduled };
}
