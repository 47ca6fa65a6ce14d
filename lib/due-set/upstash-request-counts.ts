import type { Redis } from '@upstash/redis';
import { DueSetError } from '../errors.ts';
import type { RequestCounts } from '../request-limit.ts';
import { asDueSetErrors } from './due-set-errors.ts';
import { requestsKey } from './keys.ts';

/** Longer than a window and what clocks may be apart. */
const keptMs = 180_000;

/** One request a call, of two commands. The client's timeout is the call's. */
export class UpstashRequestCounts implements RequestCounts {
  readonly #redis: Pick<Redis, 'pipeline'>;
  readonly #stage: string;
  readonly #token: string;

  /** `token`, the database's, is kept out of every error. */
  constructor(redis: Pick<Redis, 'pipeline'>, { stage, token }: { stage: string; token: string }) {
    this.#redis = redis;
    this.#stage = stage;
    this.#token = token;
  }

  async add(owner: string, window: number, count: number): Promise<number> {
    const key = requestsKey(this.#stage, owner, window);
    const pipeline = this.#redis.pipeline().incrby(key, count).pexpire(key, keptMs);
    const [reply] = await asDueSetErrors(this.#token, () => pipeline.exec<unknown[]>());
    const total = Number(reply ?? Number.NaN);
    if (!(total >= count)) throw new DueSetError('refused', 'Redis told a count that is none.');
    return total;
  }
}
