import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { findRedisServer } from '../../infra/local/redis/redis.ts';
import { type BenchOptions, UsageError } from './options.ts';

/** What has to be there before anything is started. Throws a UsageError that says what to do. */
export async function checkMachine({ port }: Pick<BenchOptions, 'port'>): Promise<void> {
  if (!existsSync('/proc/self/stat')) {
    throw new UsageError('The benchmark reads the work of its processes from /proc, so it runs on Linux only.');
  }
  if (findRedisServer() === undefined) {
    throw new UsageError('There is no redis-server or valkey-server on this machine; install one of them.');
  }
  if (port !== 0 && !(await isFree(port))) throw new UsageError(`Port ${port} is in use; choose another with --port.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
