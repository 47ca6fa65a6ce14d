import type { ApiClient } from '../demo/api-client.ts';
import { Follower } from '../demo/follow.ts';
import type { SentJob } from './evidence.ts';
import { clipName, clipOf, type DemoOwner } from './plan.ts';

/** What one owner sends and hears, through the API and with the owner's own token. */
export class OwnerRun {
  readonly owner: DemoOwner;
  readonly #client: ApiClient;
  readonly #follower: Follower;
  /** By job id. */
  readonly #accepted = new Map<string, { clip: string; acceptedAtMs: number }>();

  constructor(owner: DemoOwner, client: ApiClient) {
    this.owner = owner;
    this.#client = client;
    this.#follower = new Follower(client);
  }

  /** Sends all jobs, some at a time. Rejects with the first that could not be sent. */
  async send(atATime = 8): Promise<void> {
    let next = 0;
    const sender = async () => {
      while (next < this.owner.jobs) {
        next += 1;
        const clip = clipName(this.owner.name, next);
        const job = await this.#client.submit(clip, clipOf(clip));
        this.#accepted.set(job.id, { clip, acceptedAtMs: Date.now() });
        this.#follower.add(job);
      }
    };
    await Promise.all(Array.from({ length: atATime }, sender));
  }

  /** Reads what became of those that have not ended. */
  refresh(): Promise<void> {
    return this.#follower.refresh();
  }

  get unfinished(): number {
    return this.#follower.unfinished().length;
  }

  sent(): SentJob[] {
    const incomplete = new Set(this.#follower.incomplete().map(({ id }) => id));
    return [...this.#accepted].map(([id, { clip, acceptedAtMs }]) => ({
      clip,
      owner: this.owner.name,
      acceptedAtMs,
      completed: !incomplete.has(id),
    }));
  }
}
