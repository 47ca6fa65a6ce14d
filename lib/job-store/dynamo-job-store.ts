import { setImmediate } from 'node:timers/promises';
import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { JobStoreError } from '../errors.ts';
import type { Job } from '../job.ts';
import type { BrokenJob, Clock, CreateResult, JobPage, JobStore, ListPosition, UpdateResult } from '../ports.ts';
import { attempt } from './attempt.ts';
import { batchGet } from './batch-get.ts';
import { fromItem, type Item, isExpired, movingAttributes, toItem } from './job-item.ts';
import { unlessConditionFails } from './unless-condition-fails.ts';

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
    const { set, remove } = movingAttributes(next);
    const attributes = [...Object.keys(set), ...remove];
    const command = new UpdateItemCommand({
      ...this.#at(job.id),
      ConditionExpression: '#revision = :expected',
      UpdateExpression: updateExpression(Object.keys(set), remove),
      ExpressionAttributeNames: Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(Object.entries(set).map(([name, value]) => [`:${name}`, value])),
        ':expected': { N: String(job.revision) },
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const stored = await unlessConditionFails(this.#client, this.#at(job.id), () => this.#client.send(command));
    if (stored === null || holdsAll(stored, set)) return { kind: 'updated', job: next };
    return { kind: 'stale' };
  }

  async list(owner: string, query: { state?: Job['state']; limit: number; after?: ListPosition }): Promise<JobPage> {
    const found: ListPosition[] = [];
    let start = query.after === undefined ? undefined : indexKey(owner, query.after);
    let scanned = 0;
    do {
      const page = await attempt(() => this.#client.send(this.#listCommand(owner, query, start)));
      found.push(...(page.Items ?? []).map(positionOf));
      start = nonEmpty(page.LastEvaluatedKey);
      scanned += page.ScannedCount ?? 0;
    } while (start !== undefined && found.length < query.limit && scanned < listScanMax);
    const shown = found.slice(0, query.limit);
    const cut = found.length > shown.length ? shown.at(-1) : undefined;
    const { jobs } = await this.getMany(shown.map(({ id }) => id));
    const byId = new Map(jobs.map((job) => [job.id, job]));
    // The index lags the record: what has moved on to another state since is not listed under the old one.
    const current = shown
      .flatMap(({ id }) => byId.get(id) ?? [])
      .filter((job) => query.state === undefined || job.state === query.state);
    return { jobs: current, next: cut ?? (start === undefined ? null : positionOf(start)) };
  }

  async activeIds(shard: number, after?: string): Promise<{ ids: string[]; next: string | null }> {
    const page = await attempt(() =>
      this.#client.send(
        new QueryCommand({
          TableName: this.#table,
          IndexName: 'active',
          KeyConditionExpression: after === undefined ? 'active = :shard' : 'active = :shard AND id > :after',
          ExpressionAttributeValues: {
            ':shard': { S: String(shard) },
            ...(after === undefined ? {} : { ':after': { S: after } }),
          },
        }),
      ),
    );
    const ids = (page.Items ?? []).map((item) => item.id?.S ?? '');
    return { ids, next: nonEmpty(page.LastEvaluatedKey)?.id?.S ?? null };
  }

  #listCommand(owner: string, query: { state?: Job['state']; limit: number }, start: Item | undefined): QueryCommand {
    const { state } = query;
    return new QueryCommand({
      TableName: this.#table,
      IndexName: 'by-owner',
      KeyConditionExpression: '#owner = :owner',
      ExpressionAttributeNames: { '#owner': 'owner', ...(state === undefined ? {} : { '#state': 'state' }) },
      ExpressionAttributeValues: { ':owner': { S: owner }, ...(state === undefined ? {} : { ':state': { S: state } }) },
      ...(state === undefined ? {} : { FilterExpression: '#state = :state' }),
      ScanIndexForward: false,
      Limit: state === undefined ? query.limit : Math.max(query.limit, 250),
      ...(start === undefined ? {} : { ExclusiveStartKey: start }),
    });
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

function updateExpression(set: string[], remove: string[]): string {
  const assignments = set.map((name) => `#${name} = :${name}`).join(', ');
  return `SET ${assignments} REMOVE ${remove.map((name) => `#${name}`).join(', ')}`;
}

/** True when the stored item already is what an update meant to write: its first reply was lost, not the race. */
function holdsAll(stored: Item, wanted: Item): boolean {
  return Object.entries(wanted).every(([name, value]) => stored[name]?.S === value.S && stored[name]?.N === value.N);
}

function nonEmpty(key: Item | undefined): Item | undefined {
  return key === undefined || Object.keys(key).length === 0 ? undefined : key;
}

function indexKey(owner: string, at: ListPosition): Item {
  return { id: { S: at.id }, owner: { S: owner }, created_at_ms: { N: String(at.createdAtMs) } };
}

function positionOf(item: Item): ListPosition {
  return { id: item.id?.S ?? '', createdAtMs: Number(item.created_at_ms?.N) };
}
