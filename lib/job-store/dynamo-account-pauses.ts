import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { AccountPauses, RecordedPause } from '../account-pause.ts';
import type { Paused } from '../account-state.ts';
import { JobStoreError } from '../errors.ts';
import { attempt } from './attempt.ts';
import type { Item } from './item-fields.ts';
import { updateIf } from './update-if.ts';

/**
 * An item `account_<id>` for each account that was ever paused or resumed. `paused` is absent from that of a resumed one.
 * It has no expiry, and no attribute that an index of the table is made of.
 */
export class DynamoAccountPauses implements AccountPauses {
  readonly #client: DynamoDBClient;
  readonly #table: string;

  constructor(client: DynamoDBClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async read(account: string): Promise<RecordedPause | null> {
    const command = new GetItemCommand({ ...this.#key(account), ConsistentRead: true });
    const { Item: item } = await attempt(() => this.#client.send(command));
    return item === undefined ? null : pauseOf(account, item);
  }

  async write(account: string, paused: Paused | null, atMs: number): Promise<RecordedPause> {
    const item = await this.#update(account, paused, atMs);
    if (item !== null) return pauseOf(account, item);
    // It says so already: by an earlier request, or by a try of this one whose answer was lost.
    return (await this.read(account)) ?? { paused, sinceMs: atMs };
  }

  /** The item as it is after the write; null when it said the same before. */
  #update(account: string, paused: Paused | null, atMs: number): Promise<Item | null> {
    const at = { ':at': { N: String(atMs) } };
    const change =
      paused === null
        ? {
            ConditionExpression: 'attribute_exists(paused) OR attribute_not_exists(since_ms)',
            UpdateExpression: 'SET since_ms = :at REMOVE paused',
            ExpressionAttributeValues: at,
          }
        : {
            ConditionExpression: 'attribute_not_exists(paused) OR paused <> :paused',
            UpdateExpression: 'SET since_ms = :at, paused = :paused',
            ExpressionAttributeValues: { ...at, ':paused': { S: paused } },
          };
    return updateIf(this.#client, { ...this.#key(account), ...change });
  }

  #key(account: string): { TableName: string; Key: Item } {
    return { TableName: this.#table, Key: { id: { S: `account_${account}` } } };
  }
}

/** A pause that can't be read is not taken for none: the account would be called. */
function pauseOf(account: string, item: Item): RecordedPause {
  const sinceMs = Number(item.since_ms?.N);
  const paused = item.paused === undefined ? null : item.paused.S;
  if ((paused === null || paused === 'all' || paused === 'creates') && sinceMs >= 0 && sinceMs <= 8.64e15) {
    return { paused, sinceMs };
  }
  const field = sinceMs >= 0 && sinceMs <= 8.64e15 ? 'paused' : 'since_ms';
  throw new JobStoreError(`The item account_${account} can't be read: its ${field} is none that we write.`, true);
}
