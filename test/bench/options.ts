import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type DynamoKind, dynamoKinds, type ScenarioName, scenarioNames } from './plan.ts';

export interface BenchOptions {
  help: boolean;
  json: boolean;
  quick: boolean;
  /** In the order in which they run. */
  scenarios: ScenarioName[];
  /** Of the status server; 0 takes a free one. */
  port: number;
  /** Where the drawing goes, relative to the working directory. */
  svg: string;
  dynamo: DynamoKind;
  /** The beat of Redis' own clock, times a second. */
  hz: number;
  /** Folder for the workers' CPU profiles; absent: none are taken. */
  profile: string | undefined;
  /** Instead of a benchmark: take today's package sizes as the baseline. */
  writeBaseline: boolean;
}

/** A command line that can't be used; the message is one line for the user. */
export class UsageError extends Error {}

const defaultScenarios: readonly ScenarioName[] = ['S1', 'S2', 'S3', 'K1', 'S4', 'light', 'life', 'cold'];

export const helpText = `Usage: npm run bench -- [scenario…] [options]

Polls the same jobs with Pollkeeper and its peers, in turn and in one run, against one simulated provider, and compares.
Without scenarios it runs ${defaultScenarios.join(' ')}, in about 12 minutes.

  S1      steady: 1,000 jobs, read every 5 s, 6 times each
  S2      saturation: 5,000 jobs due at once, read 3 times each, with 100 and with 500 reads at a time
  S3      crash: S1 with the worker killed after 10 s, a new one after 12 s
  K1      kills: S1 with ten kills, two seconds apart
  S4      idle: nothing to do, and 1,000 jobs due in an hour
  light   one job alone, read every 5 s: what a drain uses that is awake for next to nothing
  life    DynamoDB reads and writes of a job from its acceptance to its end
  cold    how long the package takes to load, and how large it is
  growth  with 1 thousand to 1 million ids in the set; a sweep of 100,000 active jobs
  fanout  answers of 800 ms, more due than one drain can read: 1, 2 and 4 drains on one due set; a drain that asks for helpers

  --quick            small numbers, in about two minutes: does it work at all
  --json             the last line on stdout is one JSON object with every figure
  --svg FILE         where the drawing goes (default .build/bench.svg)
  --port N           port of the simulated provider, 0 to 65535 (default: any free one)
  --hz N             Redis' beat, 1 to 500 (default 10, Redis' own and that of hosted ones; 100 shows BullMQ at its best)
  --dynamo KIND      dynalite (default), or memory: a reduction of it that answers at once, to see what is ours
  --profile DIR      the workers leave CPU profiles there (their times are then no measure)
  --write-baseline   take today's package sizes as those to compare with, and end
  --help             this text

Exit code 0: it ran, whether targets were met or not. 1: it broke, or a package grew too much. 2: it could not start.`;

/** Reads the command line. Throws a UsageError. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parse(args);
  const unknown = positionals.find((name) => !scenarioNames.includes(name as ScenarioName));
  if (unknown !== undefined) {
    throw new UsageError(`There is no scenario "${unknown}"; expected some of ${scenarioNames.join(', ')}.`);
  }
  const dynamo = dynamoKinds.find((kind) => kind === (values.dynamo ?? 'dynalite'));
  if (dynamo === undefined) {
    throw new UsageError(`--dynamo is "${values.dynamo}"; expected ${dynamoKinds.join(' or ')}.`);
  }
  if (values.profile === '') throw new UsageError('--profile is empty; expected a folder such as .build/profiles.');
  if (values.svg === '') throw new UsageError('--svg is empty; expected a file such as docs/bench.svg.');
  // Ten kills take their time however small the numbers are.
  const defaults = defaultScenarios.filter((name) => !(values.quick && name === 'K1'));
  return {
    help: values.help ?? false,
    json: values.json ?? false,
    quick: values.quick ?? false,
    scenarios: positionals.length === 0 ? defaults : ([...new Set(positionals)] as ScenarioName[]),
    port: numberOf('--port', values.port, 0, 0, 65_535),
    svg: values.svg ?? '.build/bench.svg',
    dynamo,
    hz: numberOf('--hz', values.hz, 10, 1, 500),
    profile: values.profile === undefined ? undefined : resolve(values.profile),
    writeBaseline: values['write-baseline'] ?? false,
  };
}

function numberOf(name: string, text: string | undefined, fallback: number, least: number, most: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${name} is "${text}"; expected a number from ${least} to ${most}.`);
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean' } as const;
  const text = { type: 'string' } as const;
  const options = {
    help: flag,
    json: flag,
    quick: flag,
    port: text,
    svg: text,
    profile: text,
    dynamo: text,
    hz: text,
    'write-baseline': flag,
  };
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // Node's message goes on with advice on dashes.
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]?.replace(/\.?$/, '.')} See --help.`);
  }
}
