import { once } from 'node:events';
import type { DrainReport } from '../../lib/drain-report.ts';
import { environmentOf } from './contender.ts';
import type { RunFigures } from './figures.ts';
import { startInvokeEndpoint } from './invoke-endpoint.ts';
import type { PollPlan } from './plan.ts';
import { usageOf } from './process-usage.ts';
import { runContender } from './run-contender.ts';
import { type BenchProcess, startProcess } from './spawn.ts';
import type { Stage } from './stage.ts';

/** One helper; times in s after the drain was let go. */
interface HelperFigures {
  event: string;
  askedAtSeconds: number;
  /** Null for one that was still there at the end. */
  leftAtSeconds: number | null;
  /** As it reported: `calm` when nothing was left to help with. */
  ended: DrainReport['ended'] | 'stayed';
  steps: number;
  cpuSeconds: number;
}

export interface LateDrainFigures {
  /** Of the whole run; the processor time is that of the drain which asked. */
  run: RunFigures;
  helpers: HelperFigures[];
}

export interface LateDrainRequest {
  lanes: number;
  plan: PollPlan;
  drainBundle: string;
}

/** A helper leaves by itself as soon as nothing is due any more; after the run it is given this long. */
const leaveDeadlineMs = 15_000;

/**
 * One drain that begins too late, with more due than it can read. It asks for helpers as it does on Lambda, by an
 * asynchronous invoke of itself; each event starts one more process here.
 */
export async function runLateDrain(
  stage: Stage,
  { lanes, plan, drainBundle }: LateDrainRequest,
): Promise<LateDrainFigures> {
  const env = environmentOf('pollkeeper', stage, { statusUrl: stage.status.url, concurrency: lanes, drainBundle });
  const helpers: Promise<HelperFigures>[] = [];
  const over = new AbortController();
  const letGo = { atMs: Number.NaN };
  const seconds = () => Math.round((performance.now() - letGo.atMs) / 10) / 100;
  const endpoint = await startInvokeEndpoint((event) => {
    const helper = runHelper(() => startProcess('drain-once', { ...env, EVENT: event }), { event, seconds, over });
    // One that can't be started is reported when all are awaited.
    helper.catch(() => {});
    helpers.push(helper);
  });
  try {
    const run = await runContender(stage, {
      ...{ scenario: 'fanout', contender: 'pollkeeper', concurrency: lanes, plan, drainBundle },
      env: { LAMBDA_ENDPOINT: endpoint.url },
      onOrder: () => {
        letGo.atMs = performance.now();
      },
    });
    const late = setTimeout(() => over.abort(), leaveDeadlineMs);
    const left = await Promise.all(helpers);
    clearTimeout(late);
    return { run, helpers: left };
  } finally {
    endpoint.close();
    over.abort();
    await Promise.allSettled(helpers);
  }
}

async function runHelper(
  start: () => Promise<BenchProcess>,
  { event, seconds, over }: { event: string; seconds: () => number; over: AbortController },
): Promise<HelperFigures> {
  const askedAtSeconds = seconds();
  const helper = await start();
  try {
    const tooLate = over.signal.aborted ? null : once(over.signal, 'abort').then(() => null);
    const report = await Promise.race([helper.ask<DrainReport>({ kind: 'work' }), tooLate]);
    const { cpuSeconds = 0 } = usageOf(helper.pid) ?? {};
    const part = { event, askedAtSeconds, cpuSeconds };
    if (report === null) return { ...part, leftAtSeconds: null, ended: 'stayed', steps: 0 };
    return { ...part, leftAtSeconds: seconds(), ended: report.ended, steps: report.steps };
  } finally {
    await helper.kill();
  }
}
