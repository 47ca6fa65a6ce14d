import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { findRedisServer } from '../../infra/local/redis/redis.ts';
import { type BenchOptions, UsageError } from './options.ts';

/** What has to be there before anything is started. Throws a UsageError that says what to do. */
export async function checkMachine({ port, svg }: Pick<BenchOptions, 'port' | 'svg'>): Promise<void> {
  if (!existsSync('/proc/self/stat')) {
    throw new UsageError('The benchmark reads the work of its processes from /proc, so it runs on Linux only.');
  }
  if (findRedisServer() === undefined) {
    throw new UsageError('There is no redis-server or valkey-server on this machine; install one of them.');
  }
  const problem = writeProblem(resolve(svg));
  if (problem !== undefined) throw new UsageError(`--svg is "${svg}", which can't be written (${problem}).`);
  if (port !== 0 && !(await isFree(port))) throw new UsageError(`Port ${port} is in use; choose another with --port.`);
}

/** Found out before the twelve minutes, not after them. */
function writeProblem(file: string): string | undefined {
  try {
    mkdirSync(dirname(file), { recursive: true });
    closeSync(openSync(file, 'a'));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
