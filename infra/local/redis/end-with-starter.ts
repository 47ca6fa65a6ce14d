import { type ChildProcess, spawn } from 'node:child_process';

/*
 * A pipe that this process holds: `read` comes back with a line when Redis has ended in order, without one when we are gone,
 * however that went. In a session of its own, so that what ends us does not end it first.
 */
const guard = 'read -r line || { kill "$0" && sleep 1; rm -rf "$1"; } 2>/dev/null';

/** Ends a Redis and takes its directory away when this process is killed. For one whose data nobody would look for later. */
export function endWithStarter(redis: ChildProcess, directory: string): void {
  if (redis.pid === undefined) return;
  const watcher = spawn('/bin/sh', ['-c', guard, String(redis.pid), directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a shell Redis only lives on as it would have.
  watcher.on('error', () => {});
  watcher.stdin.on('error', () => {});
  watcher.unref();
  if ('unref' in watcher.stdin) (watcher.stdin as { unref(): void }).unref();
  redis.once('exit', () => watcher.stdin.end('\n'));
}
