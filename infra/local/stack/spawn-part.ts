import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { identifyProcess } from '../lock/process-identity.mjs';
import type { PartName, PartReady } from '../part.ts';
import type { RunningPart } from './supervise.ts';

export interface SpawnPartOptions {
  name: PartName;
  args: readonly string[];
  /** The secret that the part asks of its clients. */
  key: string;
  /** Gets all that the part prints. */
  logFile: string;
  /** Default 20,000. */
  startDeadlineMs?: number;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const partFile = fileURLToPath(new URL('../part.ts', import.meta.url));
const closeDeadlineMs = 2_500;

/** A part in a process of its own. `redis`, if there, is the Redis behind the bridge. */
export type SpawnedPart = RunningPart & { redis?: { port: number; pid: number } };

/** Resolves when the part says that it is up; rejects with the end of its log if it doesn't. */
export async function spawnPart(options: SpawnPartOptions): Promise<SpawnedPart> {
  const log = openSync(options.logFile, 'a', 0o600);
  const child = spawn(process.execPath, ['--import', 'tsx', partFile, options.name, ...options.args], {
    cwd: root,
    env: { ...process.env, PART_KEY: options.key },
    stdio: ['pipe', 'pipe', log],
    // Ctrl-C in a terminal goes to the whole group: the parts are stopped by us, in order, not by it.
    detached: true,
  });
  closeSync(log);
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : signal));
    child.once('error', (error) => resolve(error.message));
  });
  // Writing to a part that has just died is no reason to die too.
  child.stdin?.on('error', () => {});
  try {
    const ready = await untilReady(child, exited, options);
    const redis = ready.redis && { ...ready.redis, identity: identifyProcess(ready.redis.pid) };
    return {
      url: ready.url,
      port: ready.port,
      pid: child.pid ?? 0,
      exited,
      close: () => end(child, exited, redis),
      ...(ready.redis && { redis: ready.redis }),
    };
  } catch (error) {
    await end(child, exited, undefined);
    throw error;
  }
}

function untilReady(child: ChildProcess, exited: Promise<string>, options: SpawnPartOptions): Promise<PartReady> {
  const { name, logFile, startDeadlineMs = 20_000 } = options;
  return new Promise((resolve, reject) => {
    const fail = (what: string) => reject(new Error(`${name} ${what}: ${lastLine(logFile)}`));
    const timer = setTimeout(() => fail(`did not come up within ${startDeadlineMs / 1000} s`), startDeadlineMs);
    exited.then((how) => fail(`ended while starting (${how})`)).finally(() => clearTimeout(timer));
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const place = text.indexOf('\n');
      if (place < 0) return;
      clearTimeout(timer);
      child.stdout?.removeAllListeners('data').on('data', (rest: string) => appendFileSync(logFile, rest));
      resolve(JSON.parse(text.slice(0, place)) as PartReady);
    });
  });
}

/** Closing its stdin is the request to end; what is still there at the deadline is killed, with the Redis it would leave behind. */
async function end(
  child: ChildProcess,
  exited: Promise<string>,
  redis: { pid: number; identity: string | undefined } | undefined,
): Promise<void> {
  child.stdin?.end();
  const timer = setTimeout(() => {
    child.kill('SIGKILL');
    const stillOurs = redis?.identity !== undefined && identifyProcess(redis.pid) === redis.identity;
    if (stillOurs) process.kill(redis.pid, 'SIGKILL');
  }, closeDeadlineMs);
  await exited;
  clearTimeout(timer);
}

function lastLine(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  } catch {
    return `see ${logFile}`;
  }
}
