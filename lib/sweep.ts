import { type RestorePorts, restorePause } from './account-pause.ts';
import { unnotedWaitMs } from './due.ts';
import { DueSetError, JobStoreError, messageOf } from './errors.ts';
import type { DeliveryStore } from './event-ports.ts';
import { isActive, type Job, needsCreate } from './job.ts';
import type { Log } from './log.ts';
import type { Clock, JobStore, Queue, Queues, Random } from './ports.ts';
import { type RestoreEventsPorts, restoreDeliveries, restoreEvents } from './restore-events.ts';
import { waitingEntry } from './submit.ts';
import { type ShardWalk, walkShard } from './sweep-shard.ts';

/*
 * Repair of the due sets from the record. Every active job that its set does not hold is put back after a consistent
 * read of its record; what the set holds, leased or due, is never touched. The same for what is still to be told: jobs with
 * events, deliveries, batches. A wiped Redis is rebuilt by one sweep. Pauses come first: no job of a paused account comes
 * back as if it were open.
 */

export interface SweepPorts extends RestorePorts, RestoreEventsPorts {
  store: Pick<JobStore, 'activeIds' | 'getMany'>;
  deliveries: Pick<DeliveryStore, 'pendingIds'>;
  queues: Queues;
  clock: Pick<Clock, 'nowMs'>;
  random: Random;
  log: Log;
}

export interface SweepSettings {
  shardCount: number;
  /** The sweep stops before a page when less time than this is left. */
  pageMs: number;
  /** Of the runs. Each starts with another shard, so that runs which are cut short reach all of them in turn. */
  periodMs: number;
}

export interface SweepReport {
  /** False: time or a store ran out before every shard was read. */
  complete: boolean;
  shards: number;
  active: number;
  restored: number;
  /** Jobs with events, deliveries and batches that were put back into the set of events. */
  eventsRestored: number;
  broken: number;
  /** Jobs of an account that is not configured: nobody reads them. */
  unknownAccount: number;
}

/** Restored jobs come back over time, not all at once: this much for each, up to two minutes in all. */
const spreadPerJobMs = 20;
const spreadMaxMs = 120_000;

const nothingSwept: SweepReport = {
  complete: false,
  shards: 0,
  active: 0,
  restored: 0,
  eventsRestored: 0,
  broken: 0,
  unknownAccount: 0,
};

type Walk = Pick<ShardWalk, 'round' | 'pageMs' | 'remainingMs'>;

/** Never rejects on trouble of the stores: it stops, and says so in the report. */
export async function sweep(
  ports: SweepPorts,
  settings: SweepSettings,
  remainingMs: () => number,
): Promise<SweepReport> {
  const report: SweepReport = { ...nothingSwept };
  const run = Math.floor(ports.clock.nowMs() / settings.periodMs);
  const walk = { round: Math.floor(run / settings.shardCount), pageMs: settings.pageMs, remainingMs };
  const shards = Array.from({ length: settings.shardCount }, (_, i) => (run + i) % settings.shardCount);
  try {
    await restorePauses(ports);
    await tidyAll(ports);
    for (const shard of shards) {
      if (!(await sweepJobs(ports, shard, walk, report))) return report;
      report.shards++;
    }
    for (const shard of shards) if (!(await sweepDeliveries(ports, shard, walk, report))) return report;
    report.complete = true;
  } catch (error) {
    if (!(error instanceof DueSetError || error instanceof JobStoreError)) throw error;
    ports.log.error('sweep_stopped', { ...report, error: messageOf(error) });
  }
  return report;
}

/** At once, so that a record that does not answer takes the time of one call. One account's trouble is not the others'. */
async function restorePauses({ pauses, view, queues, log }: SweepPorts): Promise<void> {
  const ports = { pauses, view };
  const restored = [...queues].map(async ([account, { waker }]) => {
    try {
      const overview = await restorePause(ports, account);
      if (overview === null) return;
      const { paused } = overview.state;
      log.warn('pause_restored', { account, paused: paused?.what ?? null });
      if (paused === null) await waker.wake();
    } catch (error) {
      if (!(error instanceof DueSetError || error instanceof JobStoreError)) throw error;
      log.error('pause_not_restored', { account, error: messageOf(error) });
    }
  });
  await Promise.all(restored);
}

async function tidyAll({ queues, log }: SweepPorts): Promise<void> {
  for (const [account, { dueSet, waker }] of queues) {
    const { expired, wake } = await dueSet.tidy();
    if (expired > 0) log.info('waited_past_deadline', { account, jobs: expired });
    if (wake) await waker.wake();
  }
}

/** False when time ran out. */
function sweepJobs(ports: SweepPorts, shard: number, walk: Walk, report: SweepReport): Promise<boolean> {
  const read = (after: string | undefined) => ports.store.activeIds(shard, after);
  const act = async (ids: readonly string[]) => {
    report.active += ids.length;
    await restore(ports, ids, report);
  };
  return walkShard({ ...walk, prefix: 'job_', read, act });
}

/** False when time ran out. */
function sweepDeliveries(ports: SweepPorts, shard: number, walk: Walk, report: SweepReport): Promise<boolean> {
  const read = (after: string | undefined) => ports.deliveries.pendingIds(shard, after);
  const act = async (ids: readonly string[]) => {
    report.eventsRestored += await restoreDeliveries(ports, ids);
  };
  return walkShard({ ...walk, prefix: 'dlv_', read, act });
}

async function restore(ports: SweepPorts, ids: readonly string[], report: SweepReport): Promise<void> {
  let absent = ids;
  // The index does not tell whose they are: absent is what is due in no account's set. Those that wait in line are among
  // them: after a failover of Redis a job may stand there that has been sent.
  for (const { dueSet } of ports.queues.values()) absent = await dueSet.absent(absent);
  if (absent.length === 0) return;
  // The index may lag behind: only the record itself says whether a job is still active.
  const { jobs, broken } = await ports.store.getMany(absent);
  for (const { id, reason } of broken) ports.log.error('record_broken', { jobId: id, reason });
  report.broken += broken.length;
  report.eventsRestored += await restoreEvents(ports, jobs);
  const lost = jobs.filter((job) => isActive(job.state));
  for (const account of new Set(lost.map((job) => job.account))) {
    const theirs = lost.filter((job) => job.account === account);
    const queue = ports.queues.get(account);
    if (queue === undefined) {
      ports.log.error('account_unknown', { account, jobs: theirs.length });
      report.unknownAccount += theirs.length;
    } else {
      report.restored += await putBack(ports, queue, theirs);
    }
  }
}

/** Into their account's sets, as far as they are not there; resolves with how many that were. */
async function putBack(ports: SweepPorts, { dueSet, waker }: Queue, lost: readonly Job[]): Promise<number> {
  const spreadMs = Math.min(lost.length * spreadPerJobMs, spreadMaxMs);
  // Waits in records are on the set's clock, which our own may be minutes away from.
  const nowMs = await dueSet.nowMs();
  const isNew = (job: Job) => job.state === 'waiting' && (job.notBeforeMs ?? 0) <= nowMs;
  // In the order in which they came: the line is rebuilt from the record as it was.
  const waiting = lost.filter(isNew).sort((a, b) => a.createdAtMs - b.createdAtMs);
  const entries = lost
    .filter((job) => !isNew(job))
    .map((job) => ({ id: job.id, delayMs: restoredDelayMs(job, nowMs) + ports.random() * spreadMs }));
  const scheduled = entries.length === 0 ? none : await dueSet.schedule(entries);
  const lined = waiting.length === 0 ? none : await dueSet.enqueue(waiting.map((job) => waitingEntry(job, nowMs)));
  if (scheduled.wake || lined.wake) await waker.wake();
  const added = scheduled.added + lined.added;
  if (added > 0) ports.log.warn('jobs_restored', { restored: added });
  return added;
}

const none = { added: 0, wake: false };

/** The last hint of a job that was lost from the set is not known, unless it was a long one: that is in its record. */
function restoredDelayMs(job: Job, nowMs: number): number {
  return Math.max(needsCreate(job) ? 0 : unnotedWaitMs, (job.notBeforeMs ?? 0) - nowMs);
}
