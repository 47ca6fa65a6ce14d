import { setImmediate } from 'node:timers/promises';
import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { JobStoreError } from '../errors.ts';
import { batchIdFor } from '../identify.ts';
import type { Job } from '../job.ts';
import type {
  BrokenJob,
  Clock,
  CreateResult,
  JobPage,
  JobStore,
  ListPosition,
  ListQuery,
  UpdateResult,
} from '../ports.ts';
import { attempt } from './attempt.ts';
import { batchGet } from './batch-get.ts';
import type { Item } from './item-fields.ts';
import { fromItem, isExpired, movingAttributes, toItem } from './job-item.ts';
import { type IndexQuery, idOf, positionOf, queryActive, queryByBatch, queryByOwner } from './query-index.ts';
import { unlessConditionFails } from './unless-condition-fails.ts';
import { updateRevision } from './update-revision.ts';

/** A filtered list reads at most this many index entries before it hands back a short page. */
const listScanMax = 1_000;

const noLiveRecord = 'attribute_not_exists(id) OR expires_at <= :nowSec';

export class DynamoJobStore implements JobStore {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #clock: Pick<Clock, 'nowMs' | 'sleep'>;

  constructor(client: DynamoDBClient, table: string, clock: Pick<Clock, 'nowMs' | 'sleep'>) {
    this.#client = client;
    this.#table = table;
    this.#clock = clock;
  }

  async create(job: Job): Promise<CreateResult> {
    const command = new PutItemCommand({
      TableName: this.#table,
      Item: toItem(job),
      ConditionExpression: noLiveRecord,
      ExpressionAttributeValues: { ':nowSec': { N: String(Math.floor(this.#clock.nowMs() / 1000)) } },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const stored = await unlessConditionFails(this.#client, this.#at(job.id), () => this.#client.send(command));
    if (stored === null) return { kind: 'created' };
    const existing = this.#read(stored);
    // A repeat by the SDK after a lost reply meets its own write.
    const own = existing.revision === job.revision && existing.createdAtMs === job.createdAtMs;
    if (own && existing.fingerprint === job.fingerprint) return { kind: 'created' };
    return { kind: 'exists', job: existing };
  }

  async get(id: string): Promise<Job | null> {
    const item = await this.#getItem(id);
    return item === undefined || isExpired(item, this.#clock.nowMs()) ? null : this.#read(item);
  }

  async getMany(ids: readonly string[]): Promise<{ jobs: Job[]; broken: BrokenJob[]; absent: string[] }> {
    const unique = [...new Set(ids)];
    const items = await batchGet(this.#client, this.#table, unique, this.#clock);
    const jobs: Job[] = [];
    const broken: BrokenJob[] = [];
    const found = new Set<string>();
    for (const item of items) {
      if (isExpired(item, this.#clock.nowMs())) continue;
      const id = item.id?.S ?? '';
      found.add(id);
      const read = fromItem(item);
      if ('job' in read) jobs.push(read.job);
      else broken.push({ id, reason: read.broken });
    }
    return { jobs, broken, absent: unique.filter((id) => !found.has(id)) };
  }

  async update(job: Job): Promise<UpdateResult> {
    // In a turn of its own: what several updates do at once is a stretch in which no read begins on time.
    await setImmediate();
    const next: Job = { ...job, revision: job.revision + 1 };
    const written = await updateRevision(this.#client, this.#at(job.id), job.revision, movingAttributes(next));
    return written ? { kind: 'updated', job: next } : { kind: 'stale' };
  }

  async list(owner: string, query: ListQuery): Promise<JobPage> {
    const { state, batch, limit } = query;
    const found: ListPosition[] = [];
    let after: ListPosition | null | undefined = query.after;
    let scanned = 0;
    do {
      const wanted = { state, limit: state === undefined ? limit : Math.max(limit, 250) };
      const page = await this.#page(owner, batch, wanted, after ?? undefined);
      found.push(...page.found);
      after = page.next;
      scanned += page.scanned;
    } while (after !== null && found.length < limit && scanned < listScanMax);
    const shown = found.slice(0, limit);
    const cut = found.length > shown.length ? shown.at(-1) : undefined;
    const { jobs } = await this.getMany(shown.map(({ id }) => id));
    const byId = new Map(jobs.map((job) => [job.id, job]));
    // The index lags the record: what has moved on to another state since is not listed under the old one.
    const current = shown
      .flatMap(({ id }) => byId.get(id) ?? [])
      .filter((job) => state === undefined || job.state === state);
    return { jobs: current, next: cut ?? after };
  }

  activeIds(shard: number, after?: string): Promise<{ ids: string[]; next: string | null }> {
    return queryActive(this.#client, this.#table, String(shard), after);
  }

  async #page(
    owner: string,
    batch: string | undefined,
    wanted: IndexQuery,
    after: ListPosition | undefined,
  ): Promise<{ found: ListPosition[]; scanned: number; next: ListPosition | null }> {
    if (batch === undefined) {
      const page = await queryByOwner(this.#client, this.#table, owner, { ...wanted, after });
      return { ...page, found: page.items.map(positionOf) };
    }
    const batchId = batchIdFor(owner, batch);
    const { items, scanned, next } = await queryByBatch(this.#client, this.#table, batchId, {
      ...wanted,
      after: after?.id,
    });
    // By id alone: the index does not know when they were made.
    const at = (id: string) => ({ id, createdAtMs: 0 });
    return { found: items.map((item) => at(idOf(item))), scanned, next: next === null ? null : at(next) };
  }

  async #getItem(id: string): Promise<Item | undefined> {
    const command = new GetItemCommand({ ...this.#at(id), ConsistentRead: true });
    return (await attempt(() => this.#client.send(command))).Item;
  }

  #at(id: string): { TableName: string; Key: Item } {
    return { TableName: this.#table, Key: { id: { S: id } } };
  }

  #read(item: Item): Job {
    const read = fromItem(item);
    if ('broken' in read)
      throw new JobStoreError(`The record of ${item.id?.S ?? 'a job'} can't be read: ${read.broken}.`, true);
    return read.job;
  }
}
