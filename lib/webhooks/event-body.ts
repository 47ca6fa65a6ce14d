import type { Batch } from '../batch.ts';
import { type JobEvent, stateToldBy } from '../event.ts';
import { batchView } from '../http/batch-view.ts';
import { isoOrNull } from '../http/iso.ts';
import { jobView } from '../http/job-view.ts';
import type { Job } from '../job.ts';
import { bodyMax } from './delivery.ts';

/*
 * What is sent of an event: its type and time, and the job or the batch as the API shows it, never larger than `bodyMax`. It
 * is made once, and kept; every attempt sends the same bytes.
 */

/** The job in the state of its event. What does not fit is left out, the result first; `links.self` leads to it. */
export function jobEventBody(job: Job, event: Pick<JobEvent, 'type' | 'atMs'>): string {
  const whole = { ...jobView(job), state: stateToldBy(event.type) };
  const cut = [
    { result: null, result_truncated: whole.result_truncated || whole.result !== null },
    { input: null },
    { history: [] },
    { metadata: {} },
  ];
  let data: object = whole;
  for (const less of cut) {
    if (fits(bodyOf(event, data))) break;
    data = { ...data, ...less };
  }
  return bodyOf(event, data);
}

/** The batch as it ended; its jobs' ids only if all of them fit. `links.jobs` leads to them. */
export function batchEventBody(batch: Batch, jobIds: readonly string[]): string {
  const event = { type: 'batch.completed', atMs: batch.completedAtMs };
  const view = batchView(batch, batch.counts ?? {});
  const whole = bodyOf(event, { ...view, job_ids: jobIds, job_ids_truncated: false });
  return fits(whole) ? whole : bodyOf(event, { ...view, job_ids: null, job_ids_truncated: true });
}

function bodyOf({ type, atMs }: { type: string; atMs: number | undefined }, data: object): string {
  return JSON.stringify({ type, timestamp: isoOrNull(atMs), data });
}

function fits(body: string): boolean {
  return Buffer.byteLength(body) <= bodyMax;
}
