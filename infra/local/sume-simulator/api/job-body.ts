import { isTerminal, JOB_TYPE, type Job, usageStatus } from '../job.ts';

type Form = 'new' | 'old' | 'both';

/** The answer in the wanted form: newer fields at the top level, older ones inside `data`, or both. */
export function inForm(form: Form, newer: Record<string, unknown>, older: Record<string, unknown>): string {
  if (form === 'new') return JSON.stringify(newer);
  if (form === 'old') return JSON.stringify({ data: older });
  return JSON.stringify({ ...newer, data: older });
}

function jobUrls(origin: string, jobId: string): { status_url: string; result_url: string } {
  const url = `${origin}/v1/jobs/${jobId}`;
  return { status_url: `${url}/status`, result_url: `${url}/result` };
}

/** The money of one job, in micro-dollars: reserved, then captured or refunded. */
export function usageBody(job: Job): Record<string, unknown> {
  const status = usageStatus(job.state);
  return {
    status,
    currency: 'USD',
    billable_amount_usd_micros: status === 'refunded' ? 0 : job.priceMicros,
    reserved_amount_usd_micros: status === 'reserved' ? job.priceMicros : 0,
    captured_amount_usd_micros: status === 'captured' ? job.priceMicros : 0,
    refunded_amount_usd_micros: status === 'refunded' ? job.priceMicros : 0,
  };
}

/** Why a job did not succeed; undefined for every other job. */
function jobError(job: Job): { code: string; message: string } | undefined {
  if (job.state === 'failed') return { code: 'generation_failed', message: 'The render failed; nothing was charged.' };
  if (job.state === 'expired') return { code: 'job_expired', message: 'The job expired before it was rendered.' };
  return undefined;
}

/** The status answer. At the top level exactly the five fields of the newer form. */
export function statusBody(form: Form, job: Job, hintSeconds: number | null): string {
  return inForm(form, statusFields(job, hintSeconds), {
    request_id: job.id,
    job_id: job.id,
    status: job.state.toUpperCase(),
    sume_status: job.state,
    terminal: isTerminal(job.state),
    next_poll_after_seconds: hintSeconds,
    result_ready: job.state === 'completed',
    next_action: nextAction(job),
    usage: usageBody(job),
    ...(jobError(job) && { error: jobError(job) }),
    job: briefJob(job),
  });
}

/** The create answer: the job's status, and with it when to look first. */
export function createdBody(
  form: Form,
  job: Job,
  created: { origin: string; hit: boolean; hintSeconds: number | null },
): string {
  const urls = jobUrls(created.origin, job.id);
  const idempotencyHit = created.hit;
  return inForm(
    form,
    { ...statusFields(job, created.hintSeconds), idempotency_hit: idempotencyHit, ...urls },
    { request_id: job.id, ...urls, idempotency_hit: idempotencyHit, model: job.model, job: briefJob(job) },
  );
}

export function canceledBody(form: Form, job: Job, origin: string): string {
  const urls = jobUrls(origin, job.id);
  return inForm(
    form,
    { ...statusFields(job, null), canceled: true },
    {
      request_id: job.id,
      job_id: job.id,
      status: job.state.toUpperCase(),
      sume_status: job.state,
      canceled: true,
      ...urls,
      usage: usageBody(job),
      job: briefJob(job),
    },
  );
}

/** One job with everything known of it, its create body included. */
export function jobBody(form: Form, job: Job, origin: string): string {
  const whole = wholeJob(job);
  const urls = jobUrls(origin, job.id);
  return inForm(
    form,
    { ...whole, terminal: isTerminal(job.state), ...urls },
    {
      request_id: job.id,
      job_id: job.id,
      status: job.state.toUpperCase(),
      sume_status: job.state,
      result_ready: job.state === 'completed',
      next_action: nextAction(job),
      usage: usageBody(job),
      ...urls,
      job: whole,
    },
  );
}

export function wholeJob(job: Job): Record<string, unknown> {
  return {
    id: job.id,
    type: JOB_TYPE,
    status: job.state,
    sume_status: job.state,
    model: job.model,
    input: job.input,
    created_at: isoTime(job.createdAtMs),
    started_at: isoTime(job.startedAtMs),
    ended_at: isoTime(job.endedAtMs),
    usage: usageBody(job),
    ...(jobError(job) && { error: jobError(job) }),
  };
}

export function isoTime(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

function statusFields(job: Job, hintSeconds: number | null): Record<string, unknown> {
  return {
    id: job.id,
    status: job.state,
    sume_status: job.state,
    terminal: isTerminal(job.state),
    next_poll_after_seconds: hintSeconds,
  };
}

function briefJob(job: Job): Record<string, unknown> {
  return { id: job.id, type: JOB_TYPE, status: job.state };
}

function nextAction(job: Job): string {
  if (job.state === 'completed') return 'fetch_result';
  return isTerminal(job.state) ? 'none' : 'poll_status';
}
