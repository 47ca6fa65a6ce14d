import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface StartOptions {
  help: boolean;
  /** End when every clip is done. */
  once: boolean;
  /** The last line on stdout is one JSON object; everything else goes to stderr. */
  json: boolean;
  demo: boolean;
  jobs: number;
  /** Whether the number of jobs was asked for, not taken from the default. */
  jobsGiven: boolean;
  /** Port of the HTTP API; 0 is the one of the last run if free, else any. */
  port: number;
  /** How many times quicker than life the simulated provider is. */
  timeScale: number;
  /** Absolute. */
  dataDir: string;
}

/** A command line that can't be used; the message is one line for the user. */
export class UsageError extends Error {}

export const helpText = `Usage: npm start -- [options]

Brings up everything on this machine, sends demo clips through the HTTP API and shows what becomes of them. It stays up until
Ctrl-C. What is stored stays in .local/, and the next start goes on with it.

  --once            end when every clip is done; exit code 0 only if each of them completed
  --json            the last line on stdout is one JSON object with the figures
  --jobs N          how many demo clips, 1 to 1000 (default 30)
  --no-demo         send no demo clips
  --port N          port of the HTTP API (default: any free one)
  --time-scale N    how many times quicker than life the simulated provider is, 0.1 to 1000 (default 15)
  --data-dir DIR    where everything is stored (default .local)
  --help            this text

A part is not started if the environment names another in its place:
  SUME_API_BASE_URL, SUME_API_KEY                       the provider
  UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN      Redis
  DYNAMODB_ENDPOINT                                     DynamoDB (with the usual AWS_… variables)
`;

const flags = {
  help: { type: 'boolean', short: 'h' },
  once: { type: 'boolean' },
  json: { type: 'boolean' },
  'no-demo': { type: 'boolean' },
  jobs: { type: 'string' },
  port: { type: 'string' },
  'time-scale': { type: 'string' },
  'data-dir': { type: 'string' },
} as const;

/** Reads the command line; relative folders are taken from `root`. Throws a UsageError. */
export function readOptions(argv: readonly string[], root: string): StartOptions {
  const values = parse(argv);
  if (values['no-demo'] && values.jobs !== undefined) {
    throw new UsageError('--no-demo and --jobs contradict each other: give one of them.');
  }
  return {
    help: values.help ?? false,
    once: values.once ?? false,
    json: values.json ?? false,
    demo: !values['no-demo'],
    jobs: number('--jobs', values.jobs, { fallback: 30, min: 1, max: 1000, whole: true }),
    jobsGiven: values.jobs !== undefined,
    port: number('--port', values.port, { fallback: 0, min: 1, max: 65535, whole: true }),
    timeScale: number('--time-scale', values['time-scale'], { fallback: 15, min: 0.1, max: 1000, whole: false }),
    dataDir: resolve(root, values['data-dir'] || '.local'),
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: flags, strict: true, allowPositionals: false }).values;
  } catch (error) {
    const sentence = (error instanceof Error ? error.message : String(error)).split('. ')[0];
    throw new UsageError(`${sentence}. See npm start -- --help.`);
  }
}

type Range = { fallback: number; min: number; max: number; whole: boolean };

function number(flag: string, text: string | undefined, { fallback, min, max, whole }: Range): number {
  if (text === undefined) return fallback;
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max && (!whole || Number.isInteger(value))) return value;
  throw new UsageError(`${flag} is "${text}"; expected a ${whole ? 'whole ' : ''}number from ${min} to ${max}.`);
}
