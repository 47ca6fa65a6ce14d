import type { Batch } from '../batch.ts';
import type { JobState } from '../job.ts';
import { isoOrNull } from './iso.ts';

/** A batch as the API shows it; `counts` are its jobs by state. */
export function batchView(batch: Batch, counts: Partial<Record<JobState, number>>) {
  const name = encodeURIComponent(batch.name);
  return {
    id: batch.id,
    name: batch.name,
    state: batch.completedAtMs === undefined ? 'open' : 'completed',
    jobs: Object.values(counts).reduce((sum, count) => sum + count, 0),
    counts,
    created_at: isoOrNull(batch.createdAtMs),
    completed_at: isoOrNull(batch.completedAtMs),
    links: { self: `/v1/batches/${name}`, jobs: `/v1/jobs?batch=${name}` },
  };
}
