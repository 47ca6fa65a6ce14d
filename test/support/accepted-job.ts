import { jobIdFor } from '../../lib/identify.ts';
import { enter, type Job } from '../../lib/job.ts';
import { isControl } from '../../lib/render-end.ts';
import { hourMs, jobWith, startMs } from './jobs.ts';

/** One of the control group, or one that is not; accepted by the provider at `atMs`. */
export function accepted(
  n: number,
  group: 'control' | 'others',
  atMs = startMs,
  state: 'queued' | 'processing' = 'processing',
): Job {
  let id = '';
  for (let i = 0; id === '' || isControl(id) !== (group === 'control'); i++) id = jobIdFor('acme', `${n}-${i}`);
  const sending = enter(jobWith({ id, deadlineAtMs: atMs + 24 * hourMs }), 'submitting', atMs);
  return enter({ ...sending, submittedAtMs: atMs, providerJobId: `p${n}` }, state, atMs, state);
}
