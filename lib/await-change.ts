import { isActive, type Job } from './job.ts';
import type { Clock, JobStore } from './ports.ts';

export interface AwaitChangePorts {
  store: Pick<JobStore, 'get'>;
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
}

/** Between two looks at the record: short at first, for what changes at once, then longer. */
const firstGapMs = 500;
const gapGrowth = 1.25;
const gapMaxMs = 2_000;

/**
 * The job once it has changed, ended, `waitMs` are over or it may not be looked at any more, whichever comes first; as it was found when its record has gone.
 * Rejects with a JobStoreError.
 */
export async function awaitChange(
  { store, clock }: AwaitChangePorts,
  found: Job,
  { waitMs, isNews, mayLook }: { waitMs: number; isNews: (job: Job) => boolean; mayLook: () => Promise<boolean> },
): Promise<Job> {
  const endsAtMs = clock.monotonicMs() + waitMs;
  let job = found;
  for (let gapMs = firstGapMs; isActive(job.state) && !isNews(job); gapMs = Math.min(gapMs * gapGrowth, gapMaxMs)) {
    const leftMs = endsAtMs - clock.monotonicMs();
    if (leftMs <= 0 || !(await mayLook())) break;
    await clock.sleep(Math.min(gapMs, leftMs));
    job = (await store.get(job.id)) ?? job;
  }
  return job;
}
