import { dueSetKeys } from '../../lib/due-set/keys.ts';
import type { SweepReport } from '../../lib/sweep.ts';
import { benchAccount, benchStage } from './bench-names.ts';
import { environmentOf } from './contender.ts';
import { jobIdOf } from './job-names.ts';
import { usageOf } from './process-usage.ts';
import { countsOf } from './run-contender.ts';
import { type BenchProcess, startProcess } from './spawn.ts';
import type { Stage } from './stage.ts';

export interface SweepFigures {
  complete: boolean;
  active: number;
  restored: number;
  seconds: number;
  peakMegabytes: number;
  /** Index entries read, and the calls that read them: an index page is billed by its size. */
  indexReads: number;
  indexPages: number;
  recordReads: number;
  redisCommands: number;
  /** What stood in for DynamoDB. */
  store: string;
}

interface Counts {
  reads: number;
  indexReads: number;
  indexPages: number;
}

/** What serverless.yml gives the sweep. */
const timeoutMs = 120_000;

/** Runs the packaged sweep over so many active jobs: once with all of them in the due set, once with an empty one. */
export async function measureSweep(
  stage: Stage,
  sweepBundle: string,
  jobs: number,
): Promise<{ sweep: SweepFigures; rebuild: SweepFigures }> {
  const records = await startProcess('dynamo-memory', { JOBS: String(jobs) });
  try {
    await stage.redis.meter.clear();
    const rebuild = await sweepOnce(stage, records, sweepBundle);
    await fillWithJobs(stage, jobs);
    const sweep = await sweepOnce(stage, records, sweepBundle);
    return { sweep, rebuild };
  } finally {
    await records.kill();
  }
}

async function sweepOnce(stage: Stage, records: BenchProcess, sweepBundle: string): Promise<SweepFigures> {
  const given = { statusUrl: stage.status.url, concurrency: 100, drainBundle: '' };
  const worker = await startProcess('sweep-once', {
    ...environmentOf('pollkeeper', { ...stage, dynamo: records }, given),
    SWEEP_BUNDLE: sweepBundle,
    TIMEOUT_MS: String(timeoutMs),
  });
  try {
    await stage.redis.meter.reset();
    const before = await countsOf<Counts>(records.url);
    const report = await worker.ask<SweepReport & { milliseconds: number }>({ kind: 'work' });
    const after = await countsOf<Counts>(records.url);
    const { commands } = await stage.redis.meter.read();
    return {
      complete: report.complete,
      active: report.active,
      restored: report.restored,
      seconds: Math.round(report.milliseconds / 10) / 100,
      peakMegabytes: Math.round(((usageOf(worker.pid)?.peakBytes ?? 0) / 2 ** 20) * 10) / 10,
      indexReads: after.indexReads - before.indexReads,
      indexPages: after.indexPages - before.indexPages,
      recordReads: after.reads - before.reads,
      redisCommands: commands,
      store: 'a stand-in for DynamoDB in memory, since dynalite takes minutes to hold them',
    };
  } finally {
    await worker.kill();
  }
}

async function fillWithJobs(stage: Stage, jobs: number): Promise<void> {
  await stage.redis.meter.clear();
  const { due } = dueSetKeys(benchStage, benchAccount);
  const dueAtMs = String(Date.now() + 3_600_000);
  for (let start = 0; start < jobs; start += 2_000) {
    const pairs: string[] = [];
    for (let job = start; job < Math.min(jobs, start + 2_000); job++) pairs.push(dueAtMs, jobIdOf(job));
    await stage.redis.meter.command('ZADD', due, ...pairs);
  }
}
