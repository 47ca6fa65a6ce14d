import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findRedisServer, type LocalRedis, startRedis } from '../../infra/local/redis/redis.ts';
import { RedisLink } from '../../infra/local/upstash-rest/redis-link.ts';
import type { Reply } from '../../infra/local/upstash-rest/resp.ts';

let dataDir: string;
const started: LocalRedis[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'local-redis-test-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const redis of started.splice(0)) await redis.close();
  rmSync(dataDir, { recursive: true });
});

async function start(...options: Parameters<typeof startRedis>): Promise<LocalRedis> {
  const redis = await startRedis(...options);
  started.push(redis);
  return redis;
}

async function ask(port: number, ...command: string[]): Promise<Reply | undefined> {
  const link = new RedisLink({ port, replyTimeoutMs: 5_000 });
  const [reply] = await link.send([command]);
  link.close();
  return reply;
}

const settings = async (port: number, name: string) => String(((await ask(port, 'CONFIG', 'GET', name)) as Reply[])[1]);

/** A Redis that another process has started; on a temporary directory when none is given. */
async function startElsewhere(directory: string): Promise<{ starter: ChildProcess; pid: number; port: number }> {
  const script = `import { startRedis } from ${JSON.stringify(join(import.meta.dirname, '../../infra/local/redis/redis.ts'))};
    const dataDir = process.argv[1];
    const redis = await startRedis(dataDir ? { dataDir } : {});
    console.log(redis.pid, redis.port);
    setInterval(() => {}, 1000);`;
  const starter = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, directory]);
  const [line] = (await once(starter.stdout, 'data')) as [Buffer];
  const [pid, port] = line.toString().trim().split(' ').map(Number);
  return { starter, pid: Number(pid), port: Number(port) };
}

describe('a Redis of our own', () => {
  it('keeps its data between starts, never evicts, and listens on loopback only', async () => {
    const first = await start({ dataDir });
    expect(readFileSync(join(dataDir, 'redis.pid'), 'utf8').trim()).toBe(String(first.pid));
    expect(await settings(first.port, 'appendonly')).toBe('yes');
    expect(await settings(first.port, 'appendfsync')).toBe('everysec');
    expect(await settings(first.port, 'maxmemory-policy')).toBe('noeviction');
    expect(await settings(first.port, 'bind')).toBe('127.0.0.1');
    await ask(first.port, 'SET', 'kept', 'yes');
    await first.close();
    expect(existsSync(join(dataDir, 'redis.pid'))).toBe(false);
    const second = await start({ dataDir });
    expect(String(await ask(second.port, 'GET', 'kept'))).toBe('yes');
  });

  it('leaves nothing behind without a data directory', async () => {
    const redis = await start();
    const directory = await settings(redis.port, 'dir');
    expect(await settings(redis.port, 'appendonly')).toBe('no');
    await redis.close();
    expect(existsSync(directory)).toBe(false);
    expect(() => process.kill(redis.pid, 0)).toThrow('ESRCH');
    await redis.close();
  });

  it('ends, and its directory goes, when the process that started it without one is killed', async () => {
    const { starter, port } = await startElsewhere('');
    const directory = await settings(port, 'dir');
    starter.kill('SIGKILL');
    await once(starter, 'exit');
    await vi.waitFor(() => expect(existsSync(directory)).toBe(false), 10_000);
    await expect(ask(port, 'PING')).rejects.toThrow('Redis cannot be reached');
  });

  it('says in one line that a port is taken or a directory is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    await expect(startRedis({ port })).rejects.toThrow(`Redis: port ${port} is already in use; choose another`);
    server.close();
    const redis = await start({ dataDir });
    await expect(startRedis({ port: redis.port })).rejects.toThrow(`Redis: port ${redis.port} is already in use`);
    await expect(startRedis({ dataDir })).rejects.toThrow(`is in use by the Redis that process ${process.pid} started`);
  });

  it('finds the server on the PATH first, and in the usual places without one', () => {
    expect(findRedisServer()).toMatch(/(redis|valkey)-server$/);
    writeFileSync(join(dataDir, 'redis-server'), '', { mode: 0o755 });
    vi.stubEnv('PATH', `/nowhere:${dataDir}`);
    expect(findRedisServer()).toBe(join(dataDir, 'redis-server'));
    vi.stubEnv('PATH', '');
    expect(findRedisServer()).not.toBe(join(dataDir, 'redis-server'));
  });

  it('shows the end of the log when the server cannot start', async () => {
    await expect(startRedis({ port: 70_000 })).rejects.toThrow(/^Redis: stopped while starting on port 70000/);
  });

  it('stops the server that a killed starter left on the directory, and has its data', async () => {
    const { starter, pid, port } = await startElsewhere(dataDir);
    await ask(port, 'SET', 'kept', 'yes');
    starter.kill('SIGKILL');
    await once(starter, 'exit');
    expect(() => process.kill(pid, 0)).not.toThrow();
    const next = await start({ dataDir });
    expect(next.pid).not.toBe(pid);
    expect(String(await ask(next.port, 'GET', 'kept'))).toBe('yes');
    await expect(ask(port, 'PING')).rejects.toThrow('Redis cannot be reached');
  });
});
