import type { Job, JobResult } from '../job.ts';
import { depthOf, isObject, type Json, type JsonObject } from '../json.ts';
import type { Outcome } from '../outcome.ts';
import type { Call, CancelOutcome, Provider } from '../ports.ts';
import type { HttpAnswer, HttpClient, HttpFailure, HttpRequest } from './http.ts';
import { callsLeft, retryAfterMs } from './retry-after.ts';
import { SumeFaults } from './sume-fault.ts';
import { jobIdOf, readStatus } from './sume-status.ts';

/**
 * A result document over this is not kept; the record then says `truncated`. Bytes of JSON text: with the largest body
 * of a submit beside it the record still fits into DynamoDB's 400 KB.
 */
export const resultMax = 100_000;
/** Nor is one that nests deeper: writing it as JSON would overrun the stack. */
const resultDepthMax = 100;

/** What may stand between two slashes of a path as it is. */
const safeSegment = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,200}$/;

export interface SumeAccount {
  /** Base path before `/v1`, usually empty. */
  basePath: string;
  apiKey: string;
  /** Prefix of the provider's idempotency keys, so that two stages on one workspace never meet. */
  keyPrefix: string;
}

type Trouble = Extract<Outcome, { kind: 'trouble' }>;
type Unread = Trouble | Extract<Outcome, { kind: 'missing' | 'throttled' | 'denied' }>;

/** The Sume API, `/v1`. Every answer becomes an outcome; nothing is thrown. */
export class Sume implements Provider {
  readonly #http: Pick<HttpClient, 'send'>;
  readonly #account: SumeAccount;
  readonly #faults: SumeFaults;

  constructor(http: Pick<HttpClient, 'send'>, account: SumeAccount) {
    this.#http = http;
    this.#account = account;
    this.#faults = new SumeFaults(account.apiKey);
  }

  async create(job: Job, call: Call = {}): Promise<Outcome> {
    const answer = await this.#call('POST', '/v1/videos', {
      headers: { 'content-type': 'application/json', 'idempotency-key': `${this.#account.keyPrefix}${job.id}` },
      body: JSON.stringify(job.hookUrl === undefined ? job.input : { ...job.input, webhook_url: job.hookUrl }),
      call,
    });
    noteLeft(call, answer);
    if (answer.kind === 'failure') return this.#trouble(answer.code, answer.message);
    const body = jsonObject(answer);
    if (answer.status >= 200 && answer.status < 300) {
      const made = body === null ? undefined : this.#accepted(body);
      return made ?? { kind: 'trouble', fault: this.#faults.ofNonsense(answer), retryAfterMs: null };
    }
    const fault = this.#faults.ofAnswer(answer, body);
    const waitMs = retryAfterMs(answer.headers);
    if (answer.status === 402) return { kind: 'denied', fault, noCredit: true };
    if ([401, 403].includes(answer.status)) return { kind: 'denied', fault };
    if (answer.status === 429) return { kind: 'no_slot', fault, retryAfterMs: waitMs };
    // The address is ours, not the caller's: no job is to end for it.
    if (job.hookUrl !== undefined && isOfWebhook(body)) return { kind: 'denied', fault };
    // Only Sume's own error envelope refuses a job for good: a 404 page of a proxy says nothing about it. 408, 409
    // and 425 speak of this call, not of the job.
    const ofJob = answer.status >= 400 && answer.status < 500 && ![408, 409, 425].includes(answer.status);
    return ofJob && isObject(body?.error)
      ? { kind: 'refused', fault }
      : { kind: 'trouble', fault, retryAfterMs: waitMs };
  }

  async read(job: Job, call: Call = {}): Promise<Outcome> {
    const id = job.providerJobId ?? '';
    if (!safeSegment.test(id)) return this.#trouble('invalid_answer', 'The job has no usable provider job id.');
    const answer = await this.#call('GET', `/v1/jobs/${id}/status`, { call });
    noteLeft(call, answer);
    const body = answer.kind === 'answer' && answer.status === 200 ? jsonObject(answer) : null;
    if (answer.kind === 'failure' || body === null) return this.#unread(answer);
    const status = readStatus(body);
    if (status.jobId !== undefined && status.jobId !== id) return this.#wrongJob(id);
    const word = status.word === undefined ? undefined : this.#faults.clean(status.word);
    const said = optional({ word, usage: status.usage });
    switch (status.verdict.kind) {
      case 'running':
        return { kind: 'running', phase: status.verdict.phase, hintMs: status.hintMs, ...said };
      case 'ended': {
        const { as, recognised } = status.verdict;
        const unknown = `The provider ended the job with a status we do not know: ${word}.`;
        const fault = recognised ? this.#faults.ofStatus(body) : this.#faults.of('unrecognised_end', unknown);
        return { kind: 'ended', as, ...said, word: word ?? as, ...optional({ fault }) };
      }
      case 'completed':
        return this.#withResult(id, { ...said, word: word ?? 'completed' }, { usedMs: answer.tookMs, call });
      case 'unclear':
        return this.#trouble('unclear_status', 'The status document contradicts itself or says nothing.');
    }
  }

  async cancel(job: Job, call: Call = {}): Promise<CancelOutcome> {
    const id = job.providerJobId ?? '';
    if (!safeSegment.test(id)) return this.#trouble('invalid_answer', 'The job has no usable provider job id.');
    const idempotencyKey = `${this.#account.keyPrefix}${job.id}-cancel`;
    const answer = await this.#call('POST', `/v1/jobs/${id}/cancel`, {
      headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: '{}',
      call,
    });
    noteLeft(call, answer);
    if (answer.kind === 'failure') return this.#unread(answer);
    const body = jsonObject(answer);
    if (answer.status >= 200 && answer.status < 300) {
      const about = body === null ? undefined : jobIdOf(body);
      if (about !== undefined && about !== id) return this.#wrongJob(id);
      const isNonsense = body === null && answer.text !== '';
      return isNonsense
        ? { kind: 'trouble', fault: this.#faults.ofNonsense(answer), retryAfterMs: null }
        : { kind: 'told' };
    }
    // Sume's own no: there is nothing to cancel any more. Whether the render ended otherwise, only a read tells.
    const isTooLate = [400, 409, 422].includes(answer.status) && isObject(body?.error);
    return isTooLate ? { kind: 'told' } : this.#unread(answer);
  }

  /** One read is a status call and, at the end, a result call; together they get the time of one. */
  async #withResult(id: string, said: { word: string }, sofar: { usedMs: number; call: Call }): Promise<Outcome> {
    sofar.call.requests = (sofar.call.requests ?? 1) + 1;
    const answer = await this.#call('GET', `/v1/jobs/${id}/result`, sofar);
    noteLeft(sofar.call, answer);
    if (answer.kind === 'failure') {
      const tooLarge = answer.code === 'too_large';
      return tooLarge ? { kind: 'completed', result: { value: null, truncated: true }, ...said } : this.#unread(answer);
    }
    if ([204, 404, 409, 425].includes(answer.status)) return { kind: 'completed', result: null, ...said };
    const value = json(answer);
    const nothing = value === null || (Array.isArray(value) && value.length === 0);
    const body = nothing ? {} : value;
    if (answer.status !== 200 || !isObject(body)) return this.#unread(answer);
    // The id of a medium may stand in `data.id`.
    const about = jobIdOf(isObject(body.data) ? { ...body, data: { ...body.data, id: null } } : body);
    if (about !== undefined && about !== id) return this.#wrongJob(id);
    return { kind: 'completed', result: resultOf(body), ...said };
  }

  /** What a read that brought no usable document means. */
  #unread(answer: HttpAnswer | HttpFailure): Unread {
    if (answer.kind === 'failure') return this.#trouble(answer.code, answer.message);
    const body = jsonObject(answer);
    if (answer.status === 200) return { kind: 'trouble', fault: this.#faults.ofNonsense(answer), retryAfterMs: null };
    const fault = this.#faults.ofAnswer(answer, body);
    const waitMs = retryAfterMs(answer.headers);
    if (answer.status === 404 && isObject(body?.error)) return { kind: 'missing', fault };
    if (answer.status === 429) return { kind: 'throttled', fault, retryAfterMs: waitMs };
    if ([401, 402, 403].includes(answer.status)) return { kind: 'denied', fault };
    return { kind: 'trouble', fault, retryAfterMs: waitMs };
  }

  #call(method: HttpRequest['method'], path: string, extra: Partial<HttpRequest> & { call: Call }) {
    const headers = { authorization: `Bearer ${this.#account.apiKey}`, accept: 'application/json', ...extra.headers };
    return this.#http.send({ ...extra, method, path: `${this.#account.basePath}${path}`, headers });
  }

  #accepted(body: JsonObject): Outcome | undefined {
    const providerJobId = jobIdOf(body);
    if (providerJobId === undefined || !safeSegment.test(providerJobId)) return undefined;
    const { verdict, word, hintMs, usage } = readStatus(body);
    // A create that answers with an ended job is a replay: the status read that follows, at once, tells how it ended.
    if (verdict.kind !== 'running')
      return { kind: 'accepted', providerJobId, phase: 'queued', hintMs: verdict.kind === 'unclear' ? hintMs : 0 };
    const said = optional({ word: word === undefined ? undefined : this.#faults.clean(word), usage });
    return { kind: 'accepted', providerJobId, phase: verdict.phase, hintMs, ...said };
  }

  #wrongJob(id: string): Trouble {
    return this.#trouble('wrong_job', `Asked for ${id}, the answer is about another job.`);
  }

  #trouble(code: string, message: string): Trouble {
    return { kind: 'trouble', fault: this.#faults.of(code, message), retryAfterMs: null };
  }
}

function noteLeft(call: Call, answer: HttpAnswer | HttpFailure): void {
  const left = answer.kind === 'answer' ? callsLeft(answer.headers) : null;
  if (left !== null) call.left = left;
}

/** The result document without its envelope; null when there is nothing in it. */
function resultOf(body: JsonObject): JobResult | null {
  const value = isObject(body.data) ? body.data : body;
  if (Object.keys(value).length === 0 || value.result === null || body.data === null) return null;
  const tooDeep = depthOf(value, resultDepthMax) > resultDepthMax;
  const tooMuch = tooDeep || Buffer.byteLength(JSON.stringify(value)) > resultMax;
  return tooMuch ? { value: null, truncated: true } : { value, truncated: false };
}

/** An error that names the field. */
function isOfWebhook(body: JsonObject | null): boolean {
  return isObject(body?.error) && /webhook/i.test(JSON.stringify(body.error));
}

function jsonObject(answer: HttpAnswer): JsonObject | null {
  const value = json(answer);
  return isObject(value) ? value : null;
}

function json(answer: HttpAnswer): Json | undefined {
  try {
    return JSON.parse(answer.text);
  } catch {
    return undefined;
  }
}

/** The fields that have a value: an optional field is absent, never undefined. */
function optional<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
