import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { JobStoreError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { noRenderTimes, type RenderSamples, type RenderTimes, type RenderTimesStore, turned } from '../render-times.ts';
import { attempt } from './attempt.ts';
import { type Item, number } from './item-fields.ts';
import { addition, type Change, expressionOf, replacement, timesOf } from './times-item.ts';
import { updateIf } from './update-if.ts';

/** After the last write. */
const keptMs = 60 * 24 * 3_600_000;
/** An item past its time is emptied by one, and added to by the next. */
const triesMax = 3;

/**
 * An item `times_<kind>` for each kind of render. `write_count` grows by one with every write, so that a turn of the
 * generations is carried out on exactly what it was decided on.
 */
export class DynamoRenderTimes implements RenderTimesStore {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #clock: Pick<Clock, 'nowMs'>;

  constructor(client: DynamoDBClient, table: string, clock: Pick<Clock, 'nowMs'>) {
    this.#client = client;
    this.#table = table;
    this.#clock = clock;
  }

  async get(kind: string): Promise<RenderTimes | null> {
    // What is a little old is as good here, at half the price.
    const command = new GetItemCommand({ TableName: this.#table, Key: keyOf(kind) });
    const { Item: item } = await attempt(() => this.#client.send(command));
    const isGone = item === undefined || Number(item.expires_at?.N ?? 0) <= this.#nowSec();
    return isGone ? null : timesOf(item);
  }

  async add(kind: string, samples: RenderSamples): Promise<void> {
    const now = { ':now_sec': number(this.#nowSec()) };
    for (let tries = 1; tries <= triesMax; tries++) {
      const isLive = 'attribute_not_exists(id) OR expires_at > :now_sec';
      const item = await this.#update(kind, addition(samples), isLive, now);
      if (item !== null) return this.#turn(kind, item);
      // Past its time, though not deleted yet: for every reader it is gone.
      await this.#update(kind, replacement(noRenderTimes), 'expires_at <= :now_sec', now);
    }
    throw new JobStoreError('An item of render times past its time could not be begun anew.');
  }

  /** Whoever's write came last before the turn carries it out; has another come since, that one's writer does. */
  async #turn(kind: string, item: Item): Promise<void> {
    const next = turned(timesOf(item));
    if (next === null) return;
    const decidedOn = { ':decided_on': item.write_count ?? number(0) };
    await this.#update(kind, replacement(next), 'write_count = :decided_on', decidedOn);
  }

  /** The item as it is after the write; null when the condition did not hold. */
  #update(kind: string, change: Change, condition: string, conditionValues: Item): Promise<Item | null> {
    const { add, set } = change;
    const { expression, values } = expressionOf({
      ...change,
      add: { ...add, write_count: 1 },
      set: { ...set, expires_at: number(this.#nowSec() + keptMs / 1000) },
    });
    return updateIf(this.#client, {
      TableName: this.#table,
      Key: keyOf(kind),
      UpdateExpression: expression,
      ConditionExpression: condition,
      ExpressionAttributeValues: { ...values, ...conditionValues },
    });
  }

  #nowSec(): number {
    return Math.floor(this.#clock.nowMs() / 1000);
  }
}

function keyOf(kind: string): Item {
  return { id: { S: `times_${kind}` } };
}
