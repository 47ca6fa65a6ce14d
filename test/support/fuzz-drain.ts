import { type DrainPorts, type DrainSettings, drain } from '../../lib/drain.ts';
import type { DrainReport } from '../../lib/drain-report.ts';
import { type Job, type JobState, needsCreate } from '../../lib/job.ts';
import type { Log } from '../../lib/log.ts';
import type { Outcome } from '../../lib/outcome.ts';

import { hourMs } from './jobs.ts';
import { memoryNotes } from './no-notes.ts';

/* What the properties over whole drains share. On a `JumpClock` thousands of them run in seconds. */

export const fuzzLease = { leaseMs: 10_000, aheadMs: 1_250 };
const fuzzSettings: DrainSettings = {
  ...{ concurrency: 4, createConcurrency: 2, tickMs: 1_000, leaseMs: fuzzLease.leaseMs, windowMs: 20_000 },
  ...{ stepMs: 5_000, exchangeMax: 3_900, helpersMax: 0, adaptiveFirstRead: true },
};

/** What one call said, of which job as it was then, and when. */
interface Heard {
  job: Job;
  outcome: Outcome;
  nowMs: number;
}

/** A drain of one window, and what it heard and logged. */
export interface FuzzDrain {
  report: DrainReport;
  heard: Heard[];
  events: string[];
}

type FuzzPorts = Pick<DrainPorts, 'dueSet' | 'store' | 'provider' | 'clock'>;

export async function runDrain(ports: FuzzPorts, settings: Partial<DrainSettings> = {}): Promise<FuzzDrain> {
  const { clock, provider } = ports;
  const heard: Heard[] = [];
  const events: string[] = [];
  const listen = (call: 'create' | 'read') => async (job: Job) => {
    const outcome = await provider[call](job);
    heard.push({ job, outcome, nowMs: clock.nowMs() });
    return outcome;
  };
  const note = (event: string) => void events.push(event);
  const log: Log = { info: note, warn: note, error: note };
  const listened = { create: listen('create'), read: listen('read') };
  const all = {
    ...ports,
    ...memoryNotes(),
    provider: listened,
    waker: { wake: async () => {} },
    random: () => 0.5,
    log,
  };
  const endsAtMs = clock.monotonicMs() + 60_000;
  const remainingMs = () => endsAtMs - clock.monotonicMs();
  const report = await drain(all, { ...fuzzSettings, ...settings }, remainingMs);
  return { report, heard, events };
}

/** The ends that docs/decide.md allows after this answer: a verdict of the provider's, or what our own deadline says. */
export function endsAllowed(job: Job, outcome: Outcome, nowMs: number): JobState[] {
  const lateMs = nowMs - Math.max(job.deadlineAtMs, job.rearmedAtMs ?? 0);
  const byDeadline: JobState[] = [];
  if (needsCreate(job) && nowMs >= job.deadlineAtMs) byDeadline.push('expired');
  if (job.state === 'overdue' && lateMs >= 72 * hourMs) byDeadline.push('given_up');
  if (job.state === 'submitting' && lateMs >= 78 * hourMs) byDeadline.push('given_up');
  return [...byVerdict(job, outcome, nowMs), ...byDeadline];
}

function byVerdict(job: Job, outcome: Outcome, nowMs: number): JobState[] {
  switch (outcome.kind) {
    case 'completed':
      if (outcome.result !== null) return ['completed'];
      return job.resultReads >= 4 ? ['failed'] : [];
    case 'ended':
      return [outcome.as];
    case 'missing':
      return job.missingReads >= 4 && nowMs - (job.missingSinceMs ?? nowMs) >= 600_000 ? ['lost'] : [];
    case 'refused':
      return needsCreate(job) && outcome.repeated !== true ? ['rejected'] : [];
    default:
      return [];
  }
}
