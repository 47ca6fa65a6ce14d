import type { Redis } from '@upstash/redis';
import type { BusyAccounts } from '../ports.ts';
import { asDueSetErrors } from './due-set-errors.ts';
import { busyKey } from './keys.ts';

/** Which accounts have work: one command for all of them, however many there are. */
export class UpstashBusyAccounts implements BusyAccounts {
  readonly #redis: Pick<Redis, 'smembers'>;
  readonly #key: string;
  readonly #token: string;

  /** `token` is the database's: kept out of every error. */
  constructor(redis: Pick<Redis, 'smembers'>, { stage, token }: { stage: string; token: string }) {
    this.#redis = redis;
    this.#key = busyKey(stage);
    this.#token = token;
  }

  async ids(): Promise<ReadonlySet<string>> {
    const members = await asDueSetErrors(this.#token, () => this.#redis.smembers(this.#key));
    return new Set((Array.isArray(members) ? members : []).map(String));
  }
}
