import type { Context } from 'aws-lambda';
import { type DrainEvent, drainAccounts } from '../lib/drain-accounts.ts';
import type { DrainReport } from '../lib/drain-report.ts';
import { metricLine } from '../lib/log.ts';
import { oncePerProcess } from '../lib/once.ts';
import { wireDrain } from '../lib/wire/drain.ts';
import { clock } from '../lib/wire/process.ts';

const wired = oncePerProcess(() => wireDrain(process.env));

/** Runs every minute, when a submit finds no drain awake, and as a helper (`{"helper":true}`) of one that falls behind. */
export async function handler(
  event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<DrainReport> {
  const { stage, ...accounts } = await wired();
  const given = (typeof event === 'object' && event !== null ? event : {}) as DrainEvent;
  const report = await drainAccounts(accounts, given, () => context.getRemainingTimeInMillis());
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
