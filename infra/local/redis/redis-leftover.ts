import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { RedisLink } from '../upstash-rest/redis-link.ts';
import { StatusReply } from '../upstash-rest/resp.ts';

const killAfterMs = 3_000;

/** Who started the server that works on a data directory, and where that server is. */
export type Owner = { ownerPid: number; pid: number; port: number };

/**
 * Two servers on one append-only file would ruin it. Stops the server an earlier starter left on this directory, once it has said
 * itself that it is that process and works here; throws when that starter is still alive.
 */
export async function stopLeftover(directory: string): Promise<void> {
  const owner = readOwner(directory);
  if (owner === undefined || !isAlive(owner.pid)) return;
  const link = new RedisLink({ port: owner.port, replyTimeoutMs: 1_000 });
  const server = await identifyRedis(link);
  link.close();
  if (server?.pid !== owner.pid || server.directory !== directory) return;
  if (isAlive(owner.ownerPid)) {
    throw new Error(
      `Redis: ${directory} is in use by the Redis that process ${owner.ownerPid} started; stop that one first`,
    );
  }
  process.kill(owner.pid, 'SIGTERM');
  if (await isGone(owner.pid, killAfterMs)) return;
  process.kill(owner.pid, 'SIGKILL');
  // What is still listed after this is dead but not yet reaped, and holds no file any more.
  await isGone(owner.pid, killAfterMs);
}

async function isGone(pid: number, withinMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs;
  while (isAlive(pid) && performance.now() < deadlineMs) await delay(20);
  return !isAlive(pid);
}

/** Writes the owner beside the data; the result takes it away again. */
export function claimDirectory(directory: string, owner: Owner): () => void {
  writeFileSync(ownerFile(directory), JSON.stringify(owner));
  return () => rmSync(ownerFile(directory), { force: true });
}

function ownerFile(directory: string): string {
  return join(directory, 'redis.owner.json');
}

function readOwner(directory: string): Owner | undefined {
  try {
    const value = JSON.parse(readFileSync(ownerFile(directory), 'utf8')) as Partial<Owner>;
    const { ownerPid, pid, port } = value;
    return ownerPid !== undefined && pid !== undefined && port !== undefined ? { ownerPid, pid, port } : undefined;
  } catch {
    return undefined;
  }
}

/** What the Redis at the other end says of itself, also while it still loads its data; undefined when none answers. */
export async function identifyRedis(
  link: RedisLink,
): Promise<{ pid: number; directory: string; isReady: boolean } | undefined> {
  try {
    const [ping, info, config] = await link.send([['PING'], ['INFO', 'server'], ['CONFIG', 'GET', 'dir']]);
    if (!Buffer.isBuffer(info) || !Array.isArray(config)) return undefined;
    const pid = Number(/^process_id:(\d+)/m.exec(info.toString())?.[1]);
    return { pid, directory: String(config[1]), isReady: ping instanceof StatusReply };
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
