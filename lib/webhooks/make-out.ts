import { DueSetError, JobStoreError, messageOf } from '../errors.ts';
import { type JobEvent, pendingEvents } from '../event.ts';
import { batchIdFor } from '../identify.ts';
import { inParallel } from '../in-parallel.ts';
import { isActive, type Job } from '../job.ts';
import type { Log } from '../log.ts';
import type { DueSet, JobStore } from '../ports.ts';
import { jobEventBody } from './event-body.ts';
import type { EventSettle } from './event-settle.ts';
import { Listeners } from './listeners.ts';
import { type MakeDeliveriesPorts, makeDeliveries } from './make-deliveries.ts';
import { wantsEvent } from './wants-event.ts';

/*
 * From jobs with pending events to deliveries. In this order, so that a process may die between any two steps and the next
 * look does the rest, with the same ids:
 *
 *   deliveries written ──▶ made due ──▶ the job's events no longer pending ──▶ the batch of a job that has ended made due
 */

export interface MakeOutPorts extends MakeDeliveriesPorts {
  store: Pick<JobStore, 'get' | 'getMany' | 'update'>;
  /** That of events. */
  dueSet: Pick<DueSet, 'schedule'>;
  log: Log;
}

export interface MadeOut {
  settle: ReadonlyMap<string, EventSettle>;
  /** How many ids were made due. */
  scheduled: number;
}

const jobsAtOnce = 20;
const lostRacesMax = 3;
const troubleRetryMs = 5_000;
/** After a fault of our own. */
const crashRetryMs = 60_000;
/** Of what hangs on a record that can't be read: only somebody's hand helps. */
const brokenRetryMs = 600_000;
/** Ends of one batch that come close together are looked at once. */
const batchDelayMs = 1_000;
/**
 * What is made due while it is leased is not noticed: news of a job while it was looked at here, the end of a batch's last
 * job while the batch was. So where more may come, there is one more look, which begins later than any that was under way.
 */
const lookAgainMs = 5_000;

/** Every id of these is in `settle`. Never rejects: where there is trouble, the ids concerned are due again, and no others. */
export function makeOut(ports: MakeOutPorts, ids: readonly string[]): Promise<MadeOut> {
  return new Look(ports, ids).run();
}

/** Ids of the deliveries by event. */
type Made = ReadonlyMap<string, string[]>;

class Look {
  readonly #ports: MakeOutPorts;
  readonly #ids: readonly string[];
  readonly #listeners: Listeners;
  readonly #settle: Map<string, EventSettle>;
  #scheduled = 0;

  constructor(ports: MakeOutPorts, ids: readonly string[]) {
    this.#ports = ports;
    this.#ids = ids;
    this.#listeners = new Listeners(ports);
    this.#settle = new Map(ids.map((id) => [id, { kind: 'remove' }]));
  }

  async run(): Promise<MadeOut> {
    const made = await this.#each(await this.#read(), async (job) => ({ job, ...(await this.#deliveriesOf(job)) }));
    const toDeliver = made.filter(({ due }) => due.length > 0);
    const jobs = toDeliver.map(({ job }) => job);
    const deliveries = toDeliver.flatMap(({ due }) => due);
    const areDue = await this.#schedule(deliveries, 0, jobs);
    await this.#note(areDue ? made : made.filter(({ due }) => due.length === 0));
    return { settle: this.#settle, scheduled: this.#scheduled };
  }

  async #read(): Promise<Job[]> {
    const { store, log } = this.#ports;
    try {
      const { jobs, broken } = await store.getMany(this.#ids);
      for (const { id, reason } of broken) log.error('record_broken', { jobId: id, reason });
      return jobs;
    } catch (error) {
      this.#later(this.#ids, error);
      return [];
    }
  }

  async #deliveriesOf(job: Job): Promise<{ byEvent: Made; due: string[] }> {
    const byEvent = new Map<string, string[]>();
    const due: string[] = [];
    for (const event of pendingEvents(job)) {
      const made = await makeDeliveries(this.#ports, this.#listeners, {
        owner: job.owner,
        subjectId: job.id,
        eventId: event.id,
        type: event.type,
        url: wantsEvent(job, event.type) ? job.webhookUrl : undefined,
        body: () => jobEventBody(job, event),
      });
      byEvent.set(event.id, made.ids);
      due.push(...made.due);
    }
    return { byEvent, due };
  }

  async #note(made: readonly { job: Job; byEvent: Made }[]): Promise<void> {
    const noted = await this.#each(
      made.map((deliveries) => ({ ...deliveries, id: deliveries.job.id })),
      async ({ job, byEvent }) => {
        const { stored, settle } = await noteDeliveries(this.#ports, job, byEvent);
        this.#settle.set(job.id, settle);
        return stored;
      },
    );
    const ended = noted.filter((job) => job !== null).filter(({ state }) => !isActive(state));
    const inBatches = ended.filter(({ batch }) => batch !== undefined);
    const batches = new Set(inBatches.map(({ owner, batch = '' }) => batchIdFor(owner, batch)));
    await this.#schedule([...batches], batchDelayMs, inBatches);
  }

  /** Does it for each, some at a time; resolves with what came of those that had no trouble. */
  async #each<T extends { id: string }, R>(some: readonly T[], act: (one: T) => Promise<R>): Promise<R[]> {
    const results = await inParallel(some, jobsAtOnce, async (one): Promise<R[]> => {
      try {
        return [await act(one)];
      } catch (error) {
        this.#later([one.id], error);
        return [];
      }
    });
    return results.flat();
  }

  /** False when it failed: then the jobs that it was done for are due again soon. */
  async #schedule(ids: readonly string[], delayMs: number, jobs: readonly Job[]): Promise<boolean> {
    if (ids.length === 0) return true;
    try {
      // A sweep may have put it in already, for some time within the next minute.
      const entries = ids.map((id) => ({ id, delayMs }));
      const { added } = await this.#ports.dueSet.schedule(entries, 'pull');
      this.#scheduled += added;
      return true;
    } catch (error) {
      const jobIds = jobs.map(({ id }) => id);
      this.#later(jobIds, error);
      return false;
    }
  }

  #later(ids: readonly string[], error: unknown): void {
    const isBroken = error instanceof JobStoreError && error.broken;
    const isOutside = error instanceof JobStoreError || error instanceof DueSetError;
    const about = { jobId: ids[0] ?? '', jobs: ids.length, error: messageOf(error) };
    // One job's is not the others', which are looked at together with it.
    if (isOutside) this.#ports.log.warn('events_not_made_out', about);
    else this.#ports.log.error('make_out_crashed', about);
    const delayMs = isBroken ? brokenRetryMs : isOutside ? troubleRetryMs : crashRetryMs;
    for (const id of ids) this.#settle.set(id, { kind: 'due', delayMs });
  }
}

/** The record says of these events that they are made out. `stored`: the job as it is then; null where that is not known. */
async function noteDeliveries(
  { store }: MakeOutPorts,
  found: Job,
  made: Made,
): Promise<{ stored: Job | null; settle: EventSettle }> {
  if (made.size === 0) return { stored: found, settle: { kind: 'remove' } };
  let current: Job | null = found;
  for (let tries = 0; tries < lostRacesMax; tries++) {
    if (current === null) return { stored: null, settle: { kind: 'remove' } };
    // Another look was at it too, and has noted them.
    const isNew = pendingEvents(current).some(({ id }) => made.has(id));
    if (!isNew) return { stored: current, settle: afterNoting(current) };
    const next: Job = { ...current, events: current.events.map((event) => madeOut(event, made)) };
    const written = await store.update(next);
    if (written.kind === 'updated') return { stored: written.job, settle: afterNoting(written.job) };
    current = await store.get(found.id);
  }
  return { stored: null, settle: { kind: 'due', delayMs: troubleRetryMs } };
}

function madeOut(event: JobEvent, made: Made): JobEvent {
  const deliveries = made.get(event.id);
  if (deliveries === undefined || event.pending !== true) return event;
  const { pending: _, ...rest } = event;
  return { ...rest, deliveries };
}

function afterNoting(job: Job): EventSettle {
  // It went on while we were at it.
  if (pendingEvents(job).length > 0) return { kind: 'due', delayMs: 0 };
  const moreMayCome = isActive(job.state) || job.batch !== undefined;
  return moreMayCome ? { kind: 'due', delayMs: lookAgainMs } : { kind: 'remove' };
}
