import type { RouteKind } from '../api/route.ts';
import { JOB_STATES, type JobState } from '../job.ts';
import { advanceAll, type World } from '../world.ts';
import { type KeyReport, keyReport } from './key-log.ts';
import type { Observations, Percentiles } from './observations.ts';

/**
 * What the simulator saw from outside. `jobs`, `billedClips` and `usdMicros` come from the journal and live on over restarts;
 * everything else counts since this process started or was reset.
 */
export type SumeSimulatorReport = {
  jobs: Record<JobState | 'total', number>;
  /** Creates that made a new job: each is one clip that is paid for unless it is refunded later. */
  billedClips: number;
  usdMicros: { reserved: number; captured: number };
  createsReceived: number;
  /** Creates and cancels answered from a remembered idempotency key. */
  idempotentReplays: number;
  /** Status reads that came in, however they were answered. */
  providerReads: number;
  /** Reads that came before the wait suggested by the job's previous status answer had run out, counted from when that answer was sent. */
  earlyReads: number;
  worstEarlinessMs: number;
  /** Reads while another read of the same job was under way, or after its end had been told. */
  duplicateReads: number;
  refused429: { create: number; status: number; other: number };
  /** Arrival minus due time of the reads whose previous answer suggested a wait; negative when early. */
  latenessMs: Percentiles;
  requests: Partial<Record<RouteKind, number>>;
  perJob?: JobReads[];
  perKey?: KeyReport[];
};

type JobReads = {
  id: string;
  state: JobState;
  reads: number;
  earlyReads: number;
  duplicateReads: number;
  worstEarlinessMs: number;
  /** Unix milliseconds at which a status answer first told that the job has ended; null as long as none has. */
  endToldAtMs: number | null;
};

export function makeReport(world: World, seen: Observations, nowMs: number, detail: boolean): SumeSimulatorReport {
  advanceAll(world, nowMs);
  const jobs = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>;
  for (const job of world.jobs.values()) jobs[job.state] += 1;
  const usdMicros = { reserved: 0, captured: 0 };
  for (const workspace of world.workspaces.values()) {
    usdMicros.reserved += workspace.reservedMicros;
    usdMicros.captured += workspace.capturedMicros;
  }
  return {
    jobs: { ...jobs, total: world.jobs.size },
    billedClips: world.jobs.size,
    usdMicros,
    createsReceived: seen.createsReceived,
    idempotentReplays: seen.idempotentReplays,
    providerReads: seen.providerReads,
    earlyReads: seen.earlyReads,
    worstEarlinessMs: seen.worstEarlinessMs,
    duplicateReads: seen.duplicateReads,
    refused429: { ...seen.refused429 },
    latenessMs: seen.lateness.percentiles(),
    requests: { ...seen.requests },
    ...(detail && { perJob: perJob(world, seen), perKey: [...seen.keys].map(keyReport) }),
  };
}

function perJob(world: World, seen: Observations): JobReads[] {
  return [...world.jobs.values()].map((job) => {
    const log = seen.logs.get(job.id);
    return {
      id: job.id,
      state: job.state,
      reads: log?.reads ?? 0,
      earlyReads: log?.early ?? 0,
      duplicateReads: log?.duplicate ?? 0,
      worstEarlinessMs: log?.worstEarlinessMs ?? 0,
      endToldAtMs: log?.endToldAtMs ?? null,
    };
  });
}
