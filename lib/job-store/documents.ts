import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { JobStoreError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../ports.ts';
import { attempt } from './attempt.ts';
import { batchGet } from './batch-get.ts';
import type { Item } from './item-fields.ts';
import { unlessConditionFails } from './unless-condition-fails.ts';
import { updateRevision } from './update-revision.ts';

/** How a kind of document is kept in the table. */
export interface Mapping<Document> {
  /** For messages: `delivery`. */
  name: string;
  toItem(document: Document): Item;
  /** What an update writes: never what is in it only once. */
  moving(document: Document): { set: Item; remove: string[] };
  /** Or why it can't be read; no value of a field is ever part of the reason. */
  fromItem(item: Item): { document: Document } | { broken: string };
}

/** Documents of one kind in the one table. What has expired counts as deleted. Every call rejects with a JobStoreError and nothing else. */
export class Documents<Document extends { id: string; revision: number }> {
  readonly client: DynamoDBClient;
  readonly table: string;
  readonly #clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly #log: Log;
  readonly #mapping: Mapping<Document>;

  constructor(
    client: DynamoDBClient,
    table: string,
    clock: Pick<Clock, 'nowMs' | 'sleep'>,
    log: Log,
    mapping: Mapping<Document>,
  ) {
    this.client = client;
    this.table = table;
    this.#clock = clock;
    this.#log = log;
    this.#mapping = mapping;
  }

  /** The item that is there under the id already; null when there was none, and this one is written. */
  async create(document: Document): Promise<Item | null> {
    const at = this.at(document.id);
    const command = new PutItemCommand({
      TableName: this.table,
      Item: this.#mapping.toItem(document),
      ConditionExpression: 'attribute_not_exists(id) OR expires_at <= :nowSec',
      ExpressionAttributeValues: { ':nowSec': { N: String(Math.floor(this.#clock.nowMs() / 1000)) } },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    return unlessConditionFails(this.client, at, () => this.client.send(command));
  }

  async get(id: string): Promise<Document | null> {
    const command = new GetItemCommand({ ...this.at(id), ConsistentRead: true });
    const { Item: item } = await attempt(() => this.client.send(command));
    return item === undefined || this.isExpired(item) ? null : this.read(item, id);
  }

  /** In the order of the ids; what has no record is left out, and so is what can't be read, with a line in the log. */
  async getMany(ids: readonly string[]): Promise<Document[]> {
    const found = new Map<string, Document>();
    for (const item of await batchGet(this.client, this.table, [...new Set(ids)], this.#clock)) {
      const id = item.id?.S ?? '';
      if (this.isExpired(item)) continue;
      const read = this.#mapping.fromItem(item);
      if ('document' in read) found.set(id, read.document);
      else this.#log.error('item_broken', { id, kind: this.#mapping.name, reason: read.broken });
    }
    return [...new Set(ids)].flatMap((id) => found.get(id) ?? []);
  }

  /** The document with its new revision; null when its stored one is another. */
  async update(document: Document): Promise<Document | null> {
    const next = { ...document, revision: document.revision + 1 };
    const { id, revision } = document;
    const written = await updateRevision(this.client, this.at(id), revision, this.#mapping.moving(next));
    return written ? next : null;
  }

  read(item: Item, id: string): Document {
    const read = this.#mapping.fromItem(item);
    if ('document' in read) return read.document;
    throw new JobStoreError(`The ${this.#mapping.name} ${id} can't be read: ${read.broken}.`, true);
  }

  at(id: string): { TableName: string; Key: Item } {
    return { TableName: this.table, Key: { id: { S: id } } };
  }

  isExpired(item: Item): boolean {
    return Number(item.expires_at?.N ?? Number.NaN) * 1000 <= this.#clock.nowMs();
  }
}
