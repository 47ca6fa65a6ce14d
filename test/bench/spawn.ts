import { join } from 'node:path';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import { bundleDir, type ProcessName } from './bundle-processes.ts';

export type BenchProcess = NodeProcess;

/** Starts a bundled process: its memory and time are those of its own code. With a `profileDir` it leaves a CPU profile there. */
export function startProcess(
  name: ProcessName,
  env: Record<string, string>,
  profileDir?: string,
): Promise<BenchProcess> {
  const file = join(bundleDir, `${name}.mjs`);
  if (profileDir === undefined) return startNodeProcess(file, env);
  // A profile is written when a process ends by itself.
  const execArgv = ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
  return startNodeProcess(file, env, { execArgv, endsItself: true });
}
