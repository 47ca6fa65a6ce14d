/** The simulation: `npm run sim`. Prints its seed first; --help tells the rest. */
import { messageOf } from '../../lib/errors.ts';
import { startTestUpstash } from '../support/upstash.ts';
import { keepSeed } from './kept-seeds.ts';
import { helpText, readOptions, type SimOptions, UsageError } from './options.ts';
import { redisSide } from './redis-side.ts';
import { addTo, noTotals, totalsText, violationText } from './report.ts';
import { type MakeSetSide, memorySide } from './set-side.ts';
import { type SimResult, simulate } from './simulate.ts';

const progressEveryMs = 10_000;

// An orderly exit takes Redis along.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(`${helpText}\n`);
    return 0;
  }
  const out = options.json ? process.stderr : process.stdout;
  const print = (text: string) => void out.write(`${text}\n`);
  const adapter = options.redis ? 'redis' : 'memory';
  print(`seed ${options.seed}, ${options.steps} steps with faults, due set in ${options.redis ? 'Redis' : 'memory'}`);
  // An error that nobody caught would be the product's: nothing in it may throw past its own calls.
  process.on('uncaughtException', (error) => {
    print(`Uncaught, with the seed above or one that follows it: ${error.stack ?? messageOf(error)}`);
    process.exit(1);
  });
  const upstash = options.redis ? await startTestUpstash() : null;
  try {
    const makeSide = upstash === null ? memorySide : redisSide(upstash, 'sim');
    const { totals, failed, last } = await runSeeds(options, makeSide, print);
    print(totalsText(totals));
    if (failed === null)
      print(options.minutes === null ? `Everything held. History ${last?.digest}.` : 'Everything held.');
    else printFailure(failed, options, print);
    if (options.json) {
      const { seed, steps: stepsAsked } = options;
      const violation = failed && { seed: failed.seed, ...failed.violation };
      const digest = options.minutes === null ? { digest: last?.digest } : {};
      process.stdout.write(`${JSON.stringify({ seed, stepsAsked, adapter, ...totals, ...digest, violation })}\n`);
    }
    return failed === null ? 0 : 1;
  } finally {
    await upstash?.close();
  }
}

/** The seed, and with --minutes those that follow it, until the time is over or something is broken. */
async function runSeeds(options: SimOptions, makeSide: MakeSetSide, print: (text: string) => void) {
  const startedAtMs = performance.now();
  const endsAtMs = startedAtMs + (options.minutes ?? 0) * 60_000;
  const totals = noTotals();
  let toldAtMs = startedAtMs;
  for (let seed = options.seed; ; seed++) {
    const last = await simulate({ seed, steps: options.steps, makeSide });
    addTo(totals, last);
    const nowMs = performance.now();
    if (last.violation !== null) return { totals, failed: last, last };
    if (nowMs >= endsAtMs) return { totals, failed: null, last };
    if (nowMs - toldAtMs < progressEveryMs) continue;
    toldAtMs = nowMs;
    const perSecond = Math.round(totals.steps / ((nowMs - startedAtMs) / 1_000));
    print(`up to seed ${seed}: ${totals.seeds} seeds, ${totals.steps} steps, ${perSecond} a second`);
  }
}

function printFailure(failed: SimResult, { steps, redis }: SimOptions, print: (text: string) => void): void {
  print(violationText(failed));
  print(`Again: npm run sim -- --seed ${failed.seed} --steps ${steps}${redis ? ' --redis' : ''}`);
  if (failed.violation === null) return;
  keepSeed({ seed: failed.seed, steps, showed: `${failed.violation.invariant}: ${failed.violation.detail}` });
  print('Kept in test/sim/kept-seeds.json.');
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof UsageError ? error.message : messageOf(error)}\n`);
    process.exitCode = 2;
  },
);
