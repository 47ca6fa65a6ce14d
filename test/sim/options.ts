import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

export interface SimOptions {
  help: boolean;
  json: boolean;
  redis: boolean;
  /** Of the first run. */
  seed: number;
  /** In bad weather, of each run. */
  steps: number;
  /** Further seeds for so long; null: the one seed only. */
  minutes: number | null;
}

/** A command line that can't be used; the message is one line for the user. */
export class UsageError extends Error {}

const seedMax = 4_294_967_295;
const stepsDefault = 3_000;

export const helpText = `Usage: npm run sim -- [options]

Runs the real core (submit, cancel, drain, step, decide, deliver, sweep) in virtual time, with faults at every call: killed and
frozen processes, lost and late replies, a wiped Redis or one that was rolled back, a throttled DynamoDB, a provider that
lies, wrong clocks. After every step it checks what must always hold. One seed is one history, the same whenever it is run.

  --seed N      which history, 0 to ${seedMax} (default: a random one)
  --steps M     so many steps with faults, 1 to 10,000,000 (default ${stepsDefault}); then as many without as it takes until every
                job has ended
  --redis       the real scripts on a real Redis, compared with the due set in memory at every call (needs redis-server)
  --minutes T   goes on with the seeds that follow for so long, 0.01 to 10,000
  --json        the last line on stdout is one JSON object; all else goes to stderr
  --help        this text

Exit code 0: everything held. 1: something did not; the seed is kept in test/sim/kept-seeds.json, and npm test runs it
first. 2: it could not start.`;

/** Reads the command line. Throws a UsageError. */
export function readOptions(args: readonly string[]): SimOptions {
  const values = parse(args);
  return {
    help: values.help ?? false,
    json: values.json ?? false,
    redis: values.redis ?? false,
    seed: values.seed === undefined ? randomInt(1_000_000) : whole('--seed', values.seed, 0, seedMax),
    steps: values.steps === undefined ? stepsDefault : whole('--steps', values.steps, 1, 10_000_000),
    minutes: values.minutes === undefined ? null : minutes(values.minutes),
  };
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${name} is "${text}"; expected a whole number from ${least} to ${most}.`);
}

function minutes(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= 0.01 && value <= 10_000) return value;
  throw new UsageError(`--minutes is "${text}"; expected a number from 0.01 to 10000, such as 5.`);
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean' } as const;
  const text = { type: 'string' } as const;
  const options = { help: flag, json: flag, redis: flag, seed: text, steps: text, minutes: text };
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    // Node's message goes on with advice on dashes.
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]?.replace(/\.?$/, '.')} See --help.`);
  }
}
