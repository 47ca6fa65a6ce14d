import { type AccountFigures, criteria, type OwnerFigures, type Refusals, type Verdict } from './judge.ts';
import { limits } from './plan.ts';

/** The figures for people: one table by account, one by owner, and what did not hold. */
export function verdictLines(verdict: Verdict): string[] {
  const accountHead = [
    'account',
    'jobs',
    'slots used',
    'at most',
    'reads/min',
    'creates/min',
    'creates refused',
    'reads refused',
  ];
  const ownerHead = ['owner', 'jobs', 'completed', 'wait p50', 'wait worst', 'worst in rounds'];
  const { submitted, completed, billed, failed } = verdict;
  return [
    '',
    ...table([accountHead, ...verdict.accounts.map(accountRow)]),
    '',
    ...table([ownerHead, ...verdict.owners.map(ownerRow)]),
    '',
    '  Slots used: of those that could be, while anything waited, after the first minute. Refused: in all (after the first',
    '  minute). Rounds: others admitted while a job was first in its owner’s line, by the owners who then waited.',
    `  ${completed} of ${submitted} jobs completed; ${billed} renders billed.`,
    failed.length === 0 ? '  All of it held.' : `  Did not hold: ${failed.map((name) => criteria[name]).join('; ')}.`,
  ];
}

function accountRow({ id, jobs, slotsUsed, mostInFlight, perMinuteMost, ...refused }: AccountFigures): string[] {
  return [
    id,
    String(jobs),
    slotsUsed === null ? '–' : `${(Math.floor(slotsUsed * 1000) / 10).toFixed(1)} %`,
    `${mostInFlight} of ${limits.maxInFlight}`,
    `${perMinuteMost.reads} of ${limits.readsPerMinute}`,
    `${perMinuteMost.creates} of ${limits.createsPerMinute}`,
    refusals(refused.createsRefused),
    refusals(refused.readsRefused),
  ];
}

function ownerRow({ owner, jobs, completed, waitSeconds, worstRounds }: OwnerFigures): string[] {
  const seconds = (value: number | undefined) => (value === undefined ? '–' : `${value.toFixed(1)} s`);
  return [
    owner,
    String(jobs),
    String(completed),
    seconds(waitSeconds?.median),
    seconds(waitSeconds?.worst),
    worstRounds === null ? '–' : (Math.ceil(worstRounds * 100) / 100).toFixed(2),
  ];
}

function refusals({ total, afterFirstMinute }: Refusals): string {
  return `${total} (${afterFirstMinute})`;
}

/** The first column to the left, the others to the right. */
function table(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map(
    (row) =>
      `  ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('   ')}`,
  );
}
