import { ConditionalCheckFailedException, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { JobStoreError, messageOf } from '../errors.ts';
import { attempt } from './attempt.ts';
import { inTime } from './in-time.ts';
import type { Item } from './item-fields.ts';

/**
 * Null when the write of the one item at `at` went through; the stored item, empty where there is none, when its condition
 * failed. The write asks for `ALL_OLD` on a failed condition, so that this takes one call. Rejects with a JobStoreError.
 */
export async function unlessConditionFails(
  client: DynamoDBClient,
  at: { TableName: string; Key: Item },
  write: () => Promise<unknown>,
): Promise<Item | null> {
  try {
    await inTime(write);
    return null;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw new JobStoreError(messageOf(error));
    if (error.Item !== undefined) return error.Item;
    // Emulators do not send the item along.
    return (await attempt(() => client.send(new GetItemCommand({ ...at, ConsistentRead: true })))).Item ?? {};
  }
}
