import { isActive, type JobState, jobStates } from '../../../lib/job.ts';
import type { ApiClient, ApiJob } from './api-client.ts';

export interface Tally {
  total: number;
  completed: number;
  /** Ended in any other way. */
  failed: number;
  counts: Partial<Record<JobState, number>>;
}

const pageSize = 100;

/**
 * Follows a set of jobs by pages of the API's list, newest first, which cost the same however many jobs are followed. A job that
 * ended is not looked for any more, so a page is read only as far back as the oldest one that still runs.
 */
export class Follower {
  readonly #client: Pick<ApiClient, 'list' | 'get'>;
  readonly #states = new Map<string, JobState>();

  constructor(client: Pick<ApiClient, 'list' | 'get'>) {
    this.#client = client;
  }

  add(job: ApiJob): void {
    if (!this.#states.has(job.id)) this.#states.set(job.id, stateOf(job));
  }

  /** Takes in the jobs of an earlier run that still have a provider to wait for; returns how many. */
  async addUnfinished(): Promise<number> {
    const before = this.#states.size;
    for (const state of ['waiting', 'submitting', 'queued', 'processing'] as const) {
      for (let cursor: string | undefined; ; ) {
        const page = await this.#client.list({ limit: pageSize, state, ...(cursor === undefined ? {} : { cursor }) });
        for (const job of page.jobs) this.add(job);
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
      }
    }
    return this.#states.size - before;
  }

  /** Reads the states of those that still run. */
  async refresh(): Promise<void> {
    const wanted = new Set(this.unfinished());
    for (let cursor: string | undefined; wanted.size > 0; ) {
      const page = await this.#client.list({ limit: pageSize, ...(cursor === undefined ? {} : { cursor }) });
      for (const job of page.jobs) {
        if (wanted.delete(job.id)) this.#states.set(job.id, stateOf(job));
      }
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  /** Ids of the jobs that have not ended, as far as is known. */
  unfinished(): string[] {
    return [...this.#states].filter(([, state]) => isActive(state)).map(([id]) => id);
  }

  tally(): Tally {
    const counts: Partial<Record<JobState, number>> = {};
    for (const state of this.#states.values()) counts[state] = (counts[state] ?? 0) + 1;
    const total = this.#states.size;
    const completed = counts.completed ?? 0;
    return { total, completed, failed: total - completed - this.unfinished().length, counts };
  }

  /** Every job that did not complete, with its state. */
  incomplete(): { id: string; state: JobState }[] {
    return [...this.#states].filter(([, state]) => state !== 'completed').map(([id, state]) => ({ id, state }));
  }

  /** Asks for each job that has not ended by its id; returns the ids that the API doesn't know. */
  async findLost(): Promise<string[]> {
    const lost: string[] = [];
    for (const id of this.unfinished()) {
      const job = await this.#client.get(id);
      if (job === undefined) lost.push(id);
      else this.#states.set(id, stateOf(job));
    }
    return lost;
  }
}

function stateOf(job: ApiJob): JobState {
  const state = jobStates.find((known) => known === job.state);
  if (state === undefined) throw new Error(`The API gave job ${job.id} the unknown state "${job.state}".`);
  return state;
}
