import { JobStoreError, messageOf } from './errors.ts';
import { type Fault, isActive, type Job } from './job.ts';
import type { Call } from './ports.ts';
import { retryLater, type StepPorts, type StepResult, setAside, step } from './step.ts';

/*
 * A job that was claimed several times in a row and never settled may be what kills its drain. Or it was only in hand
 * beside the one that does; or the replies of Redis were lost, and no drain ever knew that it had it. So suspects are
 * worked one at a time, each marked in its record before. A suspect that is found marked was being worked, alone, when
 * its drain died: that one is put aside with a reason, out of the others' way.
 */

/** Claims in a row that make a suspect. */
export const suspectClaims = 3;
const parkedMs = 600_000;
const fault: Fault = { code: 'parked', message: 'Its drain died while it was being worked, several times in a row.' };

/** Its lane stays taken to the end: nothing else is to be under way in this drain's suspects. */
export async function stepSuspect(ports: StepPorts, job: Job, call: Call): Promise<StepResult> {
  if (job.suspectedAtMs !== undefined) {
    return { ...(await setAside(ports, trusted(job), fault, parkedMs)), parked: true };
  }
  const marked = await write(ports, { ...job, suspectedAtMs: ports.nowMs() });
  if (marked === null) return retryLater(ports);
  const result = await step(ports, marked, call, () => {});
  if (result.job === null) await clear(ports, marked);
  const left = result.job?.suspectedAtMs === undefined ? result.job : await write(ports, trusted(result.job));
  return { ...result, job: left };
}

/** After a step that did not come to its end, though its drain lives: the lease was lost, or a write failed. */
async function clear(ports: StepPorts, marked: Job): Promise<void> {
  try {
    const stored = await ports.store.get(marked.id);
    if (stored === null || !isActive(stored.state) || stored.suspectedAtMs !== marked.suspectedAtMs) return;
    await write(ports, trusted(stored));
  } catch (error) {
    if (!(error instanceof JobStoreError)) throw error;
    ports.log.warn('record_unread', { jobId: marked.id, error: messageOf(error) });
  }
}

/** The job without its mark: it has survived its step. */
function trusted({ suspectedAtMs: _, ...job }: Job): Job {
  return job;
}

/** The job as stored; null when it could not be written, or somebody else wrote it first. */
async function write(ports: StepPorts, job: Job): Promise<Job | null> {
  try {
    const written = await ports.store.update(job);
    return written.kind === 'updated' ? written.job : null;
  } catch (error) {
    if (!(error instanceof JobStoreError)) throw error;
    ports.log.warn('record_unwritten', { jobId: job.id, error: messageOf(error) });
    return null;
  }
}
