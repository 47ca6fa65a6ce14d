import { billedMicros } from '../cost.ts';
import type { Job } from '../job.ts';
import { isoOrNull } from './iso.ts';

/** A job as the API shows it: snake_case, ISO 8601 times, absent values as null. */
export function jobView(job: Job) {
  return {
    ...jobSummary(job),
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
    metadata: job.metadata,
    created_at: isoOrNull(job.createdAtMs),
    updated_at: isoOrNull(job.updatedAtMs),
    submitted_at: isoOrNull(job.submittedAtMs),
    finished_at: isoOrNull(job.finishedAtMs),
    deadline_at: isoOrNull(job.deadlineAtMs),
    provider: { name: job.provider, job_id: job.providerJobId ?? null, status: job.providerStatus ?? null },
    error: errorView(job),
    usage: usageView(job),
    cost: { estimated_usd_micros: job.estimatedMicros ?? null, billed_usd_micros: billedMicros(job.usage) },
    links: { self: `/v1/jobs/${job.id}`, list: '/v1/jobs' },
  };
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
