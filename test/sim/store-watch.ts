import { isActive, type Job } from '../../lib/job.ts';
import type { BrokenJob, CreateResult, JobStore, UpdateResult } from '../../lib/ports.ts';
import type { Lambda } from './lambda.ts';
import type { MemoryJobStore } from './memory-job-store.ts';
import type { Referee } from './referee.ts';

/** Once told, never told otherwise. */
const lastingFields = [
  'deadlineAtMs',
  'createdAtMs',
  'fingerprint',
  'owner',
  'providerJobId',
  'submittedAtMs',
  'cancelAskedAtMs',
  'cancelSentAtMs',
] as const;

/** Hears of each write that changed a record. */
export type OnChange = (by: Lambda, before: Job, after: Job) => void;

/** Stands before the record at the moment at which a call is carried out. Sees every write, and what it made of the job. */
export class StoreWatch {
  readonly #store: JobStore;
  readonly #memory: MemoryJobStore;
  readonly #referee: Referee;
  readonly #index: { lagMs: number; nowMs: () => number };
  readonly #created = new Map<string, number>();
  readonly #ended = new Map<string, Job>();
  readonly #listeners: OnChange[] = [];

  /**
   * `store` is the adapter that the product uses, which keeps its jobs in `memory`. The index of active jobs learns of a
   * new one `lagMs` late, on the world's clock.
   */
  constructor(
    store: JobStore,
    memory: MemoryJobStore,
    referee: Referee,
    index: { lagMs: number; nowMs: () => number },
  ) {
    this.#store = store;
    this.#memory = memory;
    this.#referee = referee;
    this.#index = index;
  }

  /** The jobs that were ever taken in, and when, true time in ms. */
  get created(): ReadonlyMap<string, number> {
    return this.#created;
  }

  get all(): ReadonlyMap<string, Job> {
    return this.#memory.all;
  }

  /** The ended jobs, each as it was when it ended. */
  get ended(): ReadonlyMap<string, Job> {
    return this.#ended;
  }

  async create(job: Job): Promise<CreateResult> {
    const result = await this.#store.create(job);
    if (result.kind === 'created' && !this.#created.has(job.id)) this.#created.set(job.id, this.#index.nowMs());
    return result;
  }

  get(id: string): Promise<Job | null> {
    return this.#store.get(id);
  }

  getMany(ids: readonly string[]): Promise<{ jobs: Job[]; broken: BrokenJob[]; absent: string[] }> {
    return this.#store.getMany(ids);
  }

  async activeIds(shard: number, after?: string): Promise<{ ids: string[]; next: string | null }> {
    const page = await this.#store.activeIds(shard, after);
    return { ...page, ids: page.ids.filter((id) => this.isIndexed(id)) };
  }

  isIndexed(id: string): boolean {
    return (this.#created.get(id) ?? 0) + this.#index.lagMs <= this.#index.nowMs();
  }

  onChange(listener: OnChange): void {
    this.#listeners.push(listener);
  }

  async update(by: Lambda, job: Job): Promise<UpdateResult> {
    const before = this.#memory.all.get(job.id);
    const result = await this.#store.update(job);
    const after = this.#memory.all.get(job.id);
    if (before === undefined || after === undefined || after === before) return result;
    this.#compare(before, after);
    for (const listener of this.#listeners) listener(by, before, after);
    return result;
  }

  #compare(before: Job, after: Job): void {
    if (after.revision !== before.revision + 1) {
      this.#referee.broken(
        'each write is made on the one before',
        `${after.id}: ${before.revision}, ${after.revision}`,
      );
    }
    for (const field of lastingFields) {
      if (before[field] === undefined || before[field] === after[field]) continue;
      this.#referee.broken(`${field} never changes`, `${after.id}: ${before[field]} became ${after[field]}`);
    }
    if (before.state !== after.state) this.#referee.note(`${after.id} ${before.state} -> ${after.state}`);
    if (isActive(after.state)) return;
    // What is told of it may be noted after its end; all else stays as it is.
    const isFirst = isActive(before.state) && !this.#ended.has(after.id);
    const isSame = this.#ended.get(after.id) === before && withoutNews(before) === withoutNews(after);
    const isNoted = isSame && JSON.stringify(before.events) !== JSON.stringify(after.events);
    if (isFirst) this.#referee.saw(after.state);
    if (!isFirst && !isNoted) return;
    this.#ended.set(after.id, after);
    if (after.state === 'completed' && after.result === undefined) {
      this.#referee.broken('no job completes without its result', after.id);
    }
  }
}

function withoutNews({ events: _, revision: __, ...job }: Job): string {
  return JSON.stringify(Object.entries(job).sort(([a], [b]) => (a < b ? -1 : 1)));
}
