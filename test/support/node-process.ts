import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

/** The first message of every process that is started here. */
export interface Ready {
  kind: 'ready';
  /** Of those that serve. */
  url?: string;
}

/** A process of a benchmark or of chaos. It ends when its channel closes, however the one that started it ends. */
export interface NodeProcess {
  readonly pid: number;
  /** Of those that serve, else empty. */
  readonly url: string;
  /** Its first message, with whatever else it holds. */
  readonly ready: Ready;
  send(message: object): void;
  /** Sends and waits for the one answer. One question at a time. */
  ask<Reply>(message: object): Promise<Reply>;
  /** Whatever it says from now on. */
  onMessage(heard: (message: object) => void): void;
  /** Rejects when the process ends by itself. Never resolves. */
  readonly failed: Promise<never>;
  /** Resolves when it is gone, however that came. */
  readonly gone: Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export interface NodeProcessOptions {
  /** Node's own flags. */
  execArgv?: string[];
  /** `kill` only closes the channel: the process ends by itself, and writes what it writes at its end. */
  endsItself?: boolean;
  /** Gets all that it prints. Without one, stdout goes nowhere and stderr to ours. */
  logFile?: string;
  /** In a process group of its own, which a terminal's Ctrl-C does not reach. */
  detached?: boolean;
}

const readyDeadlineMs = 120_000;

/** Starts a module with plain Node, without a loader, and waits until it says that it is ready. */
export async function startNodeProcess(
  file: string,
  env: Record<string, string>,
  options: NodeProcessOptions = {},
): Promise<NodeProcess> {
  const child = forkWithLog(file, env, options);
  const gone = once(child, 'exit');
  let killed = false;
  const failed = gone.then(([code, signal]): Promise<never> => {
    if (killed) return new Promise(() => {});
    return Promise.reject(new Error(`${file} ended by itself (${signal ?? `exit code ${code}`})`));
  });
  failed.catch(() => {});
  const kill = async () => {
    killed = true;
    if (options.endsItself === true && child.connected) child.disconnect();
    else child.kill('SIGKILL');
    await gone;
  };
  const ready = await Promise.race([nextMessage<Ready>(child), failed, lateness(file)]).catch(async (error) => {
    await kill();
    throw error;
  });
  return {
    pid: child.pid ?? 0,
    url: ready.url ?? '',
    ready,
    failed,
    gone: gone.then(() => {}),
    kill,
    send: (message) => void child.send(message),
    onMessage: (heard) => void child.on('message', (message) => heard(message as object)),
    async ask<Reply>(message: object) {
      const answer = nextMessage<Reply>(child);
      child.send(message);
      return Promise.race([answer, failed]);
    },
  };
}

function forkWithLog(file: string, env: Record<string, string>, options: NodeProcessOptions): ChildProcess {
  const { execArgv = [], logFile, detached = false } = options;
  const log = logFile === undefined ? undefined : openSync(logFile, 'a');
  const child = fork(file, [], {
    env: { ...inherited(), ...env },
    execArgv,
    detached,
    stdio: ['ignore', log ?? 'ignore', log ?? 'inherit', 'ipc'],
  });
  if (log !== undefined) closeSync(log);
  return child;
}

/** Nothing of the shell's that would change how the code runs. */
function inherited(): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', NODE_ENV: 'production' };
}

function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
}

function lateness(file: string): Promise<never> {
  return new Promise((_, reject) => {
    const late = () => reject(new Error(`${file} was not ready within ${readyDeadlineMs / 1000} s`));
    setTimeout(late, readyDeadlineMs).unref();
  });
}
