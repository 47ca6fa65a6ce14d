import { type Environment, readRecordConfig } from '../config.ts';
import { shardCount } from '../job-store/job-item.ts';
import type { SweepPorts, SweepSettings } from '../sweep.ts';
import { dueSet, store, waker } from './ports.ts';
import { clock, log, random } from './process.ts';
import { fill } from './secrets.ts';

export async function wireSweep(
  given: Environment,
): Promise<{ ports: SweepPorts; settings: SweepSettings; stage: string }> {
  const environment = await fill(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN']);
  const record = readRecordConfig(environment);
  const ports = {
    store: store(record, 4),
    dueSet: dueSet(environment, record.stage),
    waker: waker(environment, record),
    clock,
    random,
    log,
  };
  return { ports, settings: { shardCount, pageMs: 10_000, periodMs: 300_000 }, stage: record.stage };
}
