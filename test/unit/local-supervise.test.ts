import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { identifyProcess } from '../../infra/local/lock/process-identity.mjs';
import { takeLock } from '../../infra/local/lock/take-lock.mjs';
import { openKeptPorts } from '../../infra/local/stack/kept-ports.ts';
import { readLocalKeys } from '../../infra/local/stack/local-keys.ts';
import { type PartEvent, type RunningPart, supervise } from '../../infra/local/stack/supervise.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pollkeeper-supervise-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A part whose end the test decides. */
function stubPart(port: number): RunningPart & { die: (how: string) => void } {
  let die = (_how: string) => {};
  const exited = new Promise<string>((resolve) => {
    die = resolve;
  });
  return { url: '', port, pid: 1, exited, die, close: async () => die('closed') };
}

describe('a supervised part', () => {
  it('is started again on its ports when it dies', async () => {
    const parts: ReturnType<typeof stubPart>[] = [];
    const events: string[] = [];
    const supervised = await supervise({
      name: 'part',
      onEvent: ({ kind }) => events.push(kind),
      start: async (before: ReturnType<typeof stubPart> | undefined) => {
        const part = stubPart(before?.port ?? 4711);
        parts.push(part);
        return part;
      },
    });
    parts[0]?.die('SIGKILL');
    await vi.waitFor(() => expect(events).toEqual(['up', 'died', 'back']));
    expect(supervised.current()).toBe(parts[1]);
    expect(supervised.current().port).toBe(4711);
    expect(supervised.restarts()).toBe(1);
    await supervised.close();
    expect(events).toHaveLength(3);
  });

  it('is given up when it dies more often than allowed in a minute, a failed start counting too', async () => {
    const events: PartEvent[] = [];
    const first = stubPart(1);
    let starts = 0;
    await supervise({
      name: 'part',
      restartsPerMinuteMax: 2,
      onEvent: (event) => events.push(event),
      start: async () => {
        if (starts++ > 0) throw new Error('port taken');
        return first;
      },
    });
    first.die('exit code 1');
    await vi.waitFor(() => expect(events.at(-1)?.kind).toBe('given-up'), 2_000);
    expect(events.map(({ kind }) => kind)).toEqual(['up', 'died', 'start-failed', 'start-failed', 'given-up']);
  });

  it('may die again an hour later', async () => {
    let nowMs = 0;
    const events: string[] = [];
    const parts: ReturnType<typeof stubPart>[] = [];
    await supervise({
      name: 'part',
      restartsPerMinuteMax: 1,
      nowMs: () => nowMs,
      onEvent: ({ kind }) => events.push(kind),
      start: async () => {
        parts.push(stubPart(1));
        return parts.at(-1) as RunningPart;
      },
    });
    for (const round of [1, 2, 3]) {
      nowMs += 3_600_000;
      parts.at(-1)?.die('SIGKILL');
      await vi.waitFor(() => expect(events.filter((kind) => kind === 'back')).toHaveLength(round));
    }
    expect(events).not.toContain('given-up');
  });
});

describe('the lock of a folder', () => {
  it('is held once, and free again after its release', () => {
    const path = join(folder, 'x.lock');
    const mine = takeLock(path);
    expect(takeLock(path)).toEqual({ taken: false, holderPid: process.pid });
    if (mine.taken) mine.release();
    const again = takeLock(path);
    expect(again.taken).toBe(true);
  });

  it('of a killed process is taken over, and of a foreign one with the same number too', () => {
    const path = join(folder, 'x.lock');
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    for (const text of [`{"pid":${dead},"identity":"1"}`, `{"pid":${process.pid},"identity":"other"}`, 'half a l']) {
      writeFileSync(path, text);
      const lock = takeLock(path);
      expect(lock.taken).toBe(true);
      if (lock.taken) lock.release();
    }
    expect(existsSync(path)).toBe(false);
  });

  it('knows a process from a dead one', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const pid = child.pid as number;
    const identity = identifyProcess(pid);
    expect(identity).toMatch(/\d/);
    expect(identifyProcess(pid)).toBe(identity);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(identifyProcess(pid)).toBeUndefined();
    expect(identifyProcess(-1)).toBeUndefined();
  });
});

describe('what a folder keeps', () => {
  it('are keys that only their owner may read, the same at every start', () => {
    const keys = readLocalKeys(folder);
    expect(statSync(join(folder, 'keys.json')).mode & 0o777).toBe(0o600);
    expect(readLocalKeys(folder)).toEqual(keys);
    expect(new Set(Object.values(keys)).size).toBe(3);
    writeFileSync(join(folder, 'keys.json'), JSON.stringify({ apiToken: keys.apiToken }));
    expect(readLocalKeys(folder).apiToken).toBe(keys.apiToken);
    expect(readLocalKeys(folder).sumeKey).not.toBe(keys.sumeKey);
  });

  it('are ports, as long as nobody else has taken them', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    openKeptPorts(folder).keep('api', port);
    expect(await openKeptPorts(folder).suggest('api')).toBe(0);
    server.close();
    await once(server, 'close');
    expect(await openKeptPorts(folder).suggest('api')).toBe(port);
    expect(await openKeptPorts(folder).suggest('other')).toBe(0);
    writeFileSync(join(folder, 'ports.json'), '{"api": 70000, "x"');
    expect(await openKeptPorts(folder).suggest('api')).toBe(0);
    expect(readFileSync(join(folder, 'ports.json'), 'utf8')).toContain('70000');
  });
});
