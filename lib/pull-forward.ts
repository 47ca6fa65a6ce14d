import type { AccountView } from './account-view.ts';
import type { Job } from './job.ts';
import type { Clock, Queues } from './ports.ts';

export interface PullPorts {
  queues: Queues;
  view: Pick<AccountView, 'look'>;
  clock: Pick<Clock, 'sleep'>;
}

/** Long enough for a read to be answered and settled, as a rule. */
const leasedWaitMs = 700;
const leasedWaitsMax = 4;

/**
 * Makes the job due now. A call about it that is under way may have begun before there was a reason to: it is waited for,
 * some seconds at most. Rejects with a DueSetError.
 */
export async function pullForward({ queues, view, clock }: PullPorts, { id, account }: Job): Promise<void> {
  const queue = queues.get(account);
  if (queue === undefined) return;
  for (let waits = 0; ; waits++) {
    const { due } = await view.look(account, id);
    // Gone while we waited: that call has told the end.
    if (waits > 0 && due === null) return;
    if (due?.leased !== true) break;
    // What is in a drain's hands for so long it works soon, or not at all: then its lease ends.
    if (waits === leasedWaitsMax) return;
    await clock.sleep(leasedWaitMs);
  }
  const { wake } = await queue.dueSet.schedule([{ id, delayMs: 0 }], 'pull');
  if (wake) await queue.waker.wake();
}
