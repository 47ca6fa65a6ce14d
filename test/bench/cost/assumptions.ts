import { retentionMs } from '../../../lib/job-store/job-item.ts';

/*
 * What nothing of ours can measure: how renders are, and how long things take on Lambda. Each stands in docs/cost.md with its
 * reason. After a change here: `npm run generate`.
 */

export const assumed = {
  /** From the create to the end. */
  renderSeconds: 180,
  /** What the provider asks for, and what we wait without a hint. */
  hintSeconds: 15,
  /** By a client: the submit, and one read at the end. */
  apiRequestsPerRender: 2,
  /** A run with nothing to do: two TLS handshakes at worst, one round trip. */
  idleRunSeconds: 0.25,
  /** A warm run over the index. */
  sweepRunSeconds: 0.5,
  apiRunSeconds: 0.1,
  authorizeRunSeconds: 0.01,
  /** A record until it ends, and with its result; billed by whole KB. */
  recordKb: 1,
  endedRecordKb: 2,
  /** An ended job's record stays for so long. */
  retentionDays: retentionMs / 86_400_000,
  /** Entries written in the two indexes in a job's life: by owner once, and again with each of 4 new states; active put and deleted. */
  indexWrites: 7,
  /** In the log for each run of a function, Lambda's own three lines included. */
  logKbPerRun: 1,
  /** 7 of the drain, 4 of deliver, 3 of the sweep. */
  metrics: 14,
  /** Of the function that reads the status once in the other solutions: nearly all of it waiting for the answer. */
  pollRunSeconds: 0.2,
  pollMemoryGb: 0.125,
  /** Written by a durable function for each operation. */
  durableKbPerOperation: 1,
  /** Smallest that Express bills. */
  expressMemoryGb: 0.0625,
  /** Of an SQS trigger on an empty queue: five long polls of 20 s. */
  emptyReceivesPerMinute: 15,
  worker: { vcpu: 0.25, memoryGb: 0.5 },
} as const;

/** Renders a day that the document tells of. */
export const volumes = [10, 1_000, 100_000] as const;

export const minutesPerMonth = 43_800;
export const secondsPerMonth = minutesPerMonth * 60;
export const daysPerMonth = minutesPerMonth / 1440;
export const sweepsPerMonth = minutesPerMonth / 5;
/** A Lambda with so much memory has one whole core. */
export const memoryGbOfOneCore = 1769 / 1024;
