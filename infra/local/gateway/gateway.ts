import { type ChildProcess, spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { devNull } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../stack/free-port.ts';
import { type CapturedOutput, captureOutput } from './capture-output.ts';
import { readLocalService } from './gateway-service.ts';

export type GatewayOptions = {
  /** Port of the HTTP API, default 0: any free one. */
  port?: number;
  /** Port of the Lambda invoke API, default 0: any free one. */
  lambdaPort?: number;
  /** Default `local`. Function names are `pollkeeper-<stage>-<name>`. */
  stage?: string;
  /**
   * What the functions find in their environment, before what serverless.yml gives. LAMBDA_ENDPOINT is set to this gateway
   * unless given. Nothing else of the caller's environment gets through.
   */
  env?: Record<string, string>;
  /** Folder with `<name>/index.mjs` for each function of serverless.yml, default `.build`. A file is put there for the start. */
  functionsDir?: string;
  /** File that gets what the emulator and the functions print (see capture-output.ts). Default: only the last lines are kept, in memory. */
  logFile?: string;
  /** Default 30,000. */
  startDeadlineMs?: number;
};

export type Exit = { code: number | null; signal: NodeJS.Signals | null };

export type Gateway = {
  /** Base of the HTTP API, e.g. `http://127.0.0.1:43210`. */
  url: string;
  port: number;
  /** Base of the Lambda invoke API: the `endpoint` of an AWS SDK Lambda client. */
  lambdaUrl: string;
  lambdaPort: number;
  /** The process in which API, schedule and functions run. */
  pid: number;
  /** The last lines printed, oldest first. */
  logTail(): string[];
  /** Resolves when the process has ended, for whatever reason. */
  exited: Promise<Exit>;
  /** Ends the process, and with it any function that still runs; resolves when it is gone. */
  close(): Promise<void>;
};

const host = '127.0.0.1';
const closeDeadlineMs = 2_000;
const emulator = createRequire(import.meta.url).resolve('serverless/bin/serverless.js');
const hook = new URL('./gateway-hook.mjs', import.meta.url).href;

/**
 * Starts API Gateway, the authorizer, the schedules and Lambda's invoke API, all emulated, in a process of their own, on the
 * routes and settings of serverless.yml. The first scheduled events come at the next full minute, not at the start.
 * Rejects, with the last lines of the output, if the process ends or does not answer before the deadline.
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const fixed = options.port && options.lambdaPort;
  try {
    return await startOnce(options);
  } catch (error) {
    // Between finding a free port and using it, somebody else may have taken it.
    const portTaken = error instanceof Error && error.message.includes('EADDRINUSE');
    if (fixed || !portTaken) throw error;
    return await startOnce(options);
  }
}

async function startOnce(options: GatewayOptions): Promise<Gateway> {
  const port = options.port || (await freePort());
  const lambdaPort = options.lambdaPort || (await freePort());
  const url = `http://${host}:${port}`;
  const lambdaUrl = `http://${host}:${lambdaPort}`;
  const stage = options.stage ?? 'local';
  const env = { LAMBDA_ENDPOINT: lambdaUrl, ...options.env };
  const serviceDir = resolve(fileURLToPath(new URL('../../..', import.meta.url)), options.functionsDir ?? '.build');

  const configName = `gateway-${port}.json`;
  const configPath = join(serviceDir, configName);
  await writeFile(configPath, JSON.stringify(await readLocalService(env)));
  const flags = ['--config', configName, '--stage', stage, '--httpPort', `${port}`, '--lambdaPort', `${lambdaPort}`];
  const child = spawn(process.execPath, ['--import', hook, emulator, 'offline', ...flags], {
    cwd: serviceDir,
    env: { ...isolated(), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Ctrl-C in a terminal reaches the caller only, which then stops its parts in its own order.
    detached: true,
  });
  const output = captureOutput(child, options.logFile);
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
  const close = () => end(child, exited);
  try {
    await untilReady(output, exited, options.startDeadlineMs ?? 30_000);
  } catch (error) {
    await close();
    throw error;
  } finally {
    await rm(configPath, { force: true });
  }
  const pid = child.pid as number;
  return { url, port, lambdaUrl, lambdaPort, pid, logTail: output.tail, exited, close };
}

/** No AWS profile, account or instance role of the user's may be found, by the emulator or by the functions. */
function isolated(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    TMPDIR: process.env.TMPDIR,
    HOME: process.env.HOME,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_EC2_METADATA_DISABLED: 'true',
    NO_COLOR: '1',
    SLS_TELEMETRY_DISABLED: '1',
    SLS_NOTIFICATIONS_MODE: 'off',
    SLS_INTERACTIVE_SETUP_ENABLE: '0',
  };
}

function untilReady(output: CapturedOutput, exited: Promise<Exit>, deadlineMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (what: string) => {
      clearTimeout(timer);
      reject(new Error(`The emulated gateway ${what}. Its last lines:\n${output.tail().join('\n')}`));
    };
    const timer = setTimeout(() => fail(`did not answer within ${deadlineMs} ms`), deadlineMs);
    output.onLine((line) => {
      if (!line.includes('Server ready')) return;
      clearTimeout(timer);
      resolve();
    });
    exited.then(({ code, signal }) => fail(`ended while starting (exit code ${code}, signal ${signal})`));
  });
}

async function end(child: ChildProcess, exited: Promise<Exit>): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), closeDeadlineMs);
  await exited;
  clearTimeout(timer);
}
