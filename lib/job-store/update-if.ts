import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { attempt } from './attempt.ts';
import type { Item } from './item-fields.ts';

type Update = Omit<UpdateItemCommandInput, 'ReturnValues'> & { ConditionExpression: string };

/** The item as it is after the update; null when the condition did not hold. Rejects with a JobStoreError. */
export function updateIf(client: DynamoDBClient, update: Update): Promise<Item | null> {
  const command = new UpdateItemCommand({ ...update, ReturnValues: 'ALL_NEW' });
  return attempt(async () => {
    try {
      return (await client.send(command)).Attributes ?? {};
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return null;
      throw error;
    }
  });
}
