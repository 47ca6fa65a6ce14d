import { setTimeout as sleep } from 'node:timers/promises';
import { environmentOf, prepareRecords, schedule } from './contender.ts';
import type { StatusPlan, StatusProgress, WorkOrder } from './messages.ts';
import { usageOf } from './process-usage.ts';
import { countsOf } from './run-contender.ts';
import { type BenchProcess, startProcess } from './spawn.ts';
import type { Stage } from './stage.ts';

/** What a drain uses that is awake for next to nothing: most of what few renders cost. */
export interface LightFigures {
  seconds: number;
  hintSeconds: number;
  reads: number;
  redisCommandsPerSecond: number;
  redisRoundTripsPerSecond: number;
  cpuMsPerSecond: number;
  dynamoReads: number;
}

interface LightRequest {
  seconds: number;
  drainBundle: string;
}

const hintSeconds = 5;
const firstReadDeadlineMs = 15_000;

/** The packaged drain with one job that never ends, looked at from its first read on. */
export async function runLight(stage: Stage, { seconds, drainBundle }: LightRequest): Promise<LightFigures> {
  await stage.redis.meter.clear();
  await prepareRecords('pollkeeper', stage, 1);
  const statusUrl = stage.status.url;
  const env = environmentOf('pollkeeper', stage, { statusUrl, concurrency: 100, drainBundle });
  const worker = await startProcess('worker-pollkeeper', env);
  try {
    const due = { jobs: 1, firstDueAtMs: Date.now() + 1_000, dueStepMs: 0 };
    const polls = Number.MAX_SAFE_INTEGER;
    const answerMs = { mean: 50, spread: 20 };
    await stage.status.ask({ kind: 'plan', ...due, hintSeconds, polls, answerMs } satisfies StatusPlan);
    await schedule('pollkeeper', stage, due);
    worker.send({ kind: 'work', statusUrl, concurrency: 100, polls, ...due } satisfies WorkOrder);
    await untilFirstRead(stage, worker);
    await stage.redis.meter.reset();
    const before = await countersOf(stage, worker);
    await Promise.race([sleep(seconds * 1000), worker.failed]);
    return figuresOf(before, await countersOf(stage, worker));
  } finally {
    await worker.kill();
  }
}

async function untilFirstRead(stage: Stage, worker: BenchProcess): Promise<void> {
  for (const endMs = performance.now() + firstReadDeadlineMs; performance.now() < endMs; ) {
    await Promise.race([sleep(50), worker.failed]);
    if ((await stage.status.ask<StatusProgress>({ kind: 'progress' })).reads > 0) return;
  }
  throw new Error(`The drain did not read its one job within ${firstReadDeadlineMs / 1000} s.`);
}

type Counters = Awaited<ReturnType<typeof countersOf>>;

/** The Redis commands are those since the last reset. */
async function countersOf(stage: Stage, worker: BenchProcess) {
  const [redis, bridge, dynamo, status] = await Promise.all([
    stage.redis.meter.read(),
    countsOf<{ httpRequests: number }>(stage.bridge.url, stage.bridgeToken),
    countsOf<{ reads: number }>(stage.dynamo.url),
    stage.status.ask<StatusProgress>({ kind: 'progress' }),
  ]);
  return {
    redisCommands: redis.commands,
    roundTrips: bridge.httpRequests,
    dynamoReads: dynamo.reads,
    reads: status.reads,
    cpuSeconds: usageOf(worker.pid)?.cpuSeconds ?? 0,
    atMs: performance.now(),
  };
}

function figuresOf(before: Counters, after: Counters): LightFigures {
  const seconds = (after.atMs - before.atMs) / 1000;
  const perSecond = (count: number) => Math.round((count / seconds) * 1000) / 1000;
  return {
    seconds: Math.round(seconds * 100) / 100,
    hintSeconds,
    reads: after.reads - before.reads,
    redisCommandsPerSecond: perSecond(after.redisCommands),
    redisRoundTripsPerSecond: perSecond(after.roundTrips - before.roundTrips),
    cpuMsPerSecond: perSecond((after.cpuSeconds - before.cpuSeconds) * 1000),
    dynamoReads: after.dynamoReads - before.dynamoReads,
  };
}
