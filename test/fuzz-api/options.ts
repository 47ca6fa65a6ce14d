import { readFlags, wholeNumber } from '../support/command-line.ts';

export interface FuzzOptions {
  help: boolean;
  json: boolean;
  requests: number;
  /** Decides every request. */
  seed: number;
}

export const helpText = `Usage: npm run fuzz-api -- [options]

Sends requests made from docs/openapi.json to the real handlers of the API, behind the real authorizer, as events of an API
Gateway, over a real Redis and dynalite: right ones, nearly right ones, and broken ones of many kinds, over every route. Each
answer must come soon, be no 5xx, have a status and a form that the document has for its route, carry its request id, and hold
no secret; and what is refused, or only reads, must have written nothing.

  --requests N   how many, 1 to 1000000 (default 20000)
  --seed N       decides the requests, 0 to 2147483647 (default: a new one, printed first)
  --json         the last line on stdout is one JSON object: requests, seed, byStatus, faults (the first ten), ok
  --help         this text

The default takes a minute or two. Exit code 0: nothing was wrong. 1: something was. 2: it could not start.
`;

const flags = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  requests: { type: 'string' },
  seed: { type: 'string' },
} as const;

/** Reads the command line; `freshSeed` is taken when it names none. Throws a UsageError. */
export function readOptions(argv: readonly string[], freshSeed: number): FuzzOptions {
  const values = readFlags('fuzz-api', argv, flags);
  return {
    help: values.help ?? false,
    json: values.json ?? false,
    requests: wholeNumber('--requests', values.requests, { fallback: 20_000, min: 1, max: 1_000_000 }),
    seed: wholeNumber('--seed', values.seed, { fallback: freshSeed, min: 0, max: 2 ** 31 - 1 }),
  };
}
