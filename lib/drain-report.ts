import { noWork, type WorkCounts } from './work-counts.ts';

/** What a run did. Times in ms. */
export interface DrainReport extends WorkCounts {
  /**
   * `idle`: nothing due in the window. `window`: its time was over. `no_time`: it never began. `calm`: a helper with
   * nothing to help with. `covered`: another drain goes on for as long. `limit`: the due set's plan is used up.
   */
  ended: 'idle' | 'window' | 'no_time' | 'calm' | 'covered' | 'limit';
  ticks: number;
  claims: number;
  /** Now minus the oldest due time met, at most; the health of the whole. */
  dueLagMs: number;
  givenBack: number;
  /** Ticks with the account's circuit breaker open: the provider fails every job. */
  openTicks: number;
  failedExchanges: number;
  helpers: number;
}

/** What several drains did side by side: `window` when any of them ran to its end, the longest lag, and sums. */
export function sumOf(reports: readonly DrainReport[]): DrainReport {
  const sum: DrainReport = { ...noReport, ...noWork, ended: reports[0]?.ended ?? 'idle' };
  for (const { ended, dueLagMs, ...counts } of reports) {
    if (ended === 'window') sum.ended = ended;
    sum.dueLagMs = Math.max(sum.dueLagMs, dueLagMs);
    for (const [name, count] of Object.entries(counts)) sum[name as keyof typeof counts] += count;
  }
  return sum;
}

export const noReport = {
  ticks: 0,
  claims: 0,
  dueLagMs: 0,
  givenBack: 0,
  openTicks: 0,
  failedExchanges: 0,
  helpers: 0,
};
