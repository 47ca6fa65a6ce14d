import type { Fault, Job, JobResult } from '../job.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { Outcome } from '../outcome.ts';
import type { Provider } from '../ports.ts';
import type { HttpAnswer, HttpClient, HttpFailure, HttpRequest } from './http.ts';
import { retryAfterMs } from './retry-after.ts';
import { jobIdOf, readStatus } from './sume-status.ts';

/** A result document over this is not kept; the record then says `truncated`. Characters of JSON text. */
export const resultMax = 200_000;

const safeSegment = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,200}$/;

export interface SumeAccount {
  /** Base path before `/v1`, usually empty. */
  basePath: string;
  apiKey: string;
  /** Prefix of the provider's idempotency keys, so that two stages on one workspace never meet. */
  keyPrefix: string;
}

/** The Sume API, `/v1`. Every answer becomes an outcome; nothing is thrown. */
export class Sume implements Provider {
  readonly #http: Pick<HttpClient, 'send'>;
  readonly #account: SumeAccount;

  constructor(http: Pick<HttpClient, 'send'>, account: SumeAccount) {
    this.#http = http;
    this.#account = account;
  }

  async create(job: Job): Promise<Outcome> {
    const answer = await this.#call('POST', '/v1/videos', {
      headers: { 'content-type': 'application/json', 'idempotency-key': `${this.#account.keyPrefix}${job.id}` },
      body: JSON.stringify(job.input),
    });
    if (answer.kind === 'failure') return this.#trouble(answer);
    const body = jsonObject(answer);
    if (answer.status >= 200 && answer.status < 300 && body !== null) return accepted(body) ?? this.#nonsense(answer);
    const fault = this.#fault(answer, body);
    switch (answer.status) {
      case 401:
      case 402:
      case 403:
        return { kind: 'denied', fault };
      case 429:
        return { kind: 'no_slot', fault, retryAfterMs: retryAfterMs(answer.headers) };
      case 408:
      case 409:
      case 425:
        return { kind: 'trouble', fault, retryAfterMs: retryAfterMs(answer.headers) };
    }
    // Only Sume's own error envelope refuses a job for good: a 404 page of a proxy says nothing about it.
    const refused = answer.status >= 400 && answer.status < 500 && isObject(body?.error);
    return refused
      ? { kind: 'refused', fault }
      : { kind: 'trouble', fault, retryAfterMs: retryAfterMs(answer.headers) };
  }

  async read(job: Job): Promise<Outcome> {
    const id = job.providerJobId ?? '';
    if (!safeSegment.test(id)) return this.#invalid('The job has no usable provider job id.');
    const answer = await this.#call('GET', `/v1/jobs/${id}/status`);
    const body = answer.kind === 'answer' && answer.status === 200 ? jsonObject(answer) : null;
    if (body === null) return this.#unread(answer);
    const status = readStatus(body);
    if (status.jobId !== undefined && status.jobId !== id) {
      return this.#invalid(`Asked for ${id}, the answer is about another job.`, 'wrong_job');
    }
    const { word, usage } = status;
    const said = { ...(word === undefined ? {} : { word }), ...(usage === undefined ? {} : { usage }) };
    switch (status.verdict.kind) {
      case 'running':
        return { kind: 'running', phase: status.verdict.phase, hintMs: status.hintMs, ...said };
      case 'ended': {
        const { as, recognised } = status.verdict;
        const fault = recognised ? this.#statusFault(body) : unrecognised(word);
        return { kind: 'ended', as, ...said, word: word ?? as, ...(fault === undefined ? {} : { fault }) };
      }
      case 'completed':
        return this.#withResult(id, { ...said, word: word ?? 'completed' });
      case 'unclear':
        return this.#invalid('The status document contradicts itself or says nothing.', 'unclear_status');
    }
  }

  async #withResult(id: string, said: { word: string }): Promise<Outcome> {
    const answer = await this.#call('GET', `/v1/jobs/${id}/result`);
    const notThere = answer.kind === 'answer' && [204, 404, 409, 425].includes(answer.status);
    if (notThere) return { kind: 'completed', result: null, ...said };
    if (answer.kind === 'failure' && answer.code === 'too_large') {
      return { kind: 'completed', result: { value: null, truncated: true }, ...said };
    }
    const body = answer.kind === 'answer' && answer.status === 200 ? jsonObject(answer) : null;
    if (body === null) return this.#unread(answer);
    const about = jobIdOf(body);
    if (about !== undefined && about !== id) {
      return this.#invalid(`Asked for the result of ${id}, the answer is about another job.`, 'wrong_job');
    }
    return { kind: 'completed', result: resultOf(body), ...said };
  }

  /** What a read that brought no usable document means. */
  #unread(answer: HttpAnswer | HttpFailure): Outcome {
    if (answer.kind === 'failure') return this.#trouble(answer);
    const body = jsonObject(answer);
    const fault = this.#fault(answer, body);
    if (answer.status === 200) return this.#nonsense(answer);
    if (answer.status === 404 && isObject(body?.error)) return { kind: 'missing', fault };
    if (answer.status === 429) return { kind: 'throttled', fault, retryAfterMs: retryAfterMs(answer.headers) };
    if ([401, 402, 403].includes(answer.status)) return { kind: 'denied', fault };
    return { kind: 'trouble', fault, retryAfterMs: retryAfterMs(answer.headers) };
  }

  #call(method: HttpRequest['method'], path: string, extra?: { headers: Record<string, string>; body: string }) {
    return this.#http.send({
      method,
      path: `${this.#account.basePath}${path}`,
      headers: { authorization: `Bearer ${this.#account.apiKey}`, accept: 'application/json', ...extra?.headers },
      ...(extra === undefined ? {} : { body: extra.body }),
    });
  }

  #trouble(failure: HttpFailure): Outcome {
    return {
      kind: 'trouble',
      fault: { code: failure.code, message: this.#clean(failure.message) },
      retryAfterMs: null,
    };
  }

  #nonsense(answer: HttpAnswer): Outcome {
    const type = answer.headers['content-type'] ?? 'no content type';
    return this.#invalid(
      `HTTP ${answer.status} with a body that can't be used (${type}, ${answer.text.length} characters).`,
    );
  }

  #invalid(message: string, code = 'invalid_answer'): Outcome {
    return { kind: 'trouble', fault: { code, message: this.#clean(message) }, retryAfterMs: null };
  }

  #fault(answer: HttpAnswer, body: JsonObject | null): Fault {
    return (
      this.#errorOf(body, `http_${answer.status}`) ?? {
        code: `http_${answer.status}`,
        message: `HTTP ${answer.status}`,
      }
    );
  }

  /** Why a job failed, as its status document tells it. */
  #statusFault(body: JsonObject): Fault | undefined {
    return (
      this.#errorOf(body, 'provider_error') ?? this.#errorOf(isObject(body.data) ? body.data : null, 'provider_error')
    );
  }

  #errorOf(body: JsonObject | null, fallbackCode: string): Fault | undefined {
    const error = body?.error;
    if (body === null || !isObject(error)) return undefined;
    const code = typeof error.code === 'string' && /^[\w.-]{1,64}$/.test(error.code) ? error.code : fallbackCode;
    const requestId =
      typeof body.request_id === 'string' ? { providerRequestId: this.#clean(body.request_id, 100) } : {};
    return { code, message: this.#clean(typeof error.message === 'string' ? error.message : code), ...requestId };
  }

  /** One bounded line without control characters, and without our key should an answer echo it. */
  #clean(text: string, max = 500): string {
    const line = text.replaceAll(this.#account.apiKey, '[redacted]').replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ');
    return line.trim().slice(0, max);
  }
}

function accepted(body: JsonObject): Outcome | undefined {
  const providerJobId = jobIdOf(body);
  if (providerJobId === undefined || !safeSegment.test(providerJobId)) return undefined;
  const { verdict, word, hintMs, usage } = readStatus(body);
  const phase = verdict.kind === 'running' ? verdict.phase : 'queued';
  // A create that answers with an ended job is a replay: the status read that follows tells how it ended.
  const running = verdict.kind === 'running' && word !== undefined ? { word } : {};
  return { kind: 'accepted', providerJobId, phase, hintMs, ...running, ...(usage === undefined ? {} : { usage }) };
}

function unrecognised(word: string | undefined): Fault {
  return {
    code: 'unrecognised_end',
    message: `The provider ended the job with a status we do not know: ${word ?? 'none'}.`,
  };
}

/** The result document without its envelope; null when there is nothing in it. */
function resultOf(body: JsonObject): JobResult | null {
  const value = isObject(body.data) ? body.data : body;
  if (Object.keys(value).length === 0 || value.result === null || body.data === null) return null;
  return JSON.stringify(value).length > resultMax ? { value: null, truncated: true } : { value, truncated: false };
}

function jsonObject(answer: HttpAnswer): JsonObject | null {
  try {
    const value: unknown = JSON.parse(answer.text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
