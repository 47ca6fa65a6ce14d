import { DueSetError, messageOf } from './errors.ts';
import { enter, isActive, type Job } from './job.ts';
import type { Log } from './log.ts';
import type { News } from './news.ts';
import type { Clock, JobStore } from './ports.ts';
import { type PullPorts, pullForward } from './pull-forward.ts';

/*
 * An owner wants a job no more. One that only waits has ended with that, and the provider never hears of it. Of any other
 * the provider may have the render: the wish is noted in the record, the job is made due, and its next step tells the
 * provider. What came of it, only a read can say.
 */

export interface CancelPorts extends PullPorts {
  store: Pick<JobStore, 'get' | 'update'>;
  news: News;
  clock: Pick<Clock, 'nowMs' | 'sleep'>;
  log: Log;
}

/** `canceled`: it was never sent. `asked`: a read will tell. `ended`: it had ended before. `raced`: may be repeated. */
export interface CancelResult {
  kind: 'canceled' | 'asked' | 'ended' | 'raced';
  job: Job;
}

const reason = 'canceled_by_owner';
const lostRacesMax = 5;

/** Rejects with a JobStoreError; may be repeated, and then answers the same. */
export async function cancel(ports: CancelPorts, found: Job): Promise<CancelResult> {
  let job = found;
  for (let tries = 1; tries <= lostRacesMax; tries++) {
    if (!isActive(job.state)) return { kind: wasNeverSent(job) ? 'canceled' : 'ended', job };
    const isNoted = job.cancelAskedAtMs !== undefined && job.state !== 'waiting' && !isAfterFailure(job);
    const written = isNoted ? { kind: 'updated' as const, job } : await write(ports, job);
    if (written.kind === 'updated') {
      // Of one that was canceled too: so it leaves the line, and does not take a slot or a create when its turn comes.
      // Not of one that the provider was told of: then only reads say more, at the provider's own pace.
      if (written.job.cancelSentAtMs === undefined) await makeDue(ports, written.job);
      return { kind: isActive(written.job.state) ? 'asked' : 'canceled', job: written.job };
    }
    job = (await ports.store.get(job.id)) ?? job;
  }
  return { kind: 'raced', job };
}

function wasNeverSent({ state, history }: Job): boolean {
  return state === 'canceled' && history.at(-1)?.reason === reason;
}

async function write({ store, clock, news }: CancelPorts, job: Job) {
  const nowMs = clock.nowMs();
  if (job.state !== 'waiting') {
    const { cancelAskedAtMs = nowMs } = job;
    return store.update({ ...withItsTurn(job), cancelAskedAtMs, updatedAtMs: nowMs });
  }
  const written = await store.update(await news.address(enter(job, 'canceled', nowMs, reason)));
  if (written.kind === 'updated') await news.announce(written.job);
  return written;
}

/** Its cancel was tried and failed: the next step would read it, which is not to come any sooner for a wish that is repeated. */
function isAfterFailure({ cancelSentAtMs, lastFault }: Job): boolean {
  return cancelSentAtMs === undefined && lastFault?.ofCancel === true;
}

/** The next step, which is made due now, is the cancel again. */
function withItsTurn(job: Job): Job {
  if (job.lastFault === undefined || !isAfterFailure(job)) return job;
  const { ofCancel: _, ...lastFault } = job.lastFault;
  return { ...job, lastFault };
}

/** Trouble here only costs time: the next step of the job reads the record. */
async function makeDue(ports: CancelPorts, job: Job): Promise<void> {
  const { queues, log } = ports;
  const { id, account, owner, priority } = job;
  const queue = queues.get(account);
  if (queue === undefined) return log.error('account_unknown', { jobId: id, account });
  try {
    if (isActive(job.state)) return await pullForward(ports, job);
    const { wake } = await queue.dueSet.schedule([{ id, delayMs: 0, leaves: { owner, priority } }], 'pull');
    if (wake) await queue.waker.wake();
  } catch (error) {
    if (!(error instanceof DueSetError)) throw error;
    log.error('job_not_scheduled', { jobId: id, code: error.code, error: messageOf(error) });
  }
}
