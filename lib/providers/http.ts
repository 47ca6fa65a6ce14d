import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync, inflateSync } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import { messageOf } from '../errors.ts';
import type { Call } from '../ports.ts';

/*
 * One HTTP call to a provider, with every limit that a stranger's answer needs: time to connect, to the headers,
 * between body parts and in all; a cap on the decoded body; no redirects. Uses undici's dispatch, its cheapest way:
 * a drain makes thousands of these calls.
 */

export interface HttpRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** What an earlier call of the same step has used of the time that both have together, ms. */
  usedMs?: number;
  call?: Call;
}

/** Headers in lower case; of a repeated one the last value. */
export interface HttpAnswer {
  kind: 'answer';
  status: number;
  headers: Record<string, string>;
  text: string;
  tookMs: number;
}

/** No usable answer. `status` is there when the headers had come. */
export interface HttpFailure {
  kind: 'failure';
  code: 'timeout' | 'connection' | 'too_large' | 'undecodable';
  message: string;
  status?: number;
  /** The socket died before any byte of an answer: most likely a kept-alive one that the server had closed. */
  deadSocket: boolean;
}

type Result = HttpAnswer | HttpFailure;

export interface HttpLimits {
  connectMs: number;
  /** In all, from sending to the last byte. */
  totalMs: number;
  /** Decoded body, bytes. */
  bodyMax: number;
}

export class HttpClient {
  readonly #pool: Pool;
  readonly #limits: HttpLimits;
  readonly #monotonicMs: () => number;

  /** `origin` is scheme, host and port; `connections` bounds the sockets. */
  constructor(origin: string, connections: number, limits: HttpLimits, monotonicMs: () => number) {
    this.#limits = limits;
    this.#monotonicMs = monotonicMs;
    this.#pool = new Pool(origin, {
      connections,
      allowH2: false,
      connect: { timeout: limits.connectMs },
      headersTimeout: limits.totalMs,
      bodyTimeout: Math.min(5_000, limits.totalMs),
      // Shorter than servers usually keep an idle socket: a drain's next minute starts on fresh ones.
      keepAliveTimeout: 4_000,
    });
  }

  /**
   * Never rejects. A read whose kept-alive socket turned out to be dead is repeated once, at once: the server closed
   * it before it saw the request.
   */
  async send(request: HttpRequest): Promise<Result> {
    const first = await this.#once(request);
    const repeatable = request.method === 'GET' && request.call?.lost !== true;
    return repeatable && first.kind === 'failure' && first.deadSocket ? this.#once(request) : first;
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  #once({ method, path, headers, body, usedMs, call }: HttpRequest): Promise<Result> {
    if (call?.lost === true) return Promise.resolve(notBegun);
    const totalMs = Math.max(this.#limits.totalMs - (usedMs ?? 0), lastCallMs);
    return new Promise((resolve) => {
      const collector = new Collector({ ...this.#limits, totalMs }, this.#monotonicMs, resolve);
      if (call !== undefined) call.abort = () => collector.expire();
      this.#pool.dispatch({ method, path, headers, body: body ?? null }, collector);
    });
  }
}

const notBegun: HttpFailure = {
  kind: 'failure',
  code: 'timeout',
  message: 'Not begun: the lease is lost.',
  deadSocket: false,
};

/** However much time the first call of a step took, the second gets this. */
const lastCallMs = 1_000;

class Collector implements Dispatcher.DispatchHandler {
  readonly #limits: HttpLimits;
  readonly #monotonicMs: () => number;
  readonly #startedAtMs: number;
  readonly #done: (result: Result) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #over = false;
  #status = 0;
  #headers: Record<string, string> = {};
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(limits: HttpLimits, monotonicMs: () => number, done: (result: Result) => void) {
    this.#limits = limits;
    this.#monotonicMs = monotonicMs;
    this.#startedAtMs = monotonicMs();
    this.#done = done;
    // Over everything: the wait for a connection, connecting, headers, a body that drips. undici's own limits are each
    // for one of these, and start anew with every informational answer.
    this.#timer = setTimeout(() => this.expire(), limits.totalMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new LimitError('timeout'));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) this.#headers[name] = Array.isArray(value) ? (value.at(-1) ?? '') : value;
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > this.#limits.bodyMax) controller.abort(new LimitError('too_large'));
  }

  onResponseEnd(): void {
    const body = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    try {
      const encoding = this.#headers['content-encoding']?.toLowerCase();
      this.#answer(decoded(body, encoding, this.#limits.bodyMax).toString('utf8'));
    } catch (error) {
      const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      this.#fail(tooLarge ? 'too_large' : 'undecodable', messageOf(error));
    }
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (error instanceof LimitError) {
      const { bodyMax, totalMs } = this.#limits;
      this.#fail(error.limit, `The answer passed the limit of ${bodyMax} bytes or ${totalMs} ms.`);
    } else if (code.endsWith('_TIMEOUT')) {
      this.#fail('timeout', messageOf(error));
    } else {
      const deadSocket = this.#status === 0 && ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(code);
      this.#fail('connection', messageOf(error), deadSocket);
    }
  }

  #answer(text: string): void {
    const tookMs = this.#monotonicMs() - this.#startedAtMs;
    this.#finish({ kind: 'answer', status: this.#status, headers: this.#headers, text, tookMs });
  }

  #fail(code: HttpFailure['code'], message: string, deadSocket = false): void {
    const unreadable = code === 'too_large' || code === 'undecodable';
    // A refusal is one whatever its body: status and headers say what to do.
    if (unreadable && this.#status >= 400) {
      this.#answer('');
    } else {
      const status = this.#status === 0 ? {} : { status: this.#status };
      this.#finish({ kind: 'failure', code, message, deadSocket, ...status });
    }
  }

  /** Ends the call now. */
  expire(): void {
    this.#fail('timeout', `No whole answer within ${this.#limits.totalMs} ms.`);
    this.#controller?.abort(new LimitError('timeout'));
  }

  #finish(result: Result): void {
    clearTimeout(this.#timer);
    if (!this.#over) this.#done(result);
    this.#over = true;
  }
}

class LimitError extends Error {
  readonly limit: 'too_large' | 'timeout';

  constructor(limit: LimitError['limit']) {
    super(limit);
    this.limit = limit;
  }
}

/** We ask for no encoding; one that comes all the same is undone under the same cap. */
function decoded(body: Buffer, encoding: string | undefined, bodyMax: number): Buffer {
  if (encoding === 'gzip' || encoding === 'x-gzip') return gunzipSync(body, { maxOutputLength: bodyMax });
  if (encoding === 'deflate') return inflateSync(body, { maxOutputLength: bodyMax });
  return body;
}
