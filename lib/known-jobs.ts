import type { Job } from './job.ts';

/**
 * Records that a drain has read or written, so that a job read every few seconds costs one record read a run. A copy
 * may be stale; the revision tells at the next write. The one longest unused makes room.
 */
export class KnownJobs {
  readonly #jobs = new Map<string, Job>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  /** Null: what is stored is not known any more. */
  remember(id: string, job: Job | null): void {
    this.#jobs.delete(id);
    if (job !== null) this.#jobs.set(id, job);
    if (this.#jobs.size <= this.#max) return;
    const oldest = this.#jobs.keys().next();
    if (oldest.done !== true) this.#jobs.delete(oldest.value);
  }
}
