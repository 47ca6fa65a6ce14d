import { JobStoreError } from '../../lib/errors.ts';
import { pendingEvents } from '../../lib/event.ts';
import { isActive, type Job } from '../../lib/job.ts';
import { retentionMs, shardOf } from '../../lib/job-store/job-item.ts';
import type {
  BrokenJob,
  CreateResult,
  JobPage,
  JobStore,
  ListPosition,
  ListQuery,
  UpdateResult,
} from '../../lib/ports.ts';

/** What an update leaves as it is. */
const fixedFields = [
  'id',
  'owner',
  'account',
  'provider',
  'input',
  'fingerprint',
  'metadata',
  'priority',
  'estimatedMicros',
  'batch',
  'webhookUrl',
  'webhookEvents',
  'adopted',
  'createdAtMs',
  'deadlineAtMs',
] as const satisfies (keyof Job)[];

/** The record in memory, with the conditions of the DynamoDB one. Passes the same contract. */
export class MemoryJobStore implements JobStore {
  readonly #nowMs: () => number;
  readonly #pageMax: number;
  readonly #jobs = new Map<string, Job>();

  /** `pageMax` is how many active ids come in one page. */
  constructor(nowMs: () => number, pageMax: number) {
    this.#nowMs = nowMs;
    this.#pageMax = pageMax;
  }

  /** Everything stored. The jobs are frozen: the same object as long as the record is the same. */
  get all(): ReadonlyMap<string, Job> {
    return this.#jobs;
  }

  async create(job: Job): Promise<CreateResult> {
    const stored = this.#live(job.id);
    if (stored === null) {
      this.#jobs.set(job.id, asStored(job));
      return { kind: 'created' };
    }
    const own = stored.revision === job.revision && stored.createdAtMs === job.createdAtMs;
    return own && stored.fingerprint === job.fingerprint ? { kind: 'created' } : { kind: 'exists', job: stored };
  }

  async get(id: string): Promise<Job | null> {
    return this.#live(id);
  }

  async getMany(ids: readonly string[]): Promise<{ jobs: Job[]; broken: BrokenJob[]; absent: string[] }> {
    const unique = [...new Set(ids)];
    const jobs = unique.flatMap((id) => this.#live(id) ?? []);
    return { jobs, broken: [], absent: unique.filter((id) => this.#live(id) === null) };
  }

  async update(job: Job): Promise<UpdateResult> {
    const stored = this.#jobs.get(job.id);
    if (stored === undefined) return { kind: 'stale' };
    const fixed = Object.fromEntries(fixedFields.map((field) => [field, stored[field]]));
    const next = asStored({ ...job, revision: job.revision + 1, ...fixed });
    if (stored.revision === job.revision) {
      this.#jobs.set(job.id, next);
      return { kind: 'updated', job: next };
    }
    // The record is what was meant already: its first reply was lost, not the race.
    return JSON.stringify(sorted(stored)) === JSON.stringify(sorted(next))
      ? { kind: 'updated', job: stored }
      : { kind: 'stale' };
  }

  async list(owner: string, query: ListQuery): Promise<JobPage> {
    const { state, batch, limit, after } = query;
    const inOrder = batch === undefined ? newestFirst : byId;
    const found = [...this.#jobs.values()]
      .filter((job) => job.owner === owner && (state === undefined || job.state === state))
      .filter((job) => batch === undefined || job.batch === batch)
      .filter((job) => this.#live(job.id) !== null && (after === undefined || inOrder(after, job) < 0))
      .sort(inOrder);
    const jobs = found.slice(0, limit);
    const last = jobs.at(-1);
    const next = found.length > limit && last ? { id: last.id, createdAtMs: last.createdAtMs } : null;
    return { jobs, next };
  }

  async activeIds(shard: number, after = ''): Promise<{ ids: string[]; next: string | null }> {
    const ids = [...this.#jobs.values()]
      .filter((job) => isActive(job.state) || pendingEvents(job).length > 0)
      .filter((job) => shardOf(job.id) === shard && job.id > after)
      .map(({ id }) => id)
      .sort();
    const page = ids.slice(0, this.#pageMax);
    return { ids: page, next: page.length < ids.length ? (page.at(-1) ?? null) : null };
  }

  #live(id: string): Job | null {
    const job = this.#jobs.get(id);
    if (job === undefined) return null;
    const expired = !isActive(job.state) && (job.finishedAtMs ?? job.updatedAtMs) + retentionMs <= this.#nowMs();
    return expired ? null : job;
  }
}

/** As it would come back from a database: nothing undefined, nothing shared with the caller. */
function asStored(job: Job): Job {
  if (!Number.isFinite(job.deadlineAtMs)) throw new JobStoreError('A time is no number.');
  return Object.freeze(JSON.parse(JSON.stringify(job)));
}

function sorted(job: Job): [string, unknown][] {
  return Object.entries(job).sort(([a], [b]) => (a < b ? -1 : 1));
}

function newestFirst(a: ListPosition, b: ListPosition): number {
  return b.createdAtMs - a.createdAtMs || byId(b, a);
}

function byId(a: ListPosition, b: ListPosition): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
