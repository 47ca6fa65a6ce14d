import { pendingEvents } from './event.ts';
import type { Audience } from './event-ports.ts';
import type { Job } from './job.ts';

/** What the writer of a job's record does for its events: before the write, and after it. */
export interface News extends Audience {
  /** Whoever makes out deliveries is told that the job has pending events. Never rejects: the sweep makes up for it. */
  announce(job: Job): Promise<void>;
}

/** The news of one run: each event is announced by it once, however often its job is met with it pending. */
export class RunNews {
  readonly #news: News;
  readonly #announced = new Set<string>();

  constructor(news: News) {
    this.#news = news;
  }

  address(job: Job): Job | Promise<Job> {
    return this.#news.address(job);
  }

  /** True when the job has news that this run has not announced: the one that wrote them may have died before it did. */
  isUntold(job: Job): boolean {
    return job.events.length > 0 && pendingEvents(job).some(({ id }) => !this.#announced.has(id));
  }

  async announce(job: Job): Promise<void> {
    if (!this.isUntold(job)) return;
    for (const { id } of pendingEvents(job)) this.#announced.add(id);
    await this.#news.announce(job);
  }
}
