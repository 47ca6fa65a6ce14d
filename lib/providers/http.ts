import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync, inflateSync } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import { messageOf } from '../errors.ts';

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
}

/** Headers in lower case; of a repeated one the last value. */
export interface HttpAnswer {
  kind: 'answer';
  status: number;
  headers: Record<string, string>;
  text: string;
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
    if (request.method !== 'GET' || first.kind !== 'failure' || !first.deadSocket) return first;
    return this.#once(request);
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  #once(request: HttpRequest): Promise<Result> {
    return new Promise((resolve) => {
      const options: Dispatcher.DispatchOptions = { ...request, body: request.body ?? null };
      this.#pool.dispatch(options, new Collector(this.#limits, this.#monotonicMs, resolve));
    });
  }
}

class Collector implements Dispatcher.DispatchHandler {
  readonly #limits: HttpLimits;
  readonly #monotonicMs: () => number;
  readonly #done: (result: Result) => void;
  readonly #startedAtMs: number;
  #status = 0;
  #headers: Record<string, string> = {};
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(limits: HttpLimits, monotonicMs: () => number, done: (result: Result) => void) {
    this.#limits = limits;
    this.#monotonicMs = monotonicMs;
    this.#done = done;
    this.#startedAtMs = monotonicMs();
  }

  /** Its presence tells undici that this is a handler of the current kind. */
  onRequestStart(): void {}

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
    // Checked per part: a body that drips forever never runs into the limit between two parts.
    else if (this.#monotonicMs() - this.#startedAtMs > this.#limits.totalMs)
      controller.abort(new LimitError('timeout'));
  }

  onResponseEnd(): void {
    const body = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    try {
      const text = decoded(body, this.#headers['content-encoding'], this.#limits.bodyMax).toString('utf8');
      this.#done({ kind: 'answer', status: this.#status, headers: this.#headers, text });
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

  #fail(code: HttpFailure['code'], message: string, deadSocket = false): void {
    this.#done({ kind: 'failure', code, message, deadSocket, ...(this.#status === 0 ? {} : { status: this.#status }) });
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
