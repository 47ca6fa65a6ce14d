import { type ContenderName, contenderTitles, peers } from './contender-names.ts';
import type { BenchFigures, IdleFigures, RunFigures } from './figures.ts';
import type { GrowthFigures } from './growth.ts';
import type { ScenarioName } from './plan.ts';
import type { Target } from './targets.ts';

const scenarioTitles: Partial<Record<ScenarioName, string>> = {
  S1: 'S1 steady',
  S2: 'S2 saturation',
  S3: 'S3 crash',
  K1: 'K1 kills',
};

type Column = [title: string, value: (run: RunFigures) => number | null, betterIs?: 'less' | 'more'];

const columns: Column[] = [
  ['late p50 ms', (run) => run.latenessMs.p50, 'less'],
  ['p95', (run) => run.latenessMs.p95, 'less'],
  ['p99', (run) => run.latenessMs.p99, 'less'],
  ['max', (run) => run.latenessMs.max, 'less'],
  ['reads/s', (run) => run.readsPerSecond, 'more'],
  ['cmd/poll', (run) => run.redisCommandsPerPoll, 'less'],
  ['trips/poll', (run) => run.redisRoundTripsPerPoll, 'less'],
  ['CPU s/1k', (run) => run.cpuSecondsPer1000Polls, 'less'],
  ['Redis s/1k', (run) => run.redisCpuSecondsPer1000Polls, 'less'],
  ['peak MB', (run) => run.peakMegabytes, 'less'],
  ['DDB r/job', (run) => run.dynamoReadsPerJob],
  ['DDB w/job', (run) => run.dynamoWritesPerJob],
  ['early', (run) => run.early],
  ['dup', (run) => run.duplicate],
  ['lost', (run) => run.lost],
  ['foreign', (run) => run.foreignCores],
];
const recoveryColumn: Column = ['recovery s', (run) => (run.recoveryMs.max ?? 0) / 1000, 'less'];

/** The runs of one scenario at one concurrency as a text table, with Pollkeeper's ratios below it. Empty without runs. */
export function scenarioTable(runs: readonly RunFigures[]): string {
  const first = runs[0];
  if (first === undefined) return '';
  const shown = first.recoveryMs.count > 0 ? [recoveryColumn, ...columns] : columns;
  const head = `${scenarioTitles[first.scenario] ?? first.scenario}, ${first.jobs} jobs, ${first.concurrency} at a time`;
  const rows = runs.map((run) => [contenderTitles[run.contender], ...shown.map(([, value]) => show(value(run)))]);
  const ratios = [ratioRow(runs, shown, 'best peer'), ratioRow(runs, shown, 'limit')].filter((row) => row !== null);
  const notes = runs.flatMap((run) => [
    ...run.misbehaved.map((what) => `  ${contenderTitles[run.contender]}: ${what}; not compared with.`),
    ...(run.noisy
      ? [`  ${contenderTitles[run.contender]}: others used ${run.foreignCores} cores; don't trust its times.`]
      : []),
  ]);
  return [head, ...align([['', ...shown.map(([title]) => title)], ...rows, ...ratios]), ...notes].join('\n');
}

/** Pollkeeper over the best of the others in each column; null if there is nothing to compare. */
function ratioRow(runs: readonly RunFigures[], shown: readonly Column[], base: 'best peer' | 'limit'): string[] | null {
  const ours = runs.find(({ contender }) => contender === 'pollkeeper');
  const wanted: readonly ContenderName[] = base === 'limit' ? ['limit', 'floor'] : peers;
  const others = runs.filter((run) => wanted.includes(run.contender) && run.misbehaved.length === 0);
  if (ours === undefined || others.length === 0) return null;
  const cells = shown.map(([, value, betterIs]) => {
    const values = others.flatMap((run) => value(run) ?? []);
    const own = value(ours);
    if (betterIs === undefined || own === null || values.length === 0) return '';
    const bestOther = betterIs === 'less' ? Math.min(...values) : Math.max(...values);
    return bestOther > 0 ? `${show(own / bestOther)}×` : '';
  });
  return [`Pollkeeper / ${base === 'limit' ? contenderTitles[others[0]?.contender ?? 'limit'] : base}`, ...cells];
}

export function idleTable(idle: readonly IdleFigures[]): string {
  if (idle.length === 0) return '';
  const head = `S4 idle: ${idle[0]?.seconds} real seconds, told for ten minutes`;
  const rows = idle.map((one) => [
    `${contenderTitles[one.contender]}, ${one.waiting === 0 ? 'nothing there' : `${one.waiting} due in an hour`}`,
    show(one.redisCommandsPer10Minutes),
    show(one.redisRoundTripsPer10Minutes),
    show(one.cpuSecondsPer10Minutes),
    show(one.dynamoReadsPer10Minutes),
  ]);
  return [head, ...align([['', 'Redis commands', 'round trips', 'CPU s', 'DDB reads'], ...rows])].join('\n');
}

export function growthTable(growth: GrowthFigures): string {
  const rows = growth.sets.map((set) => [
    `${set.ids} ids in the set`,
    ...[set.exchangeMs.p50, set.exchangeMs.p99, set.bytesPerId, set.drainPeakMegabytes, set.latenessMs.p99].map(show),
  ]);
  const { sweep } = growth;
  const swept = sweep.complete ? 'complete' : 'NOT complete';
  return [
    'Growth: S1’s rate beside ids that are due later',
    ...align([['', 'exchange p50 ms', 'p99', 'Redis bytes/id', 'drain peak MB', 'late p99 ms'], ...rows]),
    `Sweep of ${sweep.active} active jobs (${sweep.store}): ${swept} in ${sweep.seconds} s, ${sweep.peakMegabytes} MB, ` +
      `${sweep.indexReads} index reads, ${sweep.recordReads} record reads, ${sweep.restored} restored.`,
    `The same with an empty due set: ${growth.rebuild.complete ? 'complete' : 'NOT complete'} in ${growth.rebuild.seconds} s, ` +
      `${growth.rebuild.peakMegabytes} MB, ${growth.rebuild.recordReads} record reads, ${growth.rebuild.restored} restored.`,
  ].join('\n');
}

export function smallFigures({ light, life, cold }: Pick<BenchFigures, 'light' | 'life' | 'cold'>): string {
  const lines: string[] = [];
  if (light !== null) {
    lines.push(
      `Light: a drain awake for one job, read every ${light.hintSeconds} s: ${show(light.redisCommandsPerSecond)} Redis commands, ` +
        `${show(light.redisRoundTripsPerSecond)} round trips and ${show(light.cpuMsPerSecond)} ms of CPU a second ` +
        `(${light.seconds} s, ${light.reads} reads, ${light.dynamoReads} DynamoDB reads).`,
    );
  }
  if (life !== null) {
    const { jobs, ended, pollsPerJob, dynamoWritesPerJob, dynamoReadsPerJob, redisCommandsPerSubmit } = life;
    lines.push(
      `Life of ${jobs} jobs from submit to end (${ended} ended, ${pollsPerJob} reads each): ` +
        `${dynamoWritesPerJob} DynamoDB writes and ${dynamoReadsPerJob} reads per job, ` +
        `${redisCommandsPerSubmit} Redis commands per submit.`,
    );
  }
  if (cold !== null) {
    const sizes = cold.functions.map(({ name, zipBytes }) => `${name} ${(zipBytes / 1024).toFixed(1)} KB`).join(', ');
    lines.push(
      `Cold start: drain loads in ${cold.drainImportMs} ms, the two clients alone in ${cold.clientsImportMs} ms ` +
        `(${cold.ratio}×, median of ${cold.runs}). Zipped: ${sizes}.${cold.grown.map((line) => ` ${line}!`).join('')}`,
    );
  }
  return lines.join('\n');
}

export function targetTable(targets: readonly Target[]): string {
  const rows = targets
    .filter(({ met }) => met !== null)
    .map(({ name, value, sense, bound, met }) => [
      name,
      show(value),
      `${sense} ${show(bound)}`,
      met ? 'met' : 'MISSED',
    ]);
  return rows.length === 0 ? '' : ['Targets', ...align(rows)].join('\n');
}

/** Three digits that matter. */
export function show(value: number | null): string {
  if (value === null) return '–';
  if (value === 0 || Number.isInteger(value)) return String(value);
  const places = Math.max(0, Math.min(4, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return value.toFixed(places);
}

export function align(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
