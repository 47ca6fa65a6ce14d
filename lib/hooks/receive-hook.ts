import type { AccountView } from '../account-view.ts';
import { messageOf } from '../errors.ts';
import { jobIdPattern } from '../identify.ts';
import { isActive, type Job } from '../job.ts';
import type { Log } from '../log.ts';
import type { Clock, JobStore, Queues } from '../ports.ts';
import type { HookConfig } from './hook-config.ts';
import { endHour, type HookCounts, wasToBeTold } from './hook-health.ts';
import { isAboutAnother } from './named-job.ts';
import { isSigned, type SignedCall } from './verify-signature.ts';

/*
 * The provider says itself that a render has ended. Its word is believed in one thing only, that it is time to read the job's
 * status: the read decides, as ever.
 */

export interface ReceiveHookPorts {
  store: Pick<JobStore, 'get' | 'update'>;
  queues: Queues;
  view: Pick<AccountView, 'look'>;
  counts: Pick<HookCounts, 'add'>;
  clock: Pick<Clock, 'nowMs' | 'sleep'>;
  log: Log;
}

export interface ReceivedHook extends SignedCall {
  /** What the address that we gave names: our own id of the job. */
  jobId: string | undefined;
  eventId: string | undefined;
}

/**
 * `refused`: not signed by any account's secret. `ignored`: nothing that we know, or can make use of. `duplicate`: heard before.
 * `arrived`: the job is due now. `late`: its end was known already.
 */
export type HookVerdict = 'refused' | 'ignored' | 'duplicate' | 'arrived' | 'late';

const lostRacesMax = 3;
/** Long enough for a read to be answered and settled, as a rule. */
const leasedWaitMs = 700;
const leasedWaitsMax = 4;

/** Rejects with a JobStoreError or a DueSetError: the provider is to send it again. May be repeated. */
export async function receiveHook(
  ports: ReceiveHookPorts,
  secrets: HookConfig['secrets'],
  hook: ReceivedHook,
): Promise<HookVerdict> {
  const { eventId = '', jobId = '' } = hook;
  // Before anything is looked up: who can't sign learns nothing and costs nothing.
  const nowMs = ports.clock.nowMs();
  const signers = [...secrets].flatMap(([account, own]) => (isSigned(hook, own, nowMs) ? [account] : []));
  if (signers.length === 0 || !/^[\x21-\x7e]{1,200}$/.test(eventId)) return 'refused';
  const job = jobIdPattern.test(jobId) ? await ports.store.get(jobId) : null;
  const isOurs = job !== null && signers.includes(job.account) && !isAboutAnother(hook.body, job.providerJobId);
  const verdict = isOurs ? await take(ports, job, { eventId, atMs: nowMs }) : 'ignored';
  ports.log.info('hook_received', { verdict, jobId: isOurs ? job.id : null });
  return verdict;
}

async function take(ports: ReceiveHookPorts, found: Job, hook: NonNullable<Job['hook']>): Promise<HookVerdict> {
  let job = found;
  for (let tries = 1; ; tries++) {
    const isOpen = isActive(job.state);
    // Nothing of it is at the provider, and pulled forward it would pass those that wait before it.
    if (job.state === 'waiting') return 'ignored';
    if (job.hook?.eventId === hook.eventId || (!isOpen && job.hook !== undefined)) {
      // Whoever took it before may have died, or found no due set, before the job was due.
      if (isOpen) await pull(ports, job);
      return 'duplicate';
    }
    // The render is over: a wait that was told before counts no more.
    const { notBeforeMs: _, ...rest } = job;
    const written = await ports.store.update({ ...(isOpen ? rest : job), hook });
    if (written.kind === 'updated' || (isOpen && tries === lostRacesMax)) {
      if (isOpen) await pull(ports, job);
      else await countLate(ports, job);
      return isOpen ? 'arrived' : 'late';
    }
    const stored = tries < lostRacesMax ? await ports.store.get(job.id) : null;
    if (stored === null) return 'ignored';
    job = stored;
  }
}

/** Makes the job due now; a call about it that is under way may have been answered before the end, and is waited for. */
async function pull({ queues, view, clock }: ReceiveHookPorts, { id, account }: Job): Promise<void> {
  const queue = queues.get(account);
  if (queue === undefined) return;
  for (let waits = 0; ; waits++) {
    const { due } = await view.look(account, id);
    // Gone while we waited: that call has told the end.
    if (waits > 0 && due === null) return;
    if (due?.leased !== true) break;
    // What is in a drain's hands for so long it reads soon, or not at all: then its lease ends.
    if (waits === leasedWaitsMax) return;
    await clock.sleep(leasedWaitMs);
  }
  const { wake } = await queue.dueSet.schedule([{ id, delayMs: 0 }], 'pull');
  if (wake) await queue.waker.wake();
}

async function countLate({ counts, log }: ReceiveHookPorts, job: Job): Promise<void> {
  if (!wasToBeTold(job)) return;
  try {
    await counts.add(job.account, endHour(job), { late: 1, missed: -1 });
  } catch (error) {
    log.warn('hooks_not_counted', { error: messageOf(error) });
  }
}
