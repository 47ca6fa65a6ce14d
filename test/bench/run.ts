/**
 * The benchmark: `npm run bench`. Runs the scenarios in turn, prints a table for each, draws the whole, and with --json ends
 * in one line of JSON with every figure and `targetsMissed`.
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { drawChart } from './chart.ts';
import { checkMachine } from './check-machine.ts';
import { buildAll, writeBaseline } from './cold-start.ts';
import { helpText, readOptions, UsageError } from './options.ts';
import { runScenarios } from './run-scenarios.ts';
import { targetTable } from './tables.ts';
import { evaluateTargets, targetsMissed } from './targets.ts';

// The SDK's warning about Node 20 says nothing about the figures, and would stand in the middle of the tables.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

// An orderly exit takes Redis along; the other processes end with their channel.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  const out = options.json ? process.stderr : process.stdout;
  const print = (text: string) => void (text !== '' && out.write(`${text}\n\n`));
  if (options.help) {
    process.stdout.write(`${helpText}\n`);
    return 0;
  }
  if (options.writeBaseline) {
    await writeBaseline(await buildAll());
    return 0;
  }
  await checkMachine(options);
  const figures = await runScenarios(options, { print, say: (line) => void process.stderr.write(`${line}\n`) });
  const targets = evaluateTargets(figures);
  const missed = targetsMissed(targets);
  print(targetTable(targets));
  const noisy = [...figures.runs, ...(figures.fanout?.rows ?? [])].some((run) => run.noisy);
  if (noisy)
    print('The machine was too noisy: other programs used more than 0.2 cores. Measure again when it is quiet.');
  if (options.quick) print('These were small numbers: they show that it works, not how well.');
  const svg = resolve(options.svg);
  writeFileSync(svg, drawChart(figures));
  print(`Drawn in ${svg}.`);
  if (options.json) process.stdout.write(`${JSON.stringify({ ...figures, noisy, targets, targetsMissed: missed })}\n`);
  return (figures.cold?.grown.length ?? 0) > 0 ? 1 : 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  },
);
