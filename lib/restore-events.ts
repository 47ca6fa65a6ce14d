import { pendingEvents } from './event.ts';
import type { EventQueue } from './event-ports.ts';
import type { Job } from './job.ts';
import type { Log } from './log.ts';
import type { Random } from './ports.ts';

export interface RestoreEventsPorts {
  events: EventQueue;
  random: Random;
  log: Log;
}

/** What was lost comes back over this time, not all at once. */
const spreadMs = 60_000;

/** Jobs whose events nobody may have been told of: due at once, unless they are already. Rejects with a DueSetError. */
export function restoreEvents(ports: RestoreEventsPorts, jobs: readonly Job[]): Promise<number> {
  const untold = jobs.filter((job) => pendingEvents(job).length > 0).map(({ id }) => id);
  return putBack(ports, untold, 0);
}

/**
 * Deliveries and batches that the set of events does not hold; each tells itself whether its time has come. Resolves with
 * how many. Rejects with a DueSetError.
 */
export async function restoreDeliveries(ports: RestoreEventsPorts, ids: readonly string[]): Promise<number> {
  return putBack(ports, await ports.events.dueSet.absent(ids), spreadMs);
}

async function putBack({ events, random, log }: RestoreEventsPorts, ids: readonly string[], overMs: number) {
  if (ids.length === 0) return 0;
  const entries = ids.map((id) => ({ id, delayMs: random() * overMs }));
  const { added, wake } = await events.dueSet.schedule(entries);
  if (wake) await events.waker.wake();
  // An open batch is not there between the ends of its jobs: that it is looked at now and then is nothing to warn of.
  const isLoss = ids.some((id) => !id.startsWith('bat_'));
  if (added > 0 && isLoss) log.warn('events_restored', { restored: added });
  return added;
}
