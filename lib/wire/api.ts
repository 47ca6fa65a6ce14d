import { readAccounts } from '../accounts.ts';
import { type Environment, readRecordConfig } from '../config.ts';
import type { ApiPorts } from '../http/app.ts';
import type { DynamoJobStore } from '../job-store/dynamo-job-store.ts';
import { readPrices } from '../prices.ts';
import { predictedEndMs, renderKind } from '../render-times.ts';
import { readSpendingCaps } from '../spending-cap.ts';
import { connectAccountView, connectQueues, connectTable } from './adapters.ts';
import { fillSecrets } from './fill-secrets.ts';
import { clock, log } from './process.ts';

export async function wireApi(given: Environment): Promise<ApiPorts & { store: DynamoJobStore }> {
  const environment = await fillSecrets(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN']);
  const record = readRecordConfig(environment);
  const accounts = readAccounts(environment.ACCOUNTS);
  // A caller waits: one repeat is all that fits into the time it is given.
  const { store, spend, ledger, renderTimes, pauses } = connectTable(record, 2);
  return {
    store,
    prices: readPrices(environment.PRICES),
    spending: { caps: readSpendingCaps(environment.SPENDING_CAPS), store: spend },
    queues: connectQueues(environment, record, accounts),
    accounts,
    view: connectAccountView(environment, record),
    pauses,
    ledger,
    predictEnd: async (job) => {
      const times = await renderTimes.get(renderKind(job));
      return times === null ? null : predictedEndMs(times);
    },
    clock,
    log,
    stage: record.stage,
  };
}
