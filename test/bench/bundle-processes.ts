import { fileURLToPath } from 'node:url';
import { bundleModules } from '../support/bundle-modules.ts';

const processNames = [
  'status-server',
  'remote-part',
  'submit-jobs',
  'exchange-times',
  'sweep-once',
  'drain-once',
  'dynamo-memory',
  'worker-limit',
  'worker-floor',
  'worker-bullmq',
  'worker-zrem-loop',
  'worker-pollkeeper',
] as const;
export type ProcessName = (typeof processNames)[number];

export const bundleDir = fileURLToPath(new URL('../../.build/bench', import.meta.url));

/** Turns the processes' TypeScript into plain modules in `.build/bench`. */
export function bundleProcesses(): Promise<void> {
  const files = processNames.map((name) => fileURLToPath(new URL(`./processes/${name}.ts`, import.meta.url)));
  return bundleModules(files, bundleDir);
}
