import { setTimeout as sleep } from 'node:timers/promises';
import { environmentOf, prepareRecords, schedule, workerOf } from './contender.ts';
import type { ContenderName } from './contender-names.ts';
import type { RunFigures } from './figures.ts';
import { foreignCoresMax, misbehaviourIn } from './judge-run.ts';
import type { StatusPlan, StatusProgress, WorkOrder } from './messages.ts';
import type { PollPlan, ScenarioName } from './plan.ts';
import { machineCpuSeconds, treeCpuSeconds, usageOf } from './process-usage.ts';
import type { WatchReport } from './read-watch.ts';
import type { RedisFigures } from './redis-meter.ts';
import { startProcess } from './spawn.ts';
import type { Stage } from './stage.ts';
import { WorkerGroup, type WorkerUsage } from './worker-group.ts';

export interface RunRequest {
  scenario: ScenarioName;
  contender: ContenderName;
  concurrency: number;
  plan: PollPlan;
  drainBundle: string;
  /** Workers side by side on one store; 1 without it. */
  processes?: number;
  /** More for the worker's environment. */
  env?: Record<string, string>;
  /** Puts what else is to lie in the store there, before anything is measured. */
  fill?: () => Promise<void>;
  /** Called when the work is about to begin. */
  onOrder?: () => void;
  /** Where the worker leaves its CPU profile. */
  profileDir?: string | undefined;
}

/** Time between the order to work and the first due time: every worker is up and waiting by then. */
const leadMs = 3_000;
const lookEveryMs = 100;

/** One contender, one scenario, from an empty store to the last read. */
export async function runContender(stage: Stage, request: RunRequest): Promise<RunFigures> {
  const { contender, concurrency, plan, drainBundle } = request;
  await stage.redis.meter.clear();
  await request.fill?.();
  await prepareRecords(contender, stage, plan.jobs);
  const given = { statusUrl: stage.status.url, concurrency, drainBundle };
  const env = { ...environmentOf(contender, stage, given), ...request.env };
  const start = () =>
    WorkerGroup.start(request.processes ?? 1, () => startProcess(workerOf(contender), env, request.profileDir));
  const workers = await start();
  const firstDueAtMs = Date.now() + leadMs - plan.overdueSeconds * 1000;
  const due = { jobs: plan.jobs, firstDueAtMs, dueStepMs: plan.dueStepMs };
  const { hintSeconds, polls, answerMs } = plan;
  await stage.status.ask({ kind: 'plan', ...due, hintSeconds, polls, answerMs } satisfies StatusPlan);
  await schedule(contender, stage, due);
  await stage.redis.meter.reset();
  const before = await readCounters(stage);
  const order: WorkOrder = { kind: 'work', statusUrl: stage.status.url, concurrency, polls, ...due };
  request.onOrder?.();
  const used = await watchWorkers(stage, request, workers, { start, order });
  const after = await readCounters(stage);
  const { kind: _, ...report } = await stage.status.ask<WatchReport & { kind: string }>({ kind: 'report' });
  return figuresOf(request, report, used, before, after);
}

/** Lets the worker work until all jobs have ended, or nothing happens any more; kills and replaces it as planned. */
async function watchWorkers(
  stage: Stage,
  { plan }: RunRequest,
  first: WorkerGroup,
  { start, order }: { start: () => Promise<WorkerGroup>; order: WorkOrder },
): Promise<WorkerUsage> {
  const used: WorkerUsage = { cpuSeconds: 0, peakBytes: 0 };
  let idleCpuSeconds = first.usage.cpuSeconds;
  let workers = first;
  const stop = async () => {
    const { cpuSeconds, peakBytes } = workers.usage;
    used.cpuSeconds += Math.max(0, cpuSeconds - idleCpuSeconds);
    used.peakBytes = Math.max(used.peakBytes, peakBytes);
    await workers.kill();
  };
  try {
    workers.send(order);
    for (const killAtSeconds of plan.killsAtSeconds) {
      const killAtMs = order.firstDueAtMs + killAtSeconds * 1000;
      await Promise.race([sleep(Math.max(0, killAtMs - Date.now())), mayEnd(workers)]);
      await stop();
      await stage.status.ask({ kind: 'killed' });
      await sleep(Math.max(0, plan.restartAfterSeconds * 1000 - (Date.now() - killAtMs)));
      workers = await start();
      // What it takes to start is part of the price of being killed.
      idleCpuSeconds = 0;
      workers.send(order);
    }
    await untilDone(stage, plan, order.firstDueAtMs, workers);
  } finally {
    await stop();
  }
  return used;
}

async function untilDone(stage: Stage, plan: PollPlan, firstDueAtMs: number, workers: WorkerGroup): Promise<void> {
  const failed = mayEnd(workers);
  for (;;) {
    await Promise.race([sleep(lookEveryMs), failed]);
    const { ended, quietMs } = await stage.status.ask<StatusProgress>({ kind: 'progress' });
    const lastsMs = Date.now() - firstDueAtMs;
    if (ended >= plan.jobs || lastsMs > plan.capSeconds * 1000) break;
    if (lastsMs > 0 && quietMs > plan.quietSeconds * 1000) break;
  }
  // The last writes and settlements are part of the work: until nothing was written for a tick and a half.
  const endsAtMs = Date.now() + settleDeadlineMs;
  let before = -1;
  for (let writes = 0; writes !== before && Date.now() < endsAtMs; ) {
    before = writes;
    await sleep(1_500);
    ({ writes } = await countsOf<{ writes: number }>(stage.dynamo.url));
  }
}

const settleDeadlineMs = 20_000;

/** The bare limit is done when its list is; the others never end by themselves. */
function mayEnd(workers: WorkerGroup): Promise<never> {
  return workers.failed.catch((error: Error) => {
    if (error.message.startsWith('worker-limit')) return new Promise<never>(() => {});
    throw error;
  });
}

interface Counters {
  redis: RedisFigures;
  bridgeRequests: number;
  dynamo: { reads: number; recordWrites: number };
  /** Of the stand-ins for remote services, s. */
  partCpuSeconds: Record<'provider' | 'bridge' | 'dynamo', number>;
  machineCpuSeconds: number;
  ownCpuSeconds: number;
  atMs: number;
}

async function readCounters(stage: Stage): Promise<Counters> {
  const [redis, bridge, dynamo] = await Promise.all([
    stage.redis.meter.read(),
    countsOf<{ httpRequests: number }>(stage.bridge.url, stage.bridgeToken),
    countsOf<{ reads: number; recordWrites: number }>(stage.dynamo.url),
  ]);
  return {
    redis,
    bridgeRequests: bridge.httpRequests,
    dynamo,
    partCpuSeconds: {
      provider: cpuOf(stage.status.pid),
      bridge: cpuOf(stage.bridge.pid),
      dynamo: cpuOf(stage.dynamo.pid),
    },
    machineCpuSeconds: machineCpuSeconds(),
    ownCpuSeconds: treeCpuSeconds(process.pid),
    atMs: performance.now(),
  };
}

function cpuOf(pid: number): number {
  return usageOf(pid)?.cpuSeconds ?? 0;
}

export async function countsOf<T>(url: string, token?: string): Promise<T> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/__counts`, { headers });
  return (await response.json()) as T;
}

function figuresOf(
  request: RunRequest,
  report: WatchReport,
  used: WorkerUsage,
  before: Counters,
  after: Counters,
): RunFigures {
  const { scenario, contender, concurrency, plan } = request;
  const hasStore = contender !== 'limit' && contender !== 'floor';
  const isOurs = contender === 'pollkeeper';
  const perPoll = (count: number) => (report.reads === 0 ? 0 : count / report.reads);
  const seconds = (after.atMs - before.atMs) / 1000;
  const share = (cpuSeconds: number) => rounded(cpuSeconds / Math.max(0.001, report.lastsSeconds), 2);
  const foreign = after.machineCpuSeconds - before.machineCpuSeconds - (after.ownCpuSeconds - before.ownCpuSeconds);
  const roundTrips = isOurs ? after.bridgeRequests - before.bridgeRequests : after.redis.roundTrips;
  const redisCpuSeconds = after.redis.cpuSeconds - before.redis.cpuSeconds;
  const foreignCores = rounded(Math.max(0, foreign / seconds), 2);
  const figures = {
    ...report,
    scenario,
    contender,
    concurrency,
    cpuSecondsPer1000Polls: rounded(perPoll(used.cpuSeconds) * 1000, 3),
    peakMegabytes: rounded(used.peakBytes / 2 ** 20, 1),
    redisCommandsPerPoll: hasStore ? rounded(perPoll(after.redis.commands), 4) : null,
    redisRoundTripsPerPoll: hasStore ? rounded(perPoll(roundTrips), 4) : null,
    redisCpuSecondsPer1000Polls: hasStore ? rounded(perPoll(redisCpuSeconds) * 1000, 3) : null,
    busyCores: {
      worker: share(used.cpuSeconds),
      redis: share(redisCpuSeconds),
      provider: share(after.partCpuSeconds.provider - before.partCpuSeconds.provider),
      bridge: share(after.partCpuSeconds.bridge - before.partCpuSeconds.bridge),
      dynamo: share(after.partCpuSeconds.dynamo - before.partCpuSeconds.dynamo),
    },
    dynamoReadsPerJob: isOurs ? rounded((after.dynamo.reads - before.dynamo.reads) / plan.jobs, 3) : null,
    dynamoWritesPerJob: isOurs
      ? rounded((after.dynamo.recordWrites - before.dynamo.recordWrites) / plan.jobs, 3)
      : null,
    // Stopped at the cap, it was slow; with nothing going on any more, they are lost.
    lost: report.lastsSeconds < plan.capSeconds - plan.quietSeconds ? report.unfinished : 0,
    foreignCores,
    noisy: foreignCores > foreignCoresMax,
  };
  return { ...figures, misbehaved: misbehaviourIn(figures, plan) };
}

function rounded(value: number, places: number): number {
  return Math.round(value * 10 ** places) / 10 ** places;
}
