import { setTimeout as sleep } from 'node:timers/promises';
import { environmentOf, prepareRecords, type Store, schedule, workerOf } from './contender.ts';
import type { ContenderName } from './contender-names.ts';
import type { IdleFigures } from './figures.ts';
import type { WorkOrder } from './messages.ts';
import { usageOf } from './process-usage.ts';
import { countsOf } from './run-contender.ts';
import { startProcess } from './spawn.ts';
import { type Stage, startBenchRedis, startBridge } from './stage.ts';

export interface IdleRequest {
  contender: ContenderName;
  /** Jobs in the store, all due in an hour. */
  waiting: number;
  /** How long is really looked at. */
  seconds: number;
  drainBundle: string;
}

const tenMinutes = 600;
const hourMs = 3_600_000;
/** Not counted: a worker's start, which for the drain is its first invocation. The minute after it holds the next one. */
const settleMs = 3_000;

/**
 * A worker with nothing to do, each with a Redis of its own, so that all of them can idle at the same time. The packaged
 * drain can't be given another clock: a real minute is counted, and told for ten.
 */
export async function runIdle(
  stage: Stage,
  { contender, waiting, seconds, drainBundle }: IdleRequest,
): Promise<IdleFigures> {
  const redis = await startBenchRedis(stage.hz);
  const bridge = await startBridge(redis.port, stage.bridgeToken);
  try {
    const store: Store = { redis, bridge, bridgeToken: stage.bridgeToken, dynamo: stage.dynamo };
    await prepareRecords(contender, store, waiting);
    const statusUrl = stage.status.url;
    const worker = await startProcess(
      workerOf(contender),
      environmentOf(contender, store, { statusUrl, concurrency: 100, drainBundle }),
    );
    try {
      const due = { jobs: waiting, firstDueAtMs: Date.now() + hourMs, dueStepMs: 0 };
      await schedule(contender, store, due);
      worker.send({ kind: 'work', statusUrl, concurrency: 100, polls: 1, ...due } satisfies WorkOrder);
      await Promise.race([sleep(settleMs), worker.failed]);
      await redis.meter.reset();
      const [cpuBefore, bridgeBefore, dynamoBefore] = [
        usageOf(worker.pid),
        await requestsOf(store),
        await readsOf(stage),
      ];
      await Promise.race([sleep(seconds * 1000), worker.failed]);
      const counts = await redis.meter.read();
      const isOurs = contender === 'pollkeeper';
      const roundTrips = isOurs ? (await requestsOf(store)) - bridgeBefore : counts.roundTrips;
      const cpuSeconds = (usageOf(worker.pid)?.cpuSeconds ?? 0) - (cpuBefore?.cpuSeconds ?? 0);
      const told = (count: number) => Math.round(((count * tenMinutes) / seconds) * 100) / 100;
      return {
        contender,
        waiting,
        seconds,
        redisCommandsPer10Minutes: told(counts.commands),
        redisRoundTripsPer10Minutes: told(roundTrips),
        cpuSecondsPer10Minutes: told(cpuSeconds),
        dynamoReadsPer10Minutes: isOurs ? told((await readsOf(stage)) - dynamoBefore) : null,
      };
    } finally {
      await worker.kill();
    }
  } finally {
    await bridge.kill();
    await redis.close();
  }
}

async function requestsOf(store: Store): Promise<number> {
  return (await countsOf<{ httpRequests: number }>(store.bridge.url, store.bridgeToken)).httpRequests;
}

async function readsOf(stage: Stage): Promise<number> {
  return (await countsOf<{ reads: number }>(stage.dynamo.url)).reads;
}
