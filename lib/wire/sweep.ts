import { readAccounts } from '../accounts.ts';
import { type Environment, readRecordConfig } from '../config.ts';
import { shardCount } from '../job-store/job-item.ts';
import type { SweepPorts, SweepSettings } from '../sweep.ts';
import { connectAccountView, connectEventQueue, connectQueues, connectTable } from './adapters.ts';
import { fillSecrets } from './fill-secrets.ts';
import { clock, log, random } from './process.ts';

export async function wireSweep(
  given: Environment,
): Promise<{ ports: SweepPorts; settings: SweepSettings; stage: string }> {
  const environment = await fillSecrets(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN']);
  const record = readRecordConfig(environment);
  const { store, pauses, deliveries } = connectTable(record, 4);
  const ports = {
    store,
    pauses,
    deliveries,
    events: connectEventQueue(environment, record),
    view: connectAccountView(environment, record),
    queues: connectQueues(environment, record, readAccounts(environment.ACCOUNTS)),
    clock,
    random,
    log,
  };
  return { ports, settings: { shardCount, pageMs: 10_000, periodMs: 300_000 }, stage: record.stage };
}
