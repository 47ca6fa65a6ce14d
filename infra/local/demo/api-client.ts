import { setTimeout as sleep } from 'node:timers/promises';

export interface ApiJob {
  id: string;
  state: string;
}

export interface ClipRequest {
  input: { model: string; prompt: string; duration: number; resolution: string };
  metadata: Record<string, string>;
}

export interface ApiClientOptions {
  /** Asked at each call. */
  url: () => string;
  token: string;
  /** Ends every call and every wait. */
  signal: AbortSignal;
  /** How long a call is repeated while the API is away or says 429 or 5xx. Default 45,000. */
  patienceMs?: number;
}

/** The API answered, and repeating the request would not help. */
class ApiRefusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What the demo needs of Pollkeeper's own HTTP API. A submit is repeated under the same key, so it never makes a second job. */
export class ApiClient {
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    this.#options = options;
  }

  submit(idempotencyKey: string, clip: ClipRequest): Promise<ApiJob> {
    const headers = { 'idempotency-key': idempotencyKey, 'content-type': 'application/json' };
    return this.#call('POST', '/v1/jobs', headers, JSON.stringify(clip));
  }

  list(query: {
    limit: number;
    state?: string;
    cursor?: string;
  }): Promise<{ jobs: ApiJob[]; next_cursor: string | null }> {
    const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    return this.#call('GET', `/v1/jobs?${text.join('&')}`);
  }

  /** Undefined if the API knows no such job. */
  async get(id: string): Promise<ApiJob | undefined> {
    try {
      return await this.#call<ApiJob>('GET', `/v1/jobs/${id}`);
    } catch (error) {
      if (error instanceof ApiRefusal && error.status === 404) return undefined;
      throw error;
    }
  }

  async #call<T>(method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<T> {
    const { signal, patienceMs = 45_000 } = this.#options;
    const deadlineMs = performance.now() + patienceMs;
    for (let waitMs = 200; ; waitMs = Math.min(2_000, waitMs * 2)) {
      const answer = await this.#once<T>(method, path, headers, body);
      if ('value' in answer) return answer.value;
      if (!answer.again || performance.now() + waitMs > deadlineMs) throw answer.error;
      await sleep(waitMs, undefined, { signal });
    }
  }

  async #once<T>(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string | undefined,
  ): Promise<{ value: T } | { error: Error; again: boolean }> {
    const { url, token, signal } = this.#options;
    try {
      const response = await fetch(url() + path, {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
        signal: AbortSignal.any([signal, AbortSignal.timeout(20_000)]),
        ...(body === undefined ? {} : { body }),
      });
      if (response.ok) return { value: (await response.json()) as T };
      const again = response.status >= 500 || response.status === 429;
      const message = `${method} ${path} was answered ${response.status}: ${(await response.text()).slice(0, 300)}`;
      return { error: new ApiRefusal(response.status, message), again };
    } catch (error) {
      signal.throwIfAborted();
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : `${error}`;
      return { error: new Error(`${method} ${path} failed: ${cause}`), again: true };
    }
  }
}
