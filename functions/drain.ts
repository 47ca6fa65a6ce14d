import type { Context } from 'aws-lambda';
import { type DrainReport, drain } from '../lib/drain.ts';
import { metricLine } from '../lib/log.ts';
import { oncePerProcess } from '../lib/once.ts';
import { clock, log, wireDrain } from '../lib/wire.ts';

const wired = oncePerProcess(() => wireDrain(process.env));

/** Runs every minute, and when a submit finds no drain awake. The event says nothing: what is due says all. */
export async function handler(
  _event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<DrainReport> {
  const { ports, settings, stage } = await wired();
  const report = await drain(ports, settings, () => context.getRemainingTimeInMillis());
  log.info('drain_ended', { ...report });
  const { dueLagMs, steps, lostLeases, orphans, parked, failedExchanges } = report;
  const metrics = {
    DueLagMs: dueLagMs,
    Steps: steps,
    LostLeases: lostLeases,
    Orphans: orphans,
    Parked: parked,
    FailedExchanges: failedExchanges,
  };
  process.stdout.write(`${metricLine(stage, metrics, clock.nowMs())}\n`);
  return report;
}
