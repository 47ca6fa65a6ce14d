import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { messageOf } from '../../lib/errors.ts';
import { type Figures, type Measured, measure, type Shift, type Sides, toleranceShare } from './first-read/measure.ts';

/* `npm run first-read`: what the delayed first read saves, and what it does to how soon an end is known. */

class UsageError extends Error {}

const helpText = `Usage: npm run first-read -- [options]

Reads the same renders to their end twice, in virtual time, with the product's own decisions: ADAPTIVE_FIRST_READ off, then on.
Prints the status reads per completed job and how long after its end at the provider a job's end was known; then the same with
renders that become twice and five times as fast at half time.

  --jobs N   how many renders, 500 to 100,000 (default 2,000)
  --days N   over how many days they are spread, 2 to 30 (default 2)
  --seed S   which renders: a word; "random" for new ones (default 1)
  --json     one JSON line on stdout; the tables go to stderr
  --help     this text

Exit code 0: with the setting on fewer reads were made, and the p95 of the news is not worse (within ${toleranceShare * 100} %, about twice
what chance alone moves it). 1: not so. 2: it could not start.`;

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (options.help) {
    process.stdout.write(`${helpText}\n`);
    return 0;
  }
  const measured = await measure(options.seed, options.jobs, options.days);
  (options.json ? process.stderr : process.stdout).write(tables(measured));
  if (options.json) process.stdout.write(`${JSON.stringify(measured)}\n`);
  return measured.readsFell && measured.newsNotLater ? 0 : 1;
}

function readOptions(args: readonly string[]) {
  const values = parse(args);
  return {
    help: values.help ?? false,
    json: values.json ?? false,
    jobs: whole('--jobs', values.jobs ?? '2000', 500, 100_000),
    days: whole('--days', values.days ?? '2', 2, 30),
    seed: values.seed === 'random' ? String(randomInt(1_000_000)) : (values.seed ?? '1'),
  };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({ args: [...args], options: { help: flag, json: flag, jobs: text, days: text, seed: text } })
      .values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]?.replace(/\.?$/, '.')} See --help.`);
  }
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${name} is "${text}"; expected a whole number from ${least} to ${most}.`);
}

function tables({ seed, jobs, days, all, secondHalf, byKind, shifts, readsFell, newsNotLater }: Measured): string {
  const rows = [
    ['', 'jobs', 'reads per completed job', 'end → known, p50', 'p95', 'p99', 'max'],
    row('all', all),
    row('second half', secondHalf),
    ...byKind.map(({ kind, ...sides }) => row(kind, sides)),
    ...shifts.map((shift) => row(`${shift.times} times as fast since half time`, shift)),
  ];
  const widths = (rows[0] as string[]).map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const lines = rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [
    `${jobs} renders over ${days} days, seed ${seed}; each figure with the setting off → on, news in s`,
    ...lines,
    ...shifts.map(shiftLine),
    `Reads ${readsFell ? 'fell' : 'did NOT fall'}; the p95 of the news is ${newsNotLater ? 'not worse' : 'WORSE'}.`,
    '',
  ].join('\n');
}

function row(title: string, { off, on }: Sides): string[] {
  const seconds = (of: (figures: Figures) => number) =>
    `${(of(off) / 1_000).toFixed(1)} → ${(of(on) / 1_000).toFixed(1)}`;
  const less = off.readsPerCompleted === 0 ? 0 : 1 - on.readsPerCompleted / off.readsPerCompleted;
  return [
    title,
    String(on.jobs),
    `${off.readsPerCompleted.toFixed(2)} → ${on.readsPerCompleted.toFixed(2)} (${(-less * 100).toFixed(0)} %)`,
    seconds(({ newsP50Ms }) => newsP50Ms),
    seconds(({ newsP95Ms }) => newsP95Ms),
    seconds(({ newsP99Ms }) => newsP99Ms),
    seconds(({ newsMaxMs }) => newsMaxMs),
  ];
}

function shiftLine({ times, backAfterMs, lateJobs }: Shift): string {
  const back =
    backAfterMs === 0
      ? 'the p95 never left its range'
      : `the p95 was back after ${Math.round(backAfterMs / 60_000)} minutes`;
  return `Renders suddenly ${times} times as fast: ${lateJobs} ends were known late, ${back}.`;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof UsageError ? error.message : messageOf(error)}\n`);
    process.exitCode = 2;
  },
);
