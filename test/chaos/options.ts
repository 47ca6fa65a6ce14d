import { readFlags, UsageError, wholeNumber } from '../support/command-line.ts';

export interface ChaosOptions {
  help: boolean;
  json: boolean;
  jobs: number;
  kills: number;
  /** Decides what is done when to whom. */
  seed: string;
  /** How many times quicker than life the provider is. */
  timeScale: number;
  /** Nothing after which Pollkeeper waits half a minute. */
  quick: boolean;
}

export const helpText = `Usage: npm run chaos -- [options]

Runs the packaged functions as processes of their own, with a real Redis behind the REST bridge, dynalite and the provider's
simulator; submits jobs through the API, and meanwhile kills drains, sweeps, the API and Redis (which comes back empty), drops
replies of the bridge, and has the provider fail, stall and lie. It ends when every job has ended, and tells what was lost,
billed twice, read too early or twice at once, and how soon a killed drain's jobs were read again.

  --jobs N         how many jobs, 1 to 10000 (default 500)
  --kills N        how many kills in all, 0 to 1000 (default 40)
  --seed TEXT      decides what is done when to whom (default: a new one, printed first). The moments are the same again, but
                   not what the processes are doing in them
  --time-scale N   how many times quicker than life the provider is, 1 to 100 (default 10)
  --quick          only faults after which Pollkeeper does not wait half a minute: no emptied Redis, no 5xx; a shorter lease
  --json           the last line on stdout is one JSON object with every figure
  --help           this text

With the defaults it takes about six minutes. Exit code 0: every check held. 1: one did not, or jobs had not ended in time;
the logs are kept then. 2: it could not start.
`;

const flags = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  quick: { type: 'boolean' },
  jobs: { type: 'string' },
  kills: { type: 'string' },
  seed: { type: 'string' },
  'time-scale': { type: 'string' },
} as const;

/** Reads the command line; `freshSeed` is taken when it names none. Throws a UsageError. */
export function readOptions(argv: readonly string[], freshSeed: string): ChaosOptions {
  const values = readFlags('chaos', argv, flags);
  const seed = values.seed ?? freshSeed;
  if (!/^[\w-]{1,40}$/.test(seed)) {
    throw new UsageError(`--seed is "${seed}"; expected 1 to 40 letters, digits, _ or -.`);
  }
  return {
    help: values.help ?? false,
    json: values.json ?? false,
    quick: values.quick ?? false,
    seed,
    jobs: wholeNumber('--jobs', values.jobs, { fallback: 500, min: 1, max: 10_000 }),
    kills: wholeNumber('--kills', values.kills, { fallback: 40, min: 0, max: 1_000 }),
    timeScale: wholeNumber('--time-scale', values['time-scale'], {
      fallback: values.quick ? 30 : 10,
      min: 1,
      max: 100,
    }),
  };
}
