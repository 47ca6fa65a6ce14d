import type { Context } from 'aws-lambda';
import { metricLine } from '../lib/log.ts';
import { oncePerProcess } from '../lib/once.ts';
import { deliver } from '../lib/webhooks/deliver.ts';
import type { DeliverReport } from '../lib/webhooks/deliver-report.ts';
import { wireDeliver } from '../lib/wire/deliver.ts';
import { clock, log } from '../lib/wire/process.ts';

const wired = oncePerProcess(() => wireDeliver(process.env));

/** Runs every minute, and when there is news while nobody delivers. */
export async function handler(
  _event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<DeliverReport> {
  const { ports, settings, stage } = await wired();
  const report = await deliver(ports, settings, () => context.getRemainingTimeInMillis());
  log.info('deliver_ended', { ...report });
  const metrics = {
    DeliveryLagMs: report.dueLagMs,
    DeliveryAttempts: report.attempts,
    Delivered: report.delivered,
    DeadDeliveries: report.dead,
  };
  process.stdout.write(`${metricLine(stage, metrics, clock.nowMs())}\n`);
  return report;
}
