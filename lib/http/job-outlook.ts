import type { JobPlace } from '../account-view.ts';
import { DueSetError, messageOf } from '../errors.ts';
import { isActive, type Job } from '../job.ts';
import { predictedCompletion, type Range, type WaitingFor, waitingFor } from '../waiting-for.ts';
import type { ApiPorts } from './app.ts';
import { isoOrNull } from './iso.ts';

/**
 * What a job waits for and when it may be done, as the API shows it. The record alone answers for the job: trouble of the
 * due set or of a prediction only leaves things unsaid.
 */
export async function jobOutlook(ports: ApiPorts, job: Job) {
  const limits = ports.accounts.find(({ id }) => id === job.account)?.limits;
  if (!isActive(job.state)) return outlookView(null, null);
  // Nobody reads an account that is not configured any more.
  if (limits === undefined) return outlookView({ kind: 'unknown' }, null);
  const [place, renderMs] = await Promise.all([lookFor(ports, job), predict(ports, job)]);
  const waiting = waitingFor(job, { limits, place, renderMs });
  const nowMs = place?.nowMs ?? ports.clock.nowMs();
  return outlookView(waiting, predictedCompletion(job, waiting, renderMs, nowMs));
}

async function lookFor({ view, log }: ApiPorts, job: Job): Promise<JobPlace | null> {
  try {
    return await view.look(job.account, job.id);
  } catch (error) {
    if (!(error instanceof DueSetError)) throw error;
    log.warn('due_set_unseen', { jobId: job.id, code: error.code, error: messageOf(error) });
    return null;
  }
}

async function predict({ predictEnd, log }: ApiPorts, job: Job): Promise<Range | null> {
  try {
    return (await predictEnd?.(job)) ?? null;
  } catch (error) {
    log.warn('end_not_predicted', { jobId: job.id, error: messageOf(error) });
    return null;
  }
}

function outlookView(waiting: WaitingFor | null, completion: Range | null) {
  return { waiting_for: waiting && waitingView(waiting), predicted_completion: rangeView(completion) };
}

function waitingView(waiting: WaitingFor) {
  const { kind } = waiting;
  if (kind === 'slot') return { kind, place: waiting.place, predicted_at: rangeView(waiting.predictedMs) };
  if (kind === 'hold') return { kind, reason: waiting.reason, until: isoOrNull(waiting.untilMs) };
  if (kind === 'paused') return { kind, since: isoOrNull(waiting.sinceMs) };
  return kind === 'unknown' ? { kind } : { kind, until: isoOrNull(waiting.untilMs) };
}

function rangeView(range: Range | null) {
  return range && { earliest: isoOrNull(range[0]), latest: isoOrNull(range[1]) };
}
