import { readAccounts } from '../accounts.ts';
import { type Environment, readRecordConfig } from '../config.ts';
import { readHookConfig, wantedHookSecrets } from '../hooks/hook-config.ts';
import type { ApiPorts } from '../http/app.ts';
import type { DynamoJobStore } from '../job-store/dynamo-job-store.ts';
import { readPrices } from '../prices.ts';
import { predictedEndMs, renderKind } from '../render-times.ts';
import { readSpendingCaps } from '../spending-cap.ts';
import {
  connectAccountView,
  connectEventQueue,
  connectQueues,
  connectRequestLimits,
  connectTable,
} from './adapters.ts';
import { fillSecrets } from './fill-secrets.ts';
import { connectNews } from './news.ts';
import { clock, log, newId } from './process.ts';
import { connectWebhooks } from './webhooks.ts';

export async function wireApi(given: Environment): Promise<ApiPorts & { store: DynamoJobStore }> {
  const accounts = readAccounts(given.ACCOUNTS);
  const hookSecrets = wantedHookSecrets(given, accounts);
  const environment = await fillSecrets(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN', ...hookSecrets]);
  const record = readRecordConfig(environment);
  const hooks = readHookConfig(environment, accounts);
  // A caller waits: one repeat is all that fits into the time it is given.
  const { store, spend, ledger, renderTimes, pauses, hookCounts, ...tables } = connectTable(record, 2);
  const { endpoints, deliveries, batches } = tables;
  const eventQueue = connectEventQueue(environment, record);
  return {
    store,
    prices: readPrices(environment.PRICES),
    spending: { caps: readSpendingCaps(environment.SPENDING_CAPS), store: spend },
    queues: connectQueues(environment, record, accounts),
    accounts,
    view: connectAccountView(environment, record),
    pauses,
    ledger,
    ...{ endpoints, deliveries, batches, eventQueue },
    news: connectNews(environment, endpoints, eventQueue),
    ...connectWebhooks(environment, endpoints),
    ...(hooks === null ? {} : { hooks: { secrets: hooks.secrets, counts: hookCounts } }),
    predictEnd: async (job) => {
      const times = await renderTimes.get(renderKind(job));
      return times === null ? null : predictedEndMs(times);
    },
    clock,
    log,
    newId,
    ...connectRequestLimits(environment, record),
    stage: record.stage,
  };
}
