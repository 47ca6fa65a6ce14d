import { parseArgs } from 'node:util';
import { UsageError } from '../console/options.ts';
import { limits, owners, renderSeconds } from './plan.ts';

export interface CommandOptions {
  help: boolean;
  /** The last line on stdout is one JSON object; everything else goes to stderr. */
  json: boolean;
}

const flood = owners[0].jobs;
const others = owners.slice(1);

export const helpText = `Usage: npm run accounts-demo -- [options]

Shows on this machine how accounts are shared: three of them, each with ${limits.maxInFlight} slots at the simulated provider, ${limits.readsPerMinute} reads and
${limits.createsPerMinute} creates in any minute, and ${owners.length} owners. One owner floods them with ${flood} jobs at once; then the ${others.length} others come with ${others[0]?.jobs} each.
The provider refuses strictly whatever passes a limit; a render takes ${renderSeconds.least} to ${renderSeconds.most} s. Everything in the tables at the end was
counted at the provider.

  --json    the last line on stdout is one JSON object with all figures
  --help    this text

It takes about five minutes. Exit code 0 only if all of this held: after the first minute no create and no read was refused, and
the slots were used to 95 % while anything waited; no account had more jobs than slots; the small owners' jobs were admitted
within two rounds; every job completed, and as many renders are billed as jobs were sent. 1: something did not hold. 2: it can't
be run like this.
`;

const flags = { help: { type: 'boolean', short: 'h' }, json: { type: 'boolean' } } as const;

/** Reads the command line. Throws a UsageError. */
export function readOptions(argv: readonly string[]): CommandOptions {
  try {
    const { values } = parseArgs({ args: [...argv], options: flags, strict: true, allowPositionals: false });
    return { help: values.help ?? false, json: values.json ?? false };
  } catch (error) {
    const sentence = (error instanceof Error ? error.message : String(error)).split('. ')[0];
    throw new UsageError(`${sentence}. See npm run accounts-demo -- --help.`);
  }
}
