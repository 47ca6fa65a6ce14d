import { Queue } from 'bullmq';
import { dueSetKeys } from '../../lib/due-set/keys.ts';
import { benchAccount, benchRegion, benchStage, benchTable } from './bench-names.ts';
import type { ProcessName } from './bundle-processes.ts';
import type { ContenderName } from './contender-names.ts';
import { writeRunningJobs } from './dynamo-records.ts';
import { jobIdOf, providerIdOf } from './job-names.ts';
import { bullJobOptions, bullQueue, zremLoopKey } from './peer-settings.ts';
import type { BenchRedis, Stage } from './stage.ts';

/** The jobs of a run and when each is due first (ms since 1970): `firstDueAtMs + n × dueStepMs`. */
export interface DueJobs {
  jobs: number;
  firstDueAtMs: number;
  dueStepMs: number;
}

export type Store = Pick<Stage, 'bridge' | 'bridgeToken' | 'dynamo'> & { redis: BenchRedis };

export function workerOf(name: ContenderName): ProcessName {
  return `worker-${name}`;
}

export function environmentOf(
  name: ContenderName,
  store: Store,
  given: { statusUrl: string; concurrency: number; drainBundle: string },
): Record<string, string> {
  const shared = {
    REDIS_PORT: String(store.redis.port),
    STATUS_URL: given.statusUrl,
    CONCURRENCY: String(given.concurrency),
  };
  if (name !== 'pollkeeper') return shared;
  return {
    DRAIN_BUNDLE: given.drainBundle,
    STAGE: benchStage,
    TABLE_NAME: benchTable,
    UPSTASH_REDIS_REST_URL: store.bridge.url,
    UPSTASH_REDIS_REST_TOKEN: store.bridgeToken,
    UPSTASH_DISABLE_TELEMETRY: '1',
    SUME_API_BASE_URL: given.statusUrl,
    SUME_API_KEY: 'bench',
    DYNAMODB_ENDPOINT: store.dynamo.url,
    DRAIN_CONCURRENCY: String(given.concurrency),
    AWS_REGION: benchRegion,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
}

/** Takes as long as it takes, before due times are settled: the records that the drain will read. */
export async function prepareRecords(name: ContenderName, store: Store, jobs: number): Promise<void> {
  if (name === 'pollkeeper') await writeRunningJobs(store.dynamo.url, jobs);
}

/** Puts the jobs into the contender's own store. Quick: the first is due in seconds. */
export async function schedule(name: ContenderName, store: Store, due: DueJobs): Promise<void> {
  const dueAtMs = (job: number) => Math.ceil(due.firstDueAtMs + job * due.dueStepMs);
  const list = Array.from({ length: due.jobs }, (_, job) => job);
  if (name === 'bullmq') return scheduleBullJobs(store.redis.port, list, dueAtMs);
  if (name !== 'zrem-loop' && name !== 'pollkeeper') return;
  const key = name === 'zrem-loop' ? zremLoopKey : dueSetKeys(benchStage, benchAccount).due;
  const idOf = name === 'zrem-loop' ? providerIdOf : jobIdOf;
  await store.redis.meter.pipeline(list.map((job) => ['ZADD', key, String(dueAtMs(job)), idOf(job)]));
}

async function scheduleBullJobs(
  port: number,
  list: readonly number[],
  dueAtMs: (job: number) => number,
): Promise<void> {
  const queue = new Queue(bullQueue, { connection: { host: '127.0.0.1', port } });
  // The default event stream keeps 10,000 entries; fewer cost it less.
  await queue.waitUntilReady();
  for (let start = 0; start < list.length; start += 500) {
    const timestamp = Date.now();
    await queue.addBulk(
      list.slice(start, start + 500).map((job) => ({
        name: 'poll',
        data: { providerId: providerIdOf(job) },
        opts: { ...bullJobOptions, jobId: jobIdOf(job), timestamp, delay: Math.max(1, dueAtMs(job) - timestamp) },
      })),
    );
  }
  await queue.close();
}
