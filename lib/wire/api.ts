import { type Environment, readRecordConfig } from '../config.ts';
import type { DynamoJobStore } from '../job-store/dynamo-job-store.ts';
import type { SubmitPorts } from '../submit.ts';
import { defaultAccount, dueSet, store, waker } from './ports.ts';
import { clock, log } from './process.ts';
import { fill } from './secrets.ts';

export async function wireApi(
  given: Environment,
): Promise<SubmitPorts & { store: DynamoJobStore; stage: string; account: string }> {
  const environment = await fill(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN']);
  const record = readRecordConfig(environment);
  return {
    // A caller waits: one repeat is all that fits into the time it is given.
    store: store(record, 2),
    dueSet: dueSet(environment, record.stage),
    waker: waker(environment, record),
    clock,
    log,
    stage: record.stage,
    account: defaultAccount,
  };
}
