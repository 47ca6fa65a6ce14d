import type { Job } from '../../lib/job.ts';
import type { ClaimRecord } from './claim-record.ts';
import type { Excuse } from './excuses.ts';

/** The last answer about a job that a drain heard, and what has become of it. */
export interface Heard {
  /** When the call began, true time in ms. */
  readonly begunAtMs: number;
  /** True time, ms. */
  readonly atMs: number;
  /** The same moment on the set's clock. */
  readonly setAtMs: number;
  /** How long the provider asked not to be read. */
  readonly waitMs: number;
  readonly claim: ClaimRecord | undefined;
  /** The job as the call went out. */
  readonly state: Job['state'];
  unwritten: boolean;
  /** Since when the wait stands in the record, true time in ms. */
  notedAtMs: number | null;
  /** Redis has had an older due time of the job since, or none. */
  rolledBack: boolean;
  lost: boolean;
  resubmitted: boolean;
  /** Somebody who wanted it canceled made it due when the provider had been told of that. */
  pulled: boolean;
}

/** A drain's idea of Redis' time may be ahead by one slow round trip, and with it its idea of when the deadline comes. */
const deadlineSlackMs = 2_500;

/** True when a read may begin now: the time that the provider told is over, or the job's deadline has come since. */
export function isTime(heard: Heard, job: Job, nowMs: number, setNowMs: number): boolean {
  // Two clocks may part by a ten-thousandth.
  if (nowMs >= heard.atMs + heard.waitMs * 0.9999 - 1) return true;
  const wasAhead = job.deadlineAtMs > heard.setAtMs - deadlineSlackMs;
  return wasAhead && job.deadlineAtMs <= setNowMs + deadlineSlackMs;
}

/** Why a read comes too early, where that is known. `claimedAtMs`: when its drain claimed the job, true time. */
export function whyEarly(heard: Heard, claimedAtMs: number): Excuse | null {
  if (heard.rolledBack) return 'rolledBack';
  if (heard.pulled) return 'pulled';
  // Only a longer wait is in the record, for whoever claims the job next.
  if (heard.notedAtMs !== null && heard.notedAtMs <= claimedAtMs) return null;
  if (heard.lost && heard.resubmitted) return 'resubmitted';
  if (heard.lost && heard.unwritten) return 'forgotten';
  return heard.claim?.settledToMs === null ? 'unsettled' : null;
}
