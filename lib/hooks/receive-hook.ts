import { messageOf } from '../errors.ts';
import { jobIdPattern } from '../identify.ts';
import { isActive, type Job } from '../job.ts';
import type { Log } from '../log.ts';
import type { Clock, JobStore } from '../ports.ts';
import { type PullPorts, pullForward } from '../pull-forward.ts';
import type { HookConfig } from './hook-config.ts';
import { endHour, type HookCounts, wasToBeTold } from './hook-health.ts';
import { isAboutAnother } from './named-job.ts';
import { isSigned, type SignedCall } from './verify-signature.ts';

/*
 * The provider says itself that a render has ended. Its word is believed in one thing only, that it is time to read the job's
 * status: the read decides, as ever.
 */

export interface ReceiveHookPorts extends PullPorts {
  store: Pick<JobStore, 'get' | 'update'>;
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
      if (isOpen) await pullForward(ports, job);
      return 'duplicate';
    }
    // The render is over: a wait that was told before counts no more.
    const { notBeforeMs: _, ...rest } = job;
    const written = await ports.store.update({ ...(isOpen ? rest : job), hook });
    if (written.kind === 'updated' || (isOpen && tries === lostRacesMax)) {
      if (isOpen) await pullForward(ports, job);
      else await countLate(ports, job);
      return isOpen ? 'arrived' : 'late';
    }
    const stored = tries < lostRacesMax ? await ports.store.get(job.id) : null;
    if (stored === null) return 'ignored';
    job = stored;
  }
}

async function countLate({ counts, log }: ReceiveHookPorts, job: Job): Promise<void> {
  if (!wasToBeTold(job)) return;
  try {
    await counts.add(job.account, endHour(job), { late: 1, missed: -1 });
  } catch (error) {
    log.warn('hook_counts_unwritten', { error: messageOf(error) });
  }
}
