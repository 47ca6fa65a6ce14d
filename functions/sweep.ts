import type { Context } from 'aws-lambda';
import { metricLine } from '../lib/log.ts';
import { oncePerProcess } from '../lib/once.ts';
import { type SweepReport, sweep } from '../lib/sweep.ts';
import { clock, log } from '../lib/wire/process.ts';
import { wireSweep } from '../lib/wire/sweep.ts';

const wired = oncePerProcess(() => wireSweep(process.env));

/** Runs every five minutes: puts back what a due set has lost. */
export async function handler(
  _event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<SweepReport> {
  const { ports, settings, stage } = await wired();
  const report = await sweep(ports, settings, () => context.getRemainingTimeInMillis());
  log.info('sweep_ended', { ...report });
  const metrics = {
    ActiveJobs: report.active,
    RestoredJobs: report.restored,
    SweepIncomplete: report.complete ? 0 : 1,
  };
  process.stdout.write(`${metricLine(stage, metrics, clock.nowMs())}\n`);
  return report;
}
