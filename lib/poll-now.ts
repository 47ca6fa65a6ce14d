import { isActive, type Job, rearmed } from './job.ts';
import type { Clock, JobStore, Queues } from './ports.ts';

/*
 * Somebody wants a job read now. Of use for one that is overdue, whose next read may be days away, and for one that was
 * given up. A job that is polled anyway is left to the provider's own pace; one that has ended stays as it is.
 */

export interface PollNowPorts {
  store: Pick<JobStore, 'get' | 'update'>;
  queues: Queues;
  clock: Pick<Clock, 'nowMs'>;
}

/** `unsent`: it was given up without ever having been confirmed, so there is nothing to read, and sending it might bill it twice. */
export type PollNowResult = { kind: 'polled' | 'ended' | 'unsent'; job: Job };

const lostRacesMax = 3;

/** Rejects with a JobStoreError or a DueSetError; may be repeated. */
export async function pollNow(ports: PollNowPorts, found: Job): Promise<PollNowResult> {
  let job = found;
  for (let tries = 1; job.state === 'given_up'; tries++) {
    if (job.providerJobId === undefined) return { kind: 'unsent', job };
    const written = await ports.store.update(rearmed(job, ports.clock.nowMs()));
    if (written.kind === 'updated') job = written.job;
    else job = (await ports.store.get(job.id)) ?? job;
    if (written.kind === 'stale' && tries === lostRacesMax) break;
  }
  if (!isActive(job.state)) return { kind: 'ended', job };
  const queue = ports.queues.get(job.account);
  if (job.state === 'overdue' && queue !== undefined) {
    const { wake } = await queue.dueSet.schedule([{ id: job.id, delayMs: 0 }], 'pull');
    if (wake) await queue.waker.wake();
  }
  return { kind: 'polled', job };
}
