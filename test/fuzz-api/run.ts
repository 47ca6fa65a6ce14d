/** Fuzzes the API from its OpenAPI document: `npm run fuzz-api`. Prints its seed first; --help tells the rest. */
import { randomInt } from 'node:crypto';
import { UsageError } from '../support/command-line.ts';
import { readDocument } from './document.ts';
import { type FuzzFigures, fuzz } from './fuzz.ts';
import { helpText, readOptions } from './options.ts';
import { startStage } from './stage.ts';

const progressEveryMs = 5_000;

// An orderly exit takes Redis along.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), randomInt(2 ** 31));
  if (options.help) {
    process.stdout.write(helpText);
    return 0;
  }
  const out = options.json ? process.stderr : process.stdout;
  const { requests, seed } = options;
  out.write(`seed ${seed}, ${requests} requests\n`);
  const stage = await startStage();
  try {
    const startedAtMs = performance.now();
    let toldAtMs = startedAtMs;
    const progress = (done: number) => {
      const nowMs = performance.now();
      if (nowMs - toldAtMs < progressEveryMs) return;
      toldAtMs = nowMs;
      process.stderr.write(`${done} of ${requests}, ${Math.round(done / ((nowMs - startedAtMs) / 1_000))} a second\n`);
    };
    const figures = await fuzz(stage, readDocument(), { requests, seed, progress });
    for (const line of summaryLines(figures)) out.write(`${line}\n`);
    if (options.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
    return figures.ok ? 0 : 1;
  } finally {
    await stage.close();
  }
}

function summaryLines({ requests, seed, byStatus, byCode, unreached, faults, faultCount, ok }: FuzzFigures): string[] {
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  return [
    `${requests} requests. By status: ${list(byStatus)}.`,
    `Refused as: ${list(byCode)}.`,
    ...(unreached.length === 0 ? [] : [`Never answered well: ${unreached.join(', ')}.`]),
    ...faults.map(
      ({ nth, fault, request, status, answer }) =>
        `\nRequest ${nth}, status ${status}: ${fault}\n  ${request}\n  ${answer}`,
    ),
    ok
      ? 'Nothing was wrong.'
      : `\n${faultCount} faults. Again: npm run fuzz-api -- --seed ${seed} --requests ${requests}`,
  ];
}

main()
  .catch((error: unknown) => {
    const known = error instanceof UsageError;
    process.stderr.write(`${known ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
    return 2;
  })
  // What is written to a pipe may still be on its way when a process is told to exit at once.
  .then((code) => process.stdout.write('', () => process.stderr.write('', () => process.exit(code))));
