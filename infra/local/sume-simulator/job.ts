/** The words a job's state is told in; the last four are final. */
export const JOB_STATES = ['queued', 'processing', 'completed', 'failed', 'canceled', 'expired'] as const;
export type JobState = (typeof JOB_STATES)[number];

export const JOB_TYPE = 'video_generation';

/** One render. Times are Unix milliseconds, already scaled by the time scale the job was created under. */
export type Job = {
  readonly id: string;
  readonly workspace: string;
  /** Place in the order of creation, over all workspaces, from 0. */
  readonly number: number;
  readonly model: string;
  readonly durationSeconds: number;
  readonly resolution: string;
  /** The create body exactly as it came, fields nobody knows included. */
  readonly input: Record<string, unknown>;
  readonly priceMicros: number;
  readonly createdAtMs: number;
  /** How it will end if nobody interferes, and how long after it started. */
  readonly fate: 'completed' | 'failed';
  readonly renderMs: number;
  state: JobState;
  startedAtMs: number | null;
  /** When the render will be over; null while it waits in the queue. */
  endsAtMs: number | null;
  /** When it reached its final state. */
  endedAtMs: number | null;
};

export function isTerminal(state: JobState): boolean {
  return state !== 'queued' && state !== 'processing';
}

type UsageStatus = 'reserved' | 'captured' | 'refunded';

/** Money follows the state: held from the create on, taken at success, given back at any other end. */
export function usageStatus(state: JobState): UsageStatus {
  if (!isTerminal(state)) return 'reserved';
  return state === 'completed' ? 'captured' : 'refunded';
}

type JobEvent = { type: string; atMs: number; summary: string };

/** The job's life so far, oldest first. */
export function jobEvents(job: Job): JobEvent[] {
  const events: JobEvent[] = [
    { type: 'job.created', atMs: job.createdAtMs, summary: 'Job accepted.' },
    { type: 'usage.reserved', atMs: job.createdAtMs, summary: 'Price reserved.' },
  ];
  if (job.startedAtMs !== null) {
    events.push({ type: 'job.processing', atMs: job.startedAtMs, summary: 'Render started.' });
  }
  if (job.endedAtMs !== null) {
    events.push({ type: `job.${job.state}`, atMs: job.endedAtMs, summary: `Job ${job.state}.` });
    const usage = usageStatus(job.state);
    events.push({ type: `usage.${usage}`, atMs: job.endedAtMs, summary: `Price ${usage}.` });
  }
  return events;
}
