import { JobStoreError, messageOf } from '../errors.ts';
import { inTime } from './in-time.ts';

/** One call to DynamoDB; whatever goes wrong with it is a JobStoreError. */
export async function attempt<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await inTime(call);
  } catch (error) {
    throw new JobStoreError(messageOf(error));
  }
}
