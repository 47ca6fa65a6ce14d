/**
 * `npm run accounts-demo`: see the help text in options.ts. Exit code 0 (all of it held), 1 (something did not, or a fault) or
 * 2 (it can't be run like this).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../console/options.ts';
import { StopRequest } from '../console/stop-request.ts';
import { findRedisServer } from '../redis/redis.ts';
import { AccountsDemo } from './accounts-demo.ts';
import { judge, type Verdict } from './judge.ts';
import { helpText, readOptions } from './options.ts';
import { verdictLines } from './table.ts';

// The AWS SDK's warning about Node versions to come is of no use to the user here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

async function main(stop: StopRequest): Promise<number> {
  const { help, json } = readOptions(process.argv.slice(2));
  if (help) {
    process.stdout.write(helpText);
    return 0;
  }
  if (findRedisServer() === undefined) {
    throw new UsageError('There is no redis-server or valkey-server on this machine; install one of them.');
  }
  const out = json ? process.stderr : process.stdout;
  const say = (line: string) => void out.write(`${line}\n`);
  const dataDir = mkdtempSync(join(tmpdir(), 'pollkeeper-accounts-demo-'));
  const verdict = await run(dataDir, say, stop);
  const reason = stop.reason;
  if (reason !== undefined) say(`  ${reason.asked ? 'Stopped before it was over.' : reason.line}`);
  const ok = verdict?.ok === true && reason === undefined;
  if (ok) rmSync(dataDir, { recursive: true, force: true });
  else say(`  The logs are in ${join(dataDir, 'logs')}/.`);
  if (json)
    process.stdout.write(`${JSON.stringify({ ...verdict, ok, wallSeconds: Math.round(performance.now() / 1000) })}\n`);
  return ok ? 0 : 1;
}

/** Undefined if nothing could be judged. */
async function run(dataDir: string, say: (line: string) => void, stop: StopRequest): Promise<Verdict | undefined> {
  const demo = await AccountsDemo.open({ dataDir, say, stop });
  try {
    const verdict = judge(await demo.work());
    for (const line of verdictLines(verdict)) say(line);
    return verdict;
  } catch (error) {
    stop.stop({ asked: false, line: error instanceof Error ? error.message : String(error) });
    return undefined;
  } finally {
    await Promise.race([demo.close(), sleep(5_000)]);
  }
}

const stop = new StopRequest();
stop.listen();
main(stop)
  .catch((error: unknown) => {
    const known = error instanceof UsageError;
    process.stderr.write(`${known ? error.message : error instanceof Error ? error.stack : error}\n`);
    return known ? 2 : 1;
  })
  // What is written to a pipe may still be on its way when a process is told to exit at once.
  .then((code) => process.stdout.write('', () => process.stderr.write('', () => process.exit(code))));
