import { setTimeout as sleep } from 'node:timers/promises';
import { environmentOf } from './contender.ts';
import type { LifeFigures } from './figures.ts';
import type { StatusPlan, StatusProgress, WorkOrder } from './messages.ts';
import type { WatchReport } from './read-watch.ts';
import { countsOf } from './run-contender.ts';
import { startProcess } from './spawn.ts';
import type { Stage } from './stage.ts';

interface LifeRequest {
  jobs: number;
  drainBundle: string;
  apiBundle: string;
}

const polls = 3;
const deadlineMs = 60_000;

/** Submits jobs through the packaged API and has the packaged drain send and poll them to their end; counts the database calls. */
export async function runLife(stage: Stage, { jobs, drainBundle, apiBundle }: LifeRequest): Promise<LifeFigures> {
  await stage.redis.meter.clear();
  const firstDueAtMs = Date.now();
  const statusUrl = stage.status.url;
  const plan: StatusPlan = {
    ...{ kind: 'plan', jobs: 0, polls, hintSeconds: 1, firstDueAtMs, dueStepMs: 0 },
    answerMs: { mean: 50, spread: 20 },
  };
  await stage.status.ask(plan);
  const env = environmentOf('pollkeeper', stage, { statusUrl, concurrency: 100, drainBundle });
  const before = await countsOf<{ reads: number; recordWrites: number }>(stage.dynamo.url);
  await stage.redis.meter.reset();
  const submitter = await startProcess('submit-jobs', { ...env, API_BUNDLE: apiBundle, JOBS: String(jobs) });
  await submitter.kill();
  const submitting = await stage.redis.meter.read();
  const worker = await startProcess('worker-pollkeeper', env);
  try {
    const order: WorkOrder = { kind: 'work', statusUrl, concurrency: 100, jobs, polls, firstDueAtMs, dueStepMs: 0 };
    worker.send(order);
    for (const endMs = performance.now() + deadlineMs; performance.now() < endMs; ) {
      await Promise.race([sleep(100), worker.failed]);
      const { ended } = await stage.status.ask<StatusProgress>({ kind: 'progress' });
      if (ended >= jobs) break;
    }
    await sleep(1_500);
  } finally {
    await worker.kill();
  }
  const after = await countsOf<{ reads: number; recordWrites: number }>(stage.dynamo.url);
  const report = await stage.status.ask<WatchReport>({ kind: 'report' });
  const perJob = (count: number) => Math.round((count / jobs) * 1000) / 1000;
  return {
    jobs,
    ended: report.ended,
    pollsPerJob: perJob(report.reads),
    dynamoWritesPerJob: perJob(after.recordWrites - before.recordWrites),
    dynamoReadsPerJob: perJob(after.reads - before.reads),
    redisCommandsPerSubmit: perJob(submitting.commands),
  };
}
