import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { HookCounts, HookTally, HourTally } from '../hooks/hook-health.ts';
import type { Clock } from '../ports.ts';
import { attempt } from './attempt.ts';
import { batchGet } from './batch-get.ts';
import type { Item } from './item-fields.ts';

const keptHours = 48;
const attributes = { arrived: 'arrived_count', missed: 'missed_count', late: 'late_count' } as const;
const names = Object.keys(attributes) as (keyof HookTally)[];

/** An item `hooks_<account>_<hour>` for each account and hour. It has no attribute that an index of the table is made of. */
export class DynamoHookCounts implements HookCounts {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #clock: Pick<Clock, 'sleep'>;

  constructor(client: DynamoDBClient, table: string, clock: Pick<Clock, 'sleep'>) {
    this.#client = client;
    this.#table = table;
    this.#clock = clock;
  }

  async add(account: string, hour: number, change: Partial<HookTally>): Promise<void> {
    const changed = names.filter((name) => change[name] !== undefined && change[name] !== 0);
    if (changed.length === 0) return;
    const sums = changed.map((name) => `${attributes[name]} :${name}`);
    const command = new UpdateItemCommand({
      TableName: this.#table,
      Key: { id: { S: itemId(account, hour) } },
      UpdateExpression: `ADD ${sums.join(', ')} SET expires_at = :expires_at`,
      ExpressionAttributeValues: {
        ...Object.fromEntries(changed.map((name) => [`:${name}`, { N: String(change[name]) }])),
        ':expires_at': { N: String((hour + 1 + keptHours) * 3_600) },
      },
    });
    await attempt(() => this.#client.send(command));
  }

  async read(accounts: readonly string[], hours: readonly number[]): Promise<HourTally[]> {
    const wanted = new Map<string, Pick<HourTally, 'account' | 'hour'>>();
    for (const account of accounts) {
      for (const hour of hours) wanted.set(itemId(account, hour), { account, hour });
    }
    const items = await batchGet(this.#client, this.#table, [...wanted.keys()], this.#clock);
    return items.flatMap((item) => {
      const of = wanted.get(item.id?.S ?? '');
      return of === undefined ? [] : [{ ...of, ...tallyOf(item) }];
    });
  }
}

/** An account's name has no underscore in it, so that no two are the same. */
function itemId(account: string, hour: number): string {
  return `hooks_${account}_${hour}`;
}

/** A number that makes no sense counts as none: nothing depends on it. */
function tallyOf(item: Item): HookTally {
  const count = (name: keyof HookTally) => {
    const value = Number(item[attributes[name]]?.N ?? 0);
    return Number.isSafeInteger(value) ? value : 0;
  };
  return { arrived: count('arrived'), missed: count('missed'), late: count('late') };
}
