import { Pool } from 'undici';

/** What a read tells. `waitMs` is null when the job has ended. */
export interface Status {
  waitMs: number | null;
}

/** The read as every contender but Pollkeeper makes it: undici's own request, over as many connections as may be in use. */
export class StatusReader {
  readonly #pool: Pool;

  constructor(url: string, connections: number) {
    this.#pool = new Pool(url, { connections });
  }

  /** Rejects when there is no whole answer. */
  async read(providerId: string): Promise<Status> {
    const { body } = await this.#pool.request({
      method: 'GET',
      path: `/v1/jobs/${providerId}/status`,
      headers: { authorization: 'Bearer bench', accept: 'application/json' },
    });
    const status = (await body.json()) as { terminal: boolean; next_poll_after_seconds: number | null };
    return { waitMs: status.terminal ? null : (status.next_poll_after_seconds ?? 15) * 1000 };
  }
}
