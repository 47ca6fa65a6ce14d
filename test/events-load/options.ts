import { readFlags, wholeNumber } from '../support/command-line.ts';

export interface LoadOptions {
  help: boolean;
  json: boolean;
  /** Events to the receiver that answers. */
  good: number;
  /** Events to the one that does not. */
  hanging: number;
  /** Jobs that run all the time; how late they are read is compared. */
  steady: number;
  /** The renders end evenly over so long. */
  seconds: number;
}

export const helpText = `Usage: npm run events-load -- [options]

How soon do events arrive while another receiver hangs, and does the polling suffer from it? Runs the packaged functions as
processes of their own, with a real Redis behind the REST bridge, dynalite and the provider's simulator. The same jobs run
twice: first nobody listens, then each has a webhook_url, of a receiver that answers at once or of one that hangs for 30 s
(an attempt is given up after 15 s). Their renders end evenly over a while, as in life; the drain learns of it by its reads,
and deliver sends the news. Beside them other jobs run on and on, read every 5 s: how late these reads are, seen from the
provider, is printed for both times side by side. All of it shares this machine: what polls (drain, bridge, provider) goes
before the rest, which has machines of its own on AWS; the first news, for which code is loaded, is sent before anything is
measured; and the order is without, with, with, without, half of the jobs each time.

  --good N      events to the receiver that answers, 1 to 5000 (default 1000)
  --hanging N   events to the one that hangs, 0 to 5000 (default 200)
  --steady N    jobs that run on, 10 to 1000 (default 100)
  --seconds N   over which the renders end, 5 to 120 (default 30: dynalite takes one to two thousand writes a second, and
                an end with its event is about ten)
  --json        the last line on stdout is one JSON object with every figure
  --help        this text

With the defaults it takes two minutes and a half. Exit code 0: every event came to the good receiver, 95 % of them less than 2 s after
their job's end was noted; and the p99 of the reads' lateness was at most 1.5 times what it was without deliveries, plus 5 ms.
1: one of these did not hold. 2: it could not start.
`;

const flags = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  good: { type: 'string' },
  hanging: { type: 'string' },
  steady: { type: 'string' },
  seconds: { type: 'string' },
} as const;

/** Reads the command line. Throws a UsageError. */
export function readOptions(argv: readonly string[]): LoadOptions {
  const values = readFlags('events-load', argv, flags);
  return {
    help: values.help ?? false,
    json: values.json ?? false,
    good: wholeNumber('--good', values.good, { fallback: 1_000, min: 1, max: 5_000 }),
    hanging: wholeNumber('--hanging', values.hanging, { fallback: 200, min: 0, max: 5_000 }),
    steady: wholeNumber('--steady', values.steady, { fallback: 100, min: 10, max: 1_000 }),
    seconds: wholeNumber('--seconds', values.seconds, { fallback: 30, min: 5, max: 120 }),
  };
}
