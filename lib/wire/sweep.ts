import { type Environment, readRecordConfig } from '../config.ts';
import { shardCount } from '../job-store/job-item.ts';
import type { SweepPorts, SweepSettings } from '../sweep.ts';
import { connectDueSet, connectStore, makeWaker } from './adapters.ts';
import { fillSecrets } from './fill-secrets.ts';
import { clock, log, random } from './process.ts';

export async function wireSweep(
  given: Environment,
): Promise<{ ports: SweepPorts; settings: SweepSettings; stage: string }> {
  const environment = await fillSecrets(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN']);
  const record = readRecordConfig(environment);
  const ports = {
    store: connectStore(record, 4),
    dueSet: connectDueSet(environment, record.stage),
    waker: makeWaker(environment, record),
    clock,
    random,
    log,
  };
  return { ports, settings: { shardCount, pageMs: 10_000, periodMs: 300_000 }, stage: record.stage };
}
