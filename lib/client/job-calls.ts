import type * as Api from './answers.ts';
import { PollkeeperError } from './error.ts';
import { type PageOptions, walkPages } from './pages.ts';
import { segment } from './segment.ts';
import type { Transport } from './transport.ts';
import { type WaitOptions, waitForEnd } from './wait.ts';

interface CallOptions {
  signal?: AbortSignal;
}

/** What a job, or each job of several, may come with. */
export interface SharedOptions extends CallOptions {
  /** Which account it is rendered on; placed if absent. */
  account?: string;
  /** A name that its jobs share; see `batch`. */
  batch?: string;
  /** Where its events go. */
  webhookUrl?: string;
  /** Which of them; all but `job.processing` if absent. */
  webhookEvents?: readonly Api.EventType[];
}

export interface SubmitOptions extends SharedOptions {
  /** The same for every attempt at the same job. Made, and kept for this call's own retries, if absent. */
  idempotencyKey?: string;
  /** 0 to 9, 9 goes first. */
  priority?: number;
  deadlineSeconds?: number;
  metadata?: Readonly<Record<string, string>>;
}

export interface ListOptions extends PageOptions {
  state?: Api.JobState;
  batch?: string;
}

export interface JobCalls {
  /** One job. Its error names the key that it went out with, so that it can be repeated. */
  submit(input: Api.JobInput, options?: SubmitOptions): Promise<Api.Job>;
  /** Up to 500, each with its own `idempotency_key`; the answer tells of each. */
  submitBatch(items: readonly Api.BatchItem[], options?: SharedOptions): Promise<Api.BatchAnswer>;
  /** Takes over up to 1,000 jobs that were made at the provider by others. */
  adopt(items: readonly Api.AdoptItem[], options?: SharedOptions): Promise<Api.AdoptAnswer>;
  get(id: string, options?: CallOptions): Promise<Api.JobWithOutlook>;
  /** The job once it has ended, however: look at its `state`. */
  wait(id: string, options?: WaitOptions): Promise<Api.JobWithOutlook>;
  /** Both. An error of the wait has the `jobId`: it can be waited for again. */
  submitAndWait(input: Api.JobInput, options?: SubmitOptions & WaitOptions): Promise<Api.JobWithOutlook>;
  /** Newest first, page by page as they are asked for. */
  list(options?: ListOptions): AsyncGenerator<Api.JobSummary, void, undefined>;
  /** The job, canceled, or with `cancel_requested_at` while the provider has still to obey. */
  cancel(id: string, options?: CallOptions): Promise<Api.Job>;
  /** Has the provider asked at once. */
  pollNow(id: string, options?: CallOptions): Promise<Api.Job>;
}

export function jobCalls(transport: Transport): JobCalls {
  const get = async (id: string, call: CallOptions = {}) =>
    (await transport.send({ method: 'GET', path: `/v1/jobs/${segment(id)}`, ...call })).body as Api.JobWithOutlook;
  const submit = (input: Api.JobInput, options: SubmitOptions = {}) => submitOne(transport, input, options);
  const post = async (path: string, body: unknown, { signal }: CallOptions) =>
    (await transport.send({ method: 'POST', path, body, ...(signal === undefined ? {} : { signal }) })).body;
  return {
    submit,
    submitBatch: async (items, options = {}) =>
      (await post('/v1/jobs/batch', { items, ...sharedFields(options) }, options)) as Api.BatchAnswer,
    adopt: async (items, options = {}) =>
      (await post('/v1/jobs/adopt', { items, ...sharedFields(options) }, options)) as Api.AdoptAnswer,
    get,
    wait: (id, options) => waitForEnd(transport, id, options),
    async submitAndWait(input, options = {}) {
      const { id } = await submit(input, options);
      return waitForEnd(transport, id, options);
    },
    list: ({ state, batch, ...page } = {}) => walkPages(transport, '/v1/jobs', 'jobs', { state, batch }, page),
    cancel: (id, call = {}) => cancelOne(transport, id, get, call),
    pollNow: async (id, call = {}) =>
      (await transport.send({ method: 'POST', path: `/v1/jobs/${segment(id)}/poll`, ...call })).body as Api.Job,
  };
}

async function submitOne(transport: Transport, input: Api.JobInput, options: SubmitOptions): Promise<Api.Job> {
  const { idempotencyKey = transport.runtime.newKey(), priority, deadlineSeconds, metadata, signal } = options;
  const body = { input, ...sharedFields(options), priority, deadline_seconds: deadlineSeconds, metadata };
  try {
    const { body: job } = await transport.send({
      ...{ method: 'POST', path: '/v1/jobs', headers: { 'idempotency-key': idempotencyKey }, body },
      ...(signal === undefined ? {} : { signal }),
    });
    return job as Api.Job;
  } catch (error) {
    throw error instanceof PollkeeperError ? error.about({ idempotencyKey }) : error;
  }
}

/** JSON leaves out what is undefined. */
function sharedFields({ account, batch, webhookUrl, webhookEvents }: SharedOptions) {
  return { account, batch, webhook_url: webhookUrl, webhook_events: webhookEvents };
}

async function cancelOne(transport: Transport, id: string, get: JobCalls['get'], call: CallOptions): Promise<Api.Job> {
  try {
    return (await transport.send({ method: 'POST', path: `/v1/jobs/${segment(id)}/cancel`, ...call })).body as Api.Job;
  } catch (error) {
    if (!(error instanceof PollkeeperError) || error.code !== 'job_ended') throw error;
    // The answer of the request that canceled it may have been lost.
    const job = await get(id, call);
    if (job.state === 'canceled') return job;
    throw error;
  }
}
