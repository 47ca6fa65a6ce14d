import { type Environment, readRecordConfig } from '../config.ts';
import type { DynamoJobStore } from '../job-store/dynamo-job-store.ts';
import type { SubmitPorts } from '../submit.ts';
import { connectDueSet, connectStore, defaultAccount, makeWaker } from './adapters.ts';
import { fillSecrets } from './fill-secrets.ts';
import { clock, log } from './process.ts';

export async function wireApi(
  given: Environment,
): Promise<SubmitPorts & { store: DynamoJobStore; stage: string; account: string }> {
  const environment = await fillSecrets(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN']);
  const record = readRecordConfig(environment);
  return {
    // A caller waits: one repeat is all that fits into the time it is given.
    store: connectStore(record, 2),
    dueSet: connectDueSet(environment, record.stage),
    waker: makeWaker(environment, record),
    clock,
    log,
    stage: record.stage,
    account: defaultAccount,
  };
}
