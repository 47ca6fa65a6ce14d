/**
 * `npm run cost`: writes docs/cost.md from the figures that are kept. With a file: takes the figures from that benchmark first.
 * With --check: writes nothing, and fails when the document is not what figures and prices say.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { BenchFigures } from '../figures.ts';
import { UsageError } from '../options.ts';
import { type CostFigures, costFiguresFrom } from './cost-figures.ts';
import { readDeployed } from './deployed.ts';
import { costDocument } from './document.ts';

const figuresFile = fileURLToPath(new URL('./cost-figures.json', import.meta.url));
const documentFile = fileURLToPath(new URL('../../../docs/cost.md', import.meta.url));
const usage = 'Usage: npm run cost -- [FILE | --check], FILE being what `npm run bench -- --json` wrote to stdout.';

function main(): number {
  const { file, check } = readArguments();
  if (file !== undefined) writeFileSync(figuresFile, `${JSON.stringify(figuresIn(file), null, 2)}\n`);
  const figures = JSON.parse(readFileSync(figuresFile, 'utf8')) as CostFigures;
  const wanted = costDocument(figures, readDeployed());
  if (!check) {
    writeFileSync(documentFile, wanted);
    return 0;
  }
  if (readFileSync(documentFile, 'utf8') === wanted) return 0;
  process.stderr.write('docs/cost.md is out of date: run "npm run generate" and commit the result.\n');
  return 1;
}

function readArguments(): { file: string | undefined; check: boolean } {
  try {
    const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true });
    const check = values.check ?? false;
    if (positionals.length > 1 || (check && positionals.length > 0)) throw new Error('Too much is asked for.');
    return { file: positionals[0], check };
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]?.replace(/\.?$/, '.')} ${usage}`);
  }
}

/** The last line of a benchmark's output is its JSON. */
function figuresIn(file: string): CostFigures {
  let bench: Partial<BenchFigures>;
  try {
    bench = JSON.parse(readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '') as Partial<BenchFigures>;
  } catch (error) {
    throw new UsageError(`${file} can't be read as a benchmark's JSON: ${(error as Error).message}. ${usage}`);
  }
  if (!Array.isArray(bench.runs)) throw new UsageError(`${file} is not a benchmark's JSON. ${usage}`);
  return costFiguresFrom(bench as BenchFigures, new Date().toISOString().slice(0, 10));
}

try {
  process.exitCode = main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
