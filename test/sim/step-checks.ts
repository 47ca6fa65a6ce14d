import { isActive, type Job } from '../../lib/job.ts';
import type { Clients } from './clients.ts';
import type { Outside } from './doors.ts';
import { LineWatch } from './line-watch.ts';

/** Since when, and why, the set does not hold an active job. True time, ms. */
interface Absence {
  sinceMs: number;
  cause: string;
}

/** In fair weather no active job stays out of the set for longer: a sweep's period, and the time that a sweep may take. */
const absentMaxMs = 300_000 + 120_000;

/** What is checked after every step: what holds at any moment, whoever is in the middle of what. */
export class StepChecks {
  readonly #outside: Outside;
  readonly #absences = new Map<string, Absence>();
  #calmSinceMs = Number.POSITIVE_INFINITY;
  #known = 0;
  readonly #seen = new Set<string>();
  readonly #line: LineWatch;

  constructor(outside: Outside) {
    this.#outside = outside;
    const { set, referee, setNowMs, scheduler } = outside;
    this.#line = new LineWatch(set, referee, { nowMs: setNowMs, trueMs: () => scheduler.nowMs });
  }

  /** From now on nothing fails any more. */
  calm(): void {
    this.#calmSinceMs = this.#outside.scheduler.nowMs;
    this.#line.calm();
    this.#outside.telling?.watch.calm();
    this.#outside.cancels.calm();
  }

  /** The set has lost some of the ids that it held, through no act of the product. */
  lost(ids: readonly string[], cause: string): void {
    for (const id of ids) this.#absences.set(id, { sinceMs: this.#outside.scheduler.nowMs, cause });
  }

  /** The active jobs that the set does not hold and that the index knows, each with when it was lost. */
  absent(): Map<string, number> {
    const { store } = this.#outside;
    const known = [...this.#absences].filter(([id]) => store.isIndexed(id));
    return new Map(known.map(([id, { sinceMs }]) => [id, sinceMs]));
  }

  /** A whole sweep has ended. */
  swept(absentBefore: ReadonlyMap<string, number>): void {
    const { referee, set, store } = this.#outside;
    for (const [id, sinceMs] of absentBefore) {
      const job = store.all.get(id);
      if (set.holds(id) || job === undefined || !isActive(job.state)) continue;
      if (this.#absences.get(id)?.sinceMs === sinceMs) {
        referee.broken('a whole sweep brings back every job that the set had lost before', id);
      }
    }
  }

  check(clients: Clients): void {
    const { store, referee } = this.#outside;
    if (store.created.size !== this.#known) this.#meetNew();
    let counted = 0;
    for (const job of store.all.values()) {
      counted++;
      if (isActive(job.state)) this.#checkActive(job);
      else this.#checkEnded(job);
    }
    if (counted !== store.created.size) {
      referee.broken('taken in = active + ended', `${store.created.size} taken in, ${counted} there`);
    }
    for (const id of clients.accepted) {
      if (!store.all.has(id)) referee.broken('what is accepted stays recorded', id);
    }
    this.#checkClips();
    this.#line.check();
    this.#outside.telling?.watch.check();
    this.#outside.cancels.check(store.all);
  }

  /** Between the record's write and the set's, a new job is nowhere else: the sweep would find it. */
  #meetNew(): void {
    const { store, scheduler } = this.#outside;
    this.#known = store.created.size;
    for (const id of store.created.keys()) {
      if (!this.#seen.has(id)) this.#absences.set(id, { sinceMs: scheduler.nowMs, cause: 'not yet in' });
      this.#seen.add(id);
    }
  }

  #checkActive(job: Job): void {
    const { set, referee, scheduler } = this.#outside;
    const absence = this.#absences.get(job.id);
    if (set.holds(job.id)) {
      if (absence !== undefined) this.#absences.delete(job.id);
    } else if (absence === undefined) {
      referee.broken('an active job is in the set, or one sweep away', `${job.id} (${job.state}) was taken out`);
    } else if (scheduler.nowMs - Math.max(absence.sinceMs, this.#calmSinceMs) > absentMaxMs) {
      referee.broken('an active job is in the set, or one sweep away', `${job.id} stays out: ${absence.cause}`);
    }
  }

  #checkEnded(job: Job): void {
    const { store, referee } = this.#outside;
    const atEnd = store.ended.get(job.id);
    if (atEnd !== job) referee.broken('an ended job never changes', `${job.id}: ${atEnd?.state}, then ${job.state}`);
    if (this.#absences.size > 0) this.#absences.delete(job.id);
  }

  #checkClips(): void {
    const { provider, store, referee } = this.#outside;
    for (const [id, clip] of provider.clips) {
      const job = store.all.get(id);
      if (job === undefined) referee.broken('every billed clip is one accepted job', `${id} is no job`);
      else if (isUnsent(job))
        referee.broken('a job that waits, or has ended unsent, has no clip', `${job.id} is ${job.state}`);
      else if (job.providerJobId !== undefined && job.providerJobId !== clip.providerJobId) {
        referee.broken('every billed clip is one accepted job', `${id} has ${job.providerJobId}`);
      }
    }
    for (const job of store.all.values()) {
      if (job.providerJobId !== undefined && !provider.clips.has(job.id)) {
        referee.broken('every accepted job is one billed clip', job.id);
      }
    }
  }
}

/** As the record tells it: the provider has never had the job. */
function isUnsent(job: Job): boolean {
  const isOwners = job.state === 'canceled' && job.history.at(-1)?.reason === 'canceled_by_owner';
  return isOwners || job.state === 'waiting' || job.state === 'rejected' || job.lastFault?.code === 'deadline_passed';
}
