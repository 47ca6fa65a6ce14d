import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { dayEndMs } from '../cost.ts';
import { JobStoreError } from '../errors.ts';
import type { Reservation, ReserveResult, SpendStore } from '../spending-cap.ts';
import { type Item, number } from './item-fields.ts';
import { unlessConditionFails } from './unless-condition-fails.ts';

/** Longer than a submit can take, its repeats by the SDK included. */
const turnMs = 30_000;
const keptDays = 7;
/** A try fails for something that another call has just written: three are normal at the start of a turn. */
const triesMax = 8;

/** The amount fits below the cap, and was not added before. */
const fits = 'spent_micros <= :room AND NOT contains(recent_entries, :entry) AND NOT contains(older_entries, :entry)';

/**
 * One item `spend_<day>_<owner>`: what is reserved, and which jobs were the last, those of this turn and of the turn with
 * jobs before it. By them a reservation that is made twice counts once, and the item stays small however many jobs a day
 * has. It has no attribute that an index of the table is made of.
 */
export class DynamoSpend implements SpendStore {
  readonly #client: DynamoDBClient;
  readonly #table: string;

  constructor(client: DynamoDBClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async reserve(reservation: Reservation, capMicros: number): Promise<ReserveResult> {
    const entry = entryOf(reservation);
    const turn = Math.floor(reservation.atMs / turnMs);
    const room = { ':room': number(capMicros - reservation.micros), ':entry': { S: entry } };
    const adding = { ':micros': number(reservation.micros), ':entries': { SS: [entry] }, ':turn': number(turn) };
    for (let tries = 0; tries < triesMax; tries++) {
      const stored = await this.#update(reservation, {
        ConditionExpression: `turn_number >= :turn AND ${fits}`,
        UpdateExpression: 'ADD spent_micros :micros, recent_entries :entries',
        ExpressionAttributeValues: { ...room, ...adding },
      });
      if (stored === null) return { kind: 'reserved' };
      if (has(stored, entry)) return { kind: 'repeated' };
      const spentMicros = Number(stored.spent_micros?.N ?? 0);
      if (spentMicros + reservation.micros > capMicros) return { kind: 'refused', spentMicros };
      const seen = stored.turn_number?.N;
      if (seen !== undefined && Number(seen) >= turn) continue;
      const begun = await this.#update(reservation, {
        ConditionExpression:
          seen === undefined ? 'attribute_not_exists(turn_number)' : `turn_number = :seen AND ${fits}`,
        UpdateExpression:
          'SET spent_micros = if_not_exists(spent_micros, :zero) + :micros, turn_number = :turn, expires_at = :expires_at, ' +
          'older_entries = if_not_exists(recent_entries, :entries), recent_entries = :entries',
        ExpressionAttributeValues: {
          ...adding,
          ...(seen === undefined ? {} : { ...room, ':seen': { N: seen } }),
          ':zero': number(0),
          ':expires_at': number(dayEndMs(reservation.day) / 1000 + keptDays * 24 * 3600),
        },
      });
      if (begun === null) return { kind: 'reserved' };
    }
    throw new JobStoreError('Too many submits of this owner came at once to count what they spend.');
  }

  async release(reservation: Reservation): Promise<void> {
    const entry = entryOf(reservation);
    // Where it is no longer among the last, it stays reserved: a second release would take from another job's money.
    await this.#update(reservation, {
      ConditionExpression: 'contains(recent_entries, :entry) OR contains(older_entries, :entry)',
      UpdateExpression: 'ADD spent_micros :back DELETE recent_entries :entries, older_entries :entries',
      ExpressionAttributeValues: {
        ':back': number(-reservation.micros),
        ':entry': { S: entry },
        ':entries': { SS: [entry] },
      },
    });
  }

  /** Null when the write went through; the stored item, empty where there is none, when its condition failed. */
  #update(
    { day, owner }: Reservation,
    update: Pick<UpdateItemCommand['input'], 'ConditionExpression' | 'UpdateExpression' | 'ExpressionAttributeValues'>,
  ): Promise<Item | null> {
    const at = { TableName: this.#table, Key: { id: { S: `spend_${day}_${owner}` } } };
    const command = new UpdateItemCommand({ ...at, ...update, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
    return unlessConditionFails(this.#client, at, () => this.#client.send(command));
  }
}

/** Of the id, itself a digest, enough to tell a day's jobs apart. */
function entryOf({ jobId, micros }: Reservation): string {
  return `${jobId.replace(/^job_/, '').slice(0, 16)}:${micros.toString(36)}`;
}

function has({ recent_entries, older_entries }: Item, entry: string): boolean {
  return [recent_entries, older_entries].some((entries) => entries?.SS?.includes(entry) === true);
}
