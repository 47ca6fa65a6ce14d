import { setMaxListeners } from 'node:events';
import { type ParseArgsConfig, parseArgs } from 'node:util';

/* What the command lines of the long checks have in common: `npm run chaos`, `events-load` and `fuzz-api`. */

/** A command line or a machine that can't be used; the message is one line for the user. */
export class UsageError extends Error {}

/** The flags as they were given to `npm run <command>`. Throws a UsageError. */
export function readFlags<Flags extends NonNullable<ParseArgsConfig['options']>>(
  command: string,
  argv: readonly string[],
  flags: Flags,
) {
  try {
    return parseArgs({ args: [...argv], options: flags, strict: true, allowPositionals: false }).values;
  } catch (error) {
    // Node's message goes on with advice on dashes.
    const sentence = (error instanceof Error ? error.message : String(error)).split('. ')[0]?.replace(/\.$/, '');
    throw new UsageError(`${sentence}. See npm run ${command} -- --help.`);
  }
}

/** Throws a UsageError. */
export function wholeNumber(
  flag: string,
  text: string | undefined,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  if (text === undefined) return fallback;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${flag} is "${text}"; expected a whole number from ${min} to ${max}.`);
}

/**
 * Runs it and exits with the code that it resolves with; 1 when it breaks, 2 on a UsageError. Asked to stop it aborts the
 * signal, waits for the end, and exits with 130.
 */
export function runToExit(main: (signal: AbortSignal) => Promise<number>): void {
  const stop = new AbortController();
  // Every single job may wait for something with it.
  setMaxListeners(0, stop.signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  main(stop.signal)
    .catch((error: unknown) => {
      const known = error instanceof UsageError;
      const text = known ? error.message : error instanceof Error ? error.stack : String(error);
      process.stderr.write(`${stop.signal.aborted ? 'Stopped; every process that was started is ended.' : text}\n`);
      return stop.signal.aborted ? 130 : known ? 2 : 1;
    })
    // What is written to a pipe may still be on its way when a process is told to exit at once.
    .then((code) => process.stdout.write('', () => process.stderr.write('', () => process.exit(code))));
}
