import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { identifyProcess } from '../../infra/local/lock/process-identity.mjs';

export interface KnownProcess {
  pid: number;
  identity: string;
  command: string;
}

/** A run of `npm start`, with all it prints. */
export interface StartProcess {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves when the text has appeared in what it prints; rejects if it ends first or takes longer than a minute. */
  said(text: string): Promise<void>;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

/** The script of `npm start`, without npm in front. */
export function runStart(args: readonly string[], env: Record<string, string> = {}): StartProcess {
  return run(process.execPath, ['infra/local/bootstrap.mjs', 'start', ...args], env);
}

/** `npm start` as it is typed: the child is npm. */
export function runNpmStart(args: readonly string[]): StartProcess {
  return run('npm', ['start', '--', ...args], {});
}

function run(program: string, args: readonly string[], env: Record<string, string>): StartProcess {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  }
  const ended = once(child, 'close').then(() => child.exitCode);
  return {
    child,
    ended,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    async said(wanted) {
      const has = () => (text.stdout + text.stderr).includes(wanted);
      await until(() => has() || child.exitCode !== null, `"${wanted}" in:\n${text.stdout}${text.stderr}`);
      if (!has()) throw new Error(`Ended without saying "${wanted}":\n${text.stdout}${text.stderr}`);
    },
  };
}

/** Every process below this one, however deep. */
export function descendantsOf(pid: number): KnownProcess[] {
  const table = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).stdout;
  const rows = [...table.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].map(([, id, parent, command]) => {
    return { pid: Number(id), parent: Number(parent), command: command ?? '' };
  });
  const found: KnownProcess[] = [];
  for (const parents = [pid]; parents.length > 0; ) {
    const parent = parents.pop();
    for (const row of rows.filter((row) => row.parent === parent)) {
      parents.push(row.pid);
      const identity = identifyProcess(row.pid);
      if (identity !== undefined) found.push({ pid: row.pid, identity, command: row.command });
    }
  }
  return found;
}

export function stillAlive(processes: readonly KnownProcess[]): KnownProcess[] {
  return processes.filter(({ pid, identity }) => identifyProcess(pid) === identity);
}

export async function until(holds: () => boolean | Promise<boolean>, what: string, withinMs = 60_000): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`Not within ${withinMs} ms: ${what}`);
    await pause(25);
  }
}
