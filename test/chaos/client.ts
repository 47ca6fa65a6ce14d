import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiHosts } from './api-hosts.ts';

export interface JobView {
  id: string;
  state: string;
  finished_at: string | null;
  provider: { job_id: string | null };
  metadata: { job?: string };
  result: unknown;
}

/** An API that takes nothing for this long is broken. */
const patienceMs = 60_000;
const repeatAfterMs = 4_000;

/** A client as the README asks for: it repeats what was not answered, with the same key. */
export class Client {
  /** The id that each job got, by its number. */
  readonly accepted = new Map<number, string>();
  /** Jobs that got another id when they were submitted again. */
  readonly split = new Set<number>();
  retries = 0;
  readonly #api: ApiHosts;
  readonly #seed: string;
  readonly #signal: AbortSignal;

  constructor(api: ApiHosts, seed: string, signal: AbortSignal) {
    this.#api = api;
    this.#seed = seed;
    this.#signal = signal;
  }

  /** Every tenth job is submitted twice at once, and every tenth a second time after a while. */
  async submit(job: number): Promise<void> {
    const doubled = job % 10 === 3 ? [this.#submitOnce(job)] : [];
    await Promise.all([this.#submitOnce(job), ...doubled]);
    if (job % 10 !== 7) return;
    await sleep(repeatAfterMs, undefined, { signal: this.#signal });
    await this.#submitOnce(job);
  }

  /** Null for a job that there is not. */
  async view(id: string): Promise<JobView | null> {
    const { status, body } = await this.#send(`/v1/jobs/${id}`, {}, [200, 404]);
    return status === 404 ? null : (JSON.parse(body) as JobView);
  }

  /** The state of each job. */
  async states(): Promise<Map<string, string>> {
    const states = new Map<string, string>();
    for (let cursor = ''; ; ) {
      const { body } = await this.#send(`/v1/jobs?limit=100${cursor}`, {}, [200]);
      const page = JSON.parse(body) as { jobs: JobView[]; next_cursor: string | null };
      for (const { id, state } of page.jobs) states.set(id, state);
      if (page.next_cursor === null) return states;
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
    }
  }

  async #submitOnce(job: number): Promise<void> {
    const input = {
      model: 'seedance-2-mini',
      prompt: `lighthouse ${job}`,
      // Long ones take long to render, and are read again and again.
      duration: 24 + ((job * 7) % 37),
      resolution: '720p',
    };
    const { body } = await this.#send(
      '/v1/jobs',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': `${this.#seed}-${job}` },
        body: JSON.stringify({ input, metadata: { job: String(job) } }),
      },
      [202],
    );
    const { id } = JSON.parse(body) as JobView;
    if (this.accepted.has(job) && this.accepted.get(job) !== id) this.split.add(job);
    this.accepted.set(job, id);
  }

  async #send(path: string, init: RequestInit, good: readonly number[]): Promise<{ status: number; body: string }> {
    for (const endMs = performance.now() + patienceMs; ; this.retries++) {
      let fault: string;
      try {
        const answer = await this.#api.send(path, init);
        if (good.includes(answer.status)) return answer;
        fault = `${answer.status} ${answer.body}`;
        if (answer.status < 500) throw new RefusedError(`${path} was answered with ${fault}`);
      } catch (error) {
        if (error instanceof RefusedError) throw error;
        fault = String(error);
      }
      if (performance.now() > endMs) throw new Error(`${path} is not answered: ${fault}`);
      await sleep(100 + 300 * Math.random(), undefined, { signal: this.#signal });
    }
  }
}

class RefusedError extends Error {}
