import { type Excuse, reasonOf } from './excuses.ts';
import { epochMs } from './scheduler.ts';
import type { SimResult } from './simulate.ts';

const shownLines = 60;

/** Several runs as one. */
export interface SimTotals {
  seeds: number;
  steps: number;
  virtualMs: number;
  jobs: number;
  clips: number;
  excused: Partial<Record<Excuse, number>>;
  seen: Record<string, number>;
}

export function noTotals(): SimTotals {
  return { seeds: 0, steps: 0, virtualMs: 0, jobs: 0, clips: 0, excused: {}, seen: {} };
}

export function addTo(totals: SimTotals, run: SimResult): void {
  totals.seeds++;
  for (const name of ['steps', 'virtualMs', 'jobs', 'clips'] as const) totals[name] += run[name];
  addCounts(totals.excused, run.excused);
  addCounts(totals.seen, run.seen);
}

function addCounts(to: Record<string, number>, from: Record<string, number>): void {
  for (const [key, count] of Object.entries(from)) to[key] = (to[key] ?? 0) + count;
}

export function totalsText({ seeds, steps, virtualMs, jobs, clips, excused }: SimTotals): string {
  const hours = (virtualMs / 3_600_000).toFixed(1);
  const first = `${seeds} ${seeds === 1 ? 'seed' : 'seeds'}, ${steps} steps, ${hours} hours of virtual time, ${jobs} jobs, ${clips} clips`;
  const names = (Object.keys(excused) as Excuse[]).sort();
  const lines = names.map((name) => `  excused: ${name} (${excused[name]}). ${reasonOf(name)}`);
  return [first, ...lines].join('\n');
}

/** What was broken, where, and how it came to it. */
export function violationText({ violation, trace }: SimResult): string {
  if (violation === null) return '';
  const { invariant, detail, step, atMs } = violation;
  const at = `step ${step}, ${((atMs - epochMs) / 1_000).toFixed(4)} s`;
  return [...trace.slice(-shownLines), '', `Broken at ${at}: ${invariant}`, `  ${detail}`].join('\n');
}
