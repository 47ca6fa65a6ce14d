import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../stack/free-port.ts';
import { RedisLink } from '../upstash-rest/redis-link.ts';
import { endWithStarter } from './end-with-starter.ts';
import { claimDirectory, identifyRedis, stopLeftover } from './redis-leftover.ts';

export type RedisOptions = {
  /** Where the data lives, kept between starts. Absent: a temporary directory; it and Redis end with this process at the latest. */
  dataDir?: string;
  /** Absent or 0: a free port. */
  port?: number;
  /** Write every change to an append-only file, synced each second. Default: yes with a `dataDir`, else no. */
  appendOnly?: boolean;
};

export type LocalRedis = {
  port: number;
  url: string;
  pid: number;
  /** SIGTERM, then SIGKILL after 3 s. */
  close(): Promise<void>;
};

const startTimeoutMs = 15_000;
const killAfterMs = 3_000;
const attemptsMax = 5;
const usualDirectories = ['/opt/homebrew/bin', '/usr/local/bin', '/home/linuxbrew/.linuxbrew/bin', '/usr/bin'];

class PortTakenError extends Error {}

/** Full path of `redis-server`, else of `valkey-server`: on the PATH, then where Homebrew and packages put them. */
export function findRedisServer(): string | undefined {
  const directories = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...usualDirectories];
  for (const name of ['redis-server', 'valkey-server']) {
    const found = directories.map((directory) => join(directory, name)).find(isExecutable);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Starts a private Redis on 127.0.0.1 that never evicts, and resolves once it answers. With a `dataDir`, its process id is in
 * `redis.pid` and its log in `redis.log` there, and a server that an earlier, dead starter left on that directory is stopped
 * first. Rejects with one line when no server is installed, the port is taken, or the directory is in use; with the end of
 * Redis' log when it does not come up within 15 s.
 */
export async function startRedis(options: RedisOptions = {}): Promise<LocalRedis> {
  const program = findRedisServer();
  if (program === undefined)
    throw new Error('Redis: found neither redis-server nor valkey-server; install one of them');
  const isTemporary = options.dataDir === undefined;
  const directory = makeDirectory(options.dataDir);
  const appendOnly = options.appendOnly ?? !isTemporary;
  try {
    await stopLeftover(directory);
    return await startOnPort(program, directory, options.port ?? 0, appendOnly, isTemporary);
  } catch (error) {
    if (isTemporary) rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

async function startOnPort(
  program: string,
  directory: string,
  wantedPort: number,
  appendOnly: boolean,
  isTemporary: boolean,
): Promise<LocalRedis> {
  for (let attempt = 1; ; attempt += 1) {
    const port = wantedPort === 0 ? await freePort() : wantedPort;
    const child = spawnRedis(program, directory, port, appendOnly);
    if (isTemporary) endWithStarter(child, directory);
    const releaseDirectory = claimDirectory(directory, { ownerPid: process.pid, pid: child.pid ?? 0, port });
    const close = async () => {
      await stop(child);
      releaseDirectory();
      if (isTemporary) rmSync(directory, { recursive: true, force: true });
    };
    try {
      await waitUntilUp(child, port, directory);
      return runningRedis(child, port, close);
    } catch (error) {
      await stop(child);
      releaseDirectory();
      // A free port can be taken by someone else before Redis gets to it.
      if (!(error instanceof PortTakenError) || wantedPort !== 0 || attempt === attemptsMax) throw error;
    }
  }
}

function makeDirectory(dataDir: string | undefined): string {
  if (dataDir === undefined) return realpathSync(mkdtempSync(join(tmpdir(), 'local-redis-')));
  mkdirSync(dataDir, { recursive: true });
  return realpathSync(resolve(dataDir));
}

function spawnRedis(program: string, directory: string, port: number, appendOnly: boolean): ChildProcess {
  rmSync(join(directory, 'redis.log'), { force: true });
  const settings = [
    ['--port', String(port)],
    ['--bind', '127.0.0.1'],
    ['--daemonize', 'no'],
    ['--dir', directory],
    ['--pidfile', join(directory, 'redis.pid')],
    ['--logfile', join(directory, 'redis.log')],
    ['--save', ''],
    ['--appendonly', appendOnly ? 'yes' : 'no'],
    ['--appendfsync', 'everysec'],
    ['--maxmemory', '0'],
    ['--maxmemory-policy', 'noeviction'],
  ];
  // Its own process group: a Ctrl-C in the terminal reaches us, and we stop Redis last and in order.
  return spawn(program, settings.flat(), { cwd: directory, stdio: 'ignore', detached: true });
}

async function waitUntilUp(child: ChildProcess, port: number, directory: string): Promise<void> {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  // Short, so that a foreign server on the port that stays silent does not hide that ours has already given up.
  const link = new RedisLink({ port, replyTimeoutMs: 200 });
  const deadlineMs = performance.now() + startTimeoutMs;
  try {
    while (performance.now() < deadlineMs) {
      if (failure !== undefined) throw new Error(`Redis: could not be run: ${failure.message}`);
      if (child.exitCode !== null || child.signalCode !== null) throw startFailure(port, directory);
      // Another server may hold the port, so it is not enough that somebody answers.
      const server = await identifyRedis(link);
      if (server?.isReady && server.pid === child.pid) return;
      await delay(20);
    }
  } finally {
    link.close();
  }
  throw new Error(
    `Redis: no answer on port ${port} within ${startTimeoutMs / 1000} s. Its log ends:\n${logTail(directory)}`,
  );
}

function startFailure(port: number, directory: string): Error {
  const log = logTail(directory);
  if (log.includes('Address already in use'))
    return new PortTakenError(`Redis: port ${port} is already in use; choose another`);
  return new Error(`Redis: stopped while starting on port ${port}. Its log ends:\n${log}`);
}

function runningRedis(child: ChildProcess, port: number, closeServer: () => Promise<void>): LocalRedis {
  const stopWithUs = () => child.kill('SIGTERM');
  process.once('exit', stopWithUs);
  // A running Redis must not keep the process that started it alive.
  child.unref();
  const close = () => {
    process.removeListener('exit', stopWithUs);
    return closeServer();
  };
  return { port, url: `redis://127.0.0.1:${port}`, pid: child.pid ?? 0, close };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  await exited;
  clearTimeout(kill);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function logTail(directory: string): string {
  try {
    return readFileSync(join(directory, 'redis.log'), 'utf8').trimEnd().split('\n').slice(-12).join('\n');
  } catch {
    return '(no log was written)';
  }
}
