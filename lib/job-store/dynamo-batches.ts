import { DeleteItemCommand, type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { Batch } from '../batch.ts';
import { JobStoreError } from '../errors.ts';
import type { BatchStore } from '../event-ports.ts';
import { batchIdFor } from '../identify.ts';
import { type JobState, jobStates } from '../job.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../ports.ts';
import { activeAttribute, batchMapping, expiry } from './batch-item.ts';
import { Documents } from './documents.ts';
import { type Item, number } from './item-fields.ts';
import { idOf, queryByBatch } from './query-index.ts';
import { unlessConditionFails } from './unless-condition-fails.ts';

/** A try fails for what another call has just written. */
const triesMax = 8;

type Touch = Parameters<BatchStore['touch']>[0];

export class DynamoBatches implements BatchStore {
  readonly #documents: Documents<Batch>;
  readonly #clock: Pick<Clock, 'nowMs'>;

  constructor(client: DynamoDBClient, table: string, clock: Pick<Clock, 'nowMs' | 'sleep'>, log: Log) {
    this.#clock = clock;
    this.#documents = new Documents(client, table, clock, log, batchMapping);
  }

  async touch(touch: Touch): Promise<'open' | 'completed'> {
    let { atMs } = touch;
    for (let tries = 0; tries < triesMax; tries++) {
      const stored = await this.#touch({ ...touch, atMs });
      if (stored === null) return 'open';
      if (this.#documents.isExpired(stored)) await this.#remove(stored);
      else if (stored.completed_at_ms !== undefined) return 'completed';
      // By a clock ahead of ours, which is kept: the later one counts.
      else atMs = Math.max(atMs, Number(stored.touched_at_ms?.N ?? 0));
    }
    throw new JobStoreError('Too many calls touched this batch at once.');
  }

  get(id: string): Promise<Batch | null> {
    return this.#documents.get(id);
  }

  async update(batch: Batch): Promise<{ kind: 'updated'; batch: Batch } | { kind: 'stale' }> {
    const updated = await this.#documents.update(batch);
    return updated === null ? { kind: 'stale' } : { kind: 'updated', batch: updated };
  }

  async jobs(id: string): Promise<{ id: string; state: JobState }[]> {
    const { client, table } = this.#documents;
    const jobs: { id: string; state: JobState }[] = [];
    let after: string | undefined;
    do {
      const page = await queryByBatch(client, table, id, { after });
      jobs.push(...page.items.map((item) => ({ id: idOf(item), state: stateOf(item) })));
      after = page.next ?? undefined;
    } while (after !== undefined);
    return jobs;
  }

  /** Null when it was noted; else the item as it is, empty where there is none any more. */
  #touch({ owner, name, webhookUrl, atMs }: Touch): Promise<Item | null> {
    const at = this.#documents.at(batchIdFor(owner, name));
    const once = {
      belongs_to: { S: owner },
      name: { S: name },
      created_at_ms: number(atMs),
      ...(webhookUrl === undefined ? {} : { webhook_url: { S: webhookUrl } }),
    };
    const always = {
      touched_at_ms: number(atMs),
      expires_at: expiry({ touchedAtMs: atMs }),
      active: activeAttribute(at.Key.id?.S ?? ''),
    };
    const names = [...Object.keys(once), ...Object.keys(always), 'revision', 'completed_at_ms'];
    const sets = [
      ...Object.keys(once).map((field) => `#${field} = if_not_exists(#${field}, :${field})`),
      ...Object.keys(always).map((field) => `#${field} = :${field}`),
      '#revision = if_not_exists(#revision, :zero) + :one',
    ];
    const command = new UpdateItemCommand({
      ...at,
      ConditionExpression:
        'attribute_not_exists(#completed_at_ms) AND (attribute_not_exists(#touched_at_ms) OR ' +
        '(#touched_at_ms <= :touched_at_ms AND #expires_at > :now_sec))',
      UpdateExpression: `SET ${sets.join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(names.map((field) => [`#${field}`, field])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(Object.entries({ ...once, ...always }).map(([field, value]) => [`:${field}`, value])),
        ...{ ':zero': number(0), ':one': number(1), ':now_sec': number(Math.floor(this.#clock.nowMs() / 1000)) },
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const { client } = this.#documents;
    return unlessConditionFails(client, at, () => client.send(command));
  }

  /** One whose time is over, and which DynamoDB has not removed yet; not what another call has put in its place. */
  async #remove(stored: Item): Promise<void> {
    const at = this.#documents.at(idOf(stored));
    const command = new DeleteItemCommand({
      ...at,
      ConditionExpression: 'expires_at = :expires_at',
      ExpressionAttributeValues: { ':expires_at': stored.expires_at ?? number(0) },
    });
    const { client } = this.#documents;
    await unlessConditionFails(client, at, () => client.send(command));
  }
}

/** One that is unknown here counts as open: its record is looked at. */
function stateOf(item: Item): JobState {
  return jobStates.find((state) => state === item.state?.S) ?? 'waiting';
}
