import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bundleDir, type ProcessName } from './bundle-processes.ts';
import type { Ready } from './messages.ts';

/** One of the benchmark's processes. It ends when its channel closes, however the benchmark ends. */
export interface BenchProcess {
  readonly pid: number;
  /** Of those that serve, else empty. */
  readonly url: string;
  /** Its first message, with whatever else it holds. */
  readonly ready: Ready;
  send(message: object): void;
  /** Sends and waits for the one answer. One question at a time. */
  ask<Reply>(message: object): Promise<Reply>;
  /** Rejects when the process ends by itself. Never resolves. */
  readonly failed: Promise<never>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

const readyDeadlineMs = 120_000;

/** Starts a bundled process with plain Node, without a loader: its memory and time are those of its own code. With a `profileDir` it leaves a CPU profile there. */
export async function startProcess(
  name: ProcessName,
  env: Record<string, string>,
  profileDir?: string,
): Promise<BenchProcess> {
  const child = fork(join(bundleDir, `${name}.mjs`), [], {
    env: { ...inherited(), ...env },
    execArgv: profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`],
    // Workers log to nowhere; what goes wrong goes to our stderr.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const gone = once(child, 'exit');
  let killed = false;
  const failed = gone.then(([code, signal]): Promise<never> => {
    if (killed) return new Promise(() => {});
    return Promise.reject(new Error(`${name} ended by itself (${signal ?? `exit code ${code}`})`));
  });
  failed.catch(() => {});
  const kill = async () => {
    killed = true;
    // A profile is written when a process ends by itself: without a channel it does.
    if (profileDir !== undefined && child.connected) child.disconnect();
    else child.kill('SIGKILL');
    await gone;
  };
  const ready = await Promise.race([nextMessage<Ready>(child), failed, lateness(name)]).catch(async (error) => {
    await kill();
    throw error;
  });
  return {
    pid: child.pid ?? 0,
    url: ready.url ?? '',
    ready,
    failed,
    kill,
    send: (message) => void child.send(message),
    async ask<Reply>(message: object) {
      const answer = nextMessage<Reply>(child);
      child.send(message);
      return Promise.race([answer, failed]);
    },
  };
}

/** Nothing of the shell's that would change how a contender runs. */
function inherited(): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', NODE_ENV: 'production' };
}

function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
}

function lateness(name: string): Promise<never> {
  return new Promise((_, reject) => {
    const late = () => reject(new Error(`${name} was not ready within ${readyDeadlineMs / 1000} s`));
    setTimeout(late, readyDeadlineMs).unref();
  });
}
