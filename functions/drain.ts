import type { Context } from 'aws-lambda';
import { type DrainReport, drain } from '../lib/drain.ts';
import { metricLine } from '../lib/log.ts';
import { oncePerProcess } from '../lib/once.ts';
import { wireDrain } from '../lib/wire/drain.ts';
import { clock, log } from '../lib/wire/process.ts';

const wired = oncePerProcess(() => wireDrain(process.env));

/** Runs every minute, when a submit finds no drain awake, and as a helper (`{"helper":true}`) of one that falls behind. */
export async function handler(
  event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<DrainReport> {
  const { ports, settings, stage } = await wired();
  const report = await drain(
    ports,
    settings,
    () => context.getRemainingTimeInMillis(),
    isHelper(event) ? 'helper' : undefined,
  );
  log.info('drain_ended', { ...report });
  const { dueLagMs, steps, lostLeases, orphans, parked, failedExchanges, helpers } = report;
  const metrics = {
    DueLagMs: dueLagMs,
    Steps: steps,
    LostLeases: lostLeases,
    Orphans: orphans,
    Parked: parked,
    FailedExchanges: failedExchanges,
    Helpers: helpers,
  };
  process.stdout.write(`${metricLine(stage, metrics, clock.nowMs())}\n`);
  return report;
}

function isHelper(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'helper' in event && event.helper === true;
}
