import { billedMicros } from '../cost.ts';
import { endpointIdFor } from '../identify.ts';
import type { Job } from '../job.ts';
import { isoOrNull } from './iso.ts';

/** A job as the API shows it: snake_case, ISO 8601 times, absent values as null. */
export function jobView(job: Job) {
  return {
    ...jobSummary(job),
    webhook: webhookView(job),
    events: job.events.map(({ id, type, atMs }) => ({ id, type, at: isoOrNull(atMs) })),
    input: job.input,
    result: job.result?.value ?? null,
    result_truncated: job.result?.truncated ?? false,
    history: job.history.map(({ atMs, state, reason }) => ({ at: isoOrNull(atMs), state, reason: reason ?? null })),
  };
}

/** The same without what may be large: the form in lists. */
export function jobSummary(job: Job) {
  return {
    id: job.id,
    state: job.state,
    account: job.account,
    priority: job.priority,
    batch: job.batch ?? null,
    metadata: job.metadata,
    created_at: isoOrNull(job.createdAtMs),
    updated_at: isoOrNull(job.updatedAtMs),
    submitted_at: isoOrNull(job.submittedAtMs),
    finished_at: isoOrNull(job.finishedAtMs),
    deadline_at: isoOrNull(job.deadlineAtMs),
    cancel_requested_at: isoOrNull(job.cancelAskedAtMs),
    provider: { name: job.provider, job_id: job.providerJobId ?? null, status: job.providerStatus ?? null },
    error: errorView(job),
    usage: usageView(job),
    cost: { estimated_usd_micros: job.estimatedMicros ?? null, billed_usd_micros: billedMicros(job.usage) },
    links: { self: `/v1/jobs/${job.id}`, list: '/v1/jobs' },
  };
}

/** `events`: null where the job has not chosen, and the usual ones are sent. */
function webhookView({ owner, webhookUrl: url, webhookEvents }: Job) {
  return url === undefined ? null : { url, endpoint_id: endpointIdFor(owner, url), events: webhookEvents ?? null };
}

function errorView(job: Job) {
  if (job.lastFault === undefined || job.state === 'completed') return null;
  const { code, message, providerRequestId, atMs } = job.lastFault;
  return {
    code,
    message,
    provider_request_id: providerRequestId ?? null,
    at: isoOrNull(atMs),
    failures_in_row: job.failuresInRow,
  };
}

function usageView(job: Job) {
  if (job.usage === undefined) return null;
  const { status, reservedMicros, capturedMicros, refundedMicros, billableMicros } = job.usage;
  return {
    status: status ?? null,
    reserved_usd_micros: reservedMicros ?? null,
    captured_usd_micros: capturedMicros ?? null,
    refunded_usd_micros: refundedMicros ?? null,
    billable_usd_micros: billableMicros ?? null,
  };
}
