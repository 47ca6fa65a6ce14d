/** `npm run events-load`: see the help text in options.ts. Exit code 0, 1 (a target was missed, or it broke), 2 (it could not start) or 130. */
import { findRedisServer } from '../../infra/local/redis/redis.ts';
import { runToExit, UsageError } from '../support/command-line.ts';
import { summaryLines } from './figures.ts';
import { helpText, readOptions } from './options.ts';
import { runLoad } from './run-load.ts';

// The SDK's warning about Node 20 says nothing here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

async function main(signal: AbortSignal): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(helpText);
    return 0;
  }
  if (findRedisServer() === undefined) {
    throw new UsageError('There is no redis-server or valkey-server on this machine; install one of them.');
  }
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const figures = await runLoad({ options, say, signal });
  const out = options.json ? process.stderr : process.stdout;
  for (const line of summaryLines(figures)) out.write(`${line}\n`);
  if (options.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
  return figures.ok ? 0 : 1;
}

runToExit(main);
