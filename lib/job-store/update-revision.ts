import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { Item } from './item-fields.ts';
import { unlessConditionFails } from './unless-condition-fails.ts';

/**
 * Writes the attributes of the item at `at` if its revision is still `expected`; `set` holds the next one. True when the item
 * is now what it was meant to be, also when an earlier try did that and its reply was lost. Rejects with a JobStoreError.
 */
export async function updateRevision(
  client: DynamoDBClient,
  at: { TableName: string; Key: Item },
  expected: number,
  { set, remove }: { set: Item; remove: readonly string[] },
): Promise<boolean> {
  const attributes = [...Object.keys(set), ...remove];
  const command = new UpdateItemCommand({
    ...at,
    ConditionExpression: '#revision = :expected',
    UpdateExpression: updateExpression(Object.keys(set), remove),
    ExpressionAttributeNames: Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(Object.entries(set).map(([name, value]) => [`:${name}`, value])),
      ':expected': { N: String(expected) },
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  const stored = await unlessConditionFails(client, at, () => client.send(command));
  return stored === null || holdsAll(stored, set);
}

function updateExpression(set: readonly string[], remove: readonly string[]): string {
  const removal = remove.length === 0 ? '' : ` REMOVE ${remove.map((name) => `#${name}`).join(', ')}`;
  return `SET ${set.map((name) => `#${name} = :${name}`).join(', ')}${removal}`;
}

/** True when the stored item already is what an update meant to write: its first reply was lost, not the race. */
function holdsAll(stored: Item, wanted: Item): boolean {
  return Object.entries(wanted).every(([name, value]) => stored[name]?.S === value.S && stored[name]?.N === value.N);
}
