import type { FanoutFigures, FanoutRow } from './fanout.ts';
import { align, show } from './tables.ts';

const columns: [title: string, value: (row: FanoutRow) => number | null][] = [
  ['reads/s', (row) => row.readsPerSecond],
  ['× one process', (row) => row.ratioToOne],
  ['× ideal', (row) => row.idealRatio],
  ['late p50 ms', (row) => row.latenessMs.p50],
  ['CPU s/1k', (row) => row.cpuSecondsPer1000Polls],
  ['dup', (row) => row.duplicate],
  ['early', (row) => row.early],
  ['lost', (row) => row.lost],
  ['cores busy', (row) => row.coresBusy],
  ['foreign', (row) => row.foreignCores],
];

export function fanoutTable(figures: FanoutFigures): string {
  const { rows, answerMs } = figures;
  const [first] = rows;
  if (first === undefined) return '';
  const lines = rows.map((row) => [titleOf(row.processes), ...columns.map(([, value]) => show(value(row)))]);
  const notes = rows.flatMap((row) => [
    ...(row.coresSpent ? [`  ${titleOf(row.processes)}: the cores are spent; its ratio says nothing.`] : []),
    ...(row.noisy
      ? [`  ${titleOf(row.processes)}: others used ${row.foreignCores} cores; don't trust its times.`]
      : []),
    ...row.misbehaved.map((what) => `  ${titleOf(row.processes)}: ${what}.`),
  ]);
  return [
    `Fan-out, ${first.jobs} jobs due at once, answers of ${answerMs} ms, ${first.concurrency} at a time in each process`,
    ...align([['', ...columns.map(([title]) => title)], ...lines]),
    ...notes,
    ...lateDrainLines(figures),
  ].join('\n');
}

function titleOf(processes: number): string {
  return processes === 1 ? '1 process' : `${processes} processes`;
}

function lateDrainLines({ late: { run, helpers } }: FanoutFigures): string[] {
  const helped = helpers.reduce((sum, { steps }) => sum + steps, 0);
  const each = helpers.map(
    ({ askedAtSeconds, leftAtSeconds, ended, steps }) =>
      `  asked for after ${show(askedAtSeconds)} s, ${steps} reads, ` +
      (leftAtSeconds === null ? 'did not leave' : `left after ${show(leftAtSeconds)} s (${ended})`),
  );
  return [
    `A late drain: helpers asked for: ${helpers.length}, ${helped} of ${run.reads} reads by them, the last one ${show(run.lastsSeconds)} s after the first was due; ` +
      `late at first p50 ${show(run.firstReadLatenessMs.p50)} ms, ${run.duplicate} duplicate, ${run.early} early, ${run.lost} lost`,
    ...each,
  ];
}
