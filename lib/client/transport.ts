import { PollkeeperError } from './error.ts';
import { type Answer, readAnswer } from './read-answer.ts';
import { type Runtime, timerMaxMs } from './runtime.ts';

/** One call of the API, which may take several requests. */
export interface Call {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** From `/`, without a query. */
  path: string;
  /** What is undefined is left out. */
  query?: Readonly<Record<string, string | number | undefined>>;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  signal?: AbortSignal;
  /** In place of the client's: bounds one request, ms. */
  timeoutMs?: number;
  /** In place of the client's. */
  retries?: number;
  /**
   * Of a call that does something twice when it is sent twice: it is repeated only after a 429, which says that
   * nothing was done.
   */
  once?: boolean;
}

export interface Reply {
  status: number;
  headers: Headers;
  /** Parsed; null when there is none. */
  body: unknown;
}

export interface TransportOptions {
  /** Without a slash at its end. */
  baseUrl: string;
  token: string;
  retries: number;
  timeoutMs: number;
}

const backoffFirstMs = 500;
const backoffMaxMs = 20_000;
/** A service that asks for more is not waited for: the caller should decide. */
const retryAfterMaxMs = 60_000;

/** Sends calls, each again while that may help. */
export class Transport {
  readonly runtime: Runtime;
  readonly #options: TransportOptions;

  constructor(options: TransportOptions, runtime: Runtime) {
    this.#options = options;
    this.runtime = runtime;
  }

  /** Throws a PollkeeperError, or the signal's reason once it is aborted. */
  async send(call: Call): Promise<Reply> {
    const retries = call.retries ?? this.#options.retries;
    for (let requests = 1; ; requests++) {
      call.signal?.throwIfAborted();
      try {
        const answer = await this.#request(call);
        const { status, headers } = answer;
        return { status, headers, body: readAnswer(answer, this.runtime.nowMs()) };
      } catch (error) {
        call.signal?.throwIfAborted();
        if (!(error instanceof PollkeeperError)) throw error;
        if (requests > retries || !mayRepeat(call, error)) throw this.#withoutToken(error);
        await this.runtime.sleep(this.delayMs(requests, error), call.signal);
      }
    }
  }

  /** How long to wait after the nth failure in a row: as told, else twice as long each time, half of it by chance. */
  delayMs(failures: number, { retryAfterMs }: PollkeeperError): number {
    const longest = Math.min(backoffMaxMs, backoffFirstMs * 2 ** (failures - 1));
    const backoffMs = longest * (0.5 + this.runtime.random() / 2);
    return retryAfterMs === undefined ? backoffMs : retryAfterMs + this.runtime.random() * backoffFirstMs;
  }

  async #request({ method, path, query, headers, body, signal, timeoutMs }: Call): Promise<Answer> {
    const { baseUrl, token, timeoutMs: usualTimeoutMs } = this.#options;
    const limit = new AbortController();
    const stop = () => limit.abort();
    const deadlineMs = timeoutMs ?? usualTimeoutMs;
    const timer = setTimeout(stop, Math.min(deadlineMs, timerMaxMs));
    signal?.addEventListener('abort', stop);
    try {
      const response = await this.runtime.fetch(`${baseUrl}${path}${queryText(query)}`, {
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: limit.signal,
        // The token goes nowhere else. Not `error`: edge runtimes do not know it.
        redirect: 'manual',
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      if (limit.signal.aborted) throw failure('timeout', `No answer came within ${deadlineMs} ms.`);
      throw failure('network_error', `The request failed: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }

  /** A proxy, or a fetch of the caller's own, may tell in its errors what it was sent. */
  #withoutToken(error: PollkeeperError): PollkeeperError {
    const { token } = this.#options;
    const texts = JSON.stringify([error.message, error.code, error.field, error.requestId, error.problem]);
    if (!texts.includes(JSON.stringify(token).slice(1, -1))) return error;
    const { status, retryable } = error;
    return new PollkeeperError(error.message.replaceAll(token, '[token]'), {
      status,
      code: 'answer_invalid',
      retryable,
    });
  }
}

function failure(code: 'timeout' | 'network_error', message: string): PollkeeperError {
  return new PollkeeperError(message, { status: null, code, retryable: true });
}

function mayRepeat({ once = false }: Call, { retryable, status, retryAfterMs = 0 }: PollkeeperError): boolean {
  return retryable && retryAfterMs <= retryAfterMaxMs && (!once || status === 429);
}

function queryText(query: Call['query'] = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
}
