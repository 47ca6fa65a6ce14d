import { jobStates } from '../../../lib/job.ts';
import type { Tally } from '../demo/follow.ts';

/** "queued 5 · processing 4 · completed 21": the states that hold any, in the order in which a job goes through them. */
function countsText(tally: Tally): string {
  const parts = jobStates.flatMap((state) => (tally.counts[state] ? [`${state} ${tally.counts[state]}`] : []));
  return parts.join(' · ') || 'no jobs';
}

/** Two lines for a terminal, never wider than it is: a bar, and the counts by state. */
export function progressLines(tally: Tally, elapsedMs: number, columns: number): string[] {
  const ended = tally.completed + tally.failed;
  const share = tally.total === 0 ? 0 : ended / tally.total;
  const label = ` ${ended}/${tally.total} done  ${Math.floor(elapsedMs / 1000)} s`;
  const width = Math.max(0, Math.min(40, columns - label.length - 3));
  const filled = Math.floor(share * width);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`;
  return [`  ${bar}${label}`, `  ${countsText(tally)}`].map((line) => line.slice(0, Math.max(0, columns - 1)));
}

/** One line where there is no terminal. */
export function progressLine(tally: Tally, elapsedMs: number): string {
  return `${String(Math.floor(elapsedMs / 1000)).padStart(4)} s  ${tally.completed + tally.failed}/${tally.total} done: ${countsText(tally)}`;
}
