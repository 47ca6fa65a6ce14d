import { acceptedJob, enter, type Job } from '../../lib/job.ts';
import { benchAccount } from './bench-names.ts';
import { jobIdOf, providerIdOf } from './job-names.ts';

/** The record of job n as it stands between two reads: accepted by the provider, in work. */
export function runningJob(job: number, nowMs: number): Job {
  const fresh = acceptedJob(
    {
      id: jobIdOf(job),
      owner: 'bench',
      account: benchAccount,
      input: {
        model: 'seedance-2-mini',
        prompt: 'a lighthouse at dusk, waves, slow pan',
        duration: 8,
        resolution: '720p',
      },
      fingerprint: 'f'.repeat(64),
      metadata: {},
      deadlineAtMs: nowMs + 86_400_000,
    },
    nowMs,
  );
  const sent = enter(enter(fresh, 'submitting', nowMs), 'queued', nowMs, 'queued');
  const running = enter(sent, 'processing', nowMs, 'processing');
  return {
    ...running,
    // Nobody listens to it.
    events: running.events.map(({ pending: _, ...event }) => event),
    providerJobId: providerIdOf(job),
    providerStatus: 'processing',
    submittedAtMs: nowMs,
    revision: 4,
  };
}
