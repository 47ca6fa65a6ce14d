import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { type CostEntry, type CostTotal, dayEndMs, type Ledger } from '../cost.ts';
import type { Clock } from '../ports.ts';
import { attempt } from './attempt.ts';
import { batchGet } from './batch-get.ts';
import type { Item } from './item-fields.ts';

const keptDays = 400;
const writesAtOnce = 25;

/**
 * An item `cost_<day>_<account>_<owner>` for each owner's total, and `cost_<day>_<account>` for that of all owners. None has
 * an attribute that an index of the table is made of.
 */
export class DynamoLedger implements Ledger {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #clock: Pick<Clock, 'sleep'>;

  constructor(client: DynamoDBClient, table: string, clock: Pick<Clock, 'sleep'>) {
    this.#client = client;
    this.#table = table;
    this.#clock = clock;
  }

  async add(entries: readonly CostEntry[]): Promise<void> {
    const totals = [...summed(entries)];
    const failures: unknown[] = [];
    for (let start = 0; start < totals.length; start += writesAtOnce) {
      const writes = totals.slice(start, start + writesAtOnce).map(([id, total]) => this.#add(id, total));
      for (const write of await Promise.allSettled(writes)) {
        if (write.status === 'rejected') failures.push(write.reason);
      }
    }
    // All others are written first: none is tried again.
    if (failures.length > 0) throw failures[0];
  }

  async read(days: readonly string[], accounts: readonly string[], owner: string | null): Promise<CostTotal[]> {
    const wanted = new Map<string, Pick<CostTotal, 'day' | 'account' | 'owner'>>();
    for (const day of days) {
      for (const account of accounts) wanted.set(itemId(day, account, owner), { day, account, owner });
    }
    const items = await batchGet(this.#client, this.#table, [...wanted.keys()], this.#clock);
    const byId = new Map(items.map((item) => [item.id?.S, item]));
    return [...wanted].flatMap(([id, of]) => {
      const item = byId.get(id);
      return item === undefined ? [] : { ...of, ...amountsOf(item) };
    });
  }

  async #add(id: string, { day, jobs, estimatedMicros, billedMicros }: CostTotal): Promise<void> {
    const command = new UpdateItemCommand({
      TableName: this.#table,
      Key: { id: { S: id } },
      UpdateExpression:
        'ADD job_count :jobs, estimated_micros :estimated, billed_micros :billed SET expires_at = :expires_at',
      ExpressionAttributeValues: {
        ':jobs': { N: String(jobs) },
        ':estimated': { N: String(estimatedMicros) },
        ':billed': { N: String(billedMicros) },
        ':expires_at': { N: String(dayEndMs(day) / 1000 + keptDays * 24 * 3600) },
      },
    });
    await attempt(() => this.#client.send(command));
  }
}

/** What is added to each item. */
function summed(entries: readonly CostEntry[]): Map<string, CostTotal> {
  const totals = new Map<string, CostTotal>();
  for (const entry of entries) {
    for (const owner of [entry.owner, null]) {
      const id = itemId(entry.day, entry.account, owner);
      const sum = totals.get(id) ?? { ...entry, owner, jobs: 0, estimatedMicros: 0, billedMicros: 0 };
      totals.set(id, {
        ...sum,
        jobs: sum.jobs + entry.jobs,
        estimatedMicros: sum.estimatedMicros + entry.estimatedMicros,
        billedMicros: sum.billedMicros + entry.billedMicros,
      });
    }
  }
  return totals;
}

/** Neither a day nor an account has an underscore in it, so that no two are the same. */
function itemId(day: string, account: string, owner: string | null): string {
  return owner === null ? `cost_${day}_${account}` : `cost_${day}_${account}_${owner}`;
}

function amountsOf(item: Item): Pick<CostTotal, 'jobs' | 'estimatedMicros' | 'billedMicros'> {
  const amount = (name: string) => {
    const value = Number(item[name]?.N ?? 0);
    return Number.isSafeInteger(value) ? value : 0;
  };
  return {
    jobs: amount('job_count'),
    estimatedMicros: amount('estimated_micros'),
    billedMicros: amount('billed_micros'),
  };
}
