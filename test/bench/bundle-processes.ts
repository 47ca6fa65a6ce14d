import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const processNames = [
  'status-server',
  'remote-part',
  'submit-jobs',
  'exchange-times',
  'sweep-once',
  'dynamo-memory',
  'worker-limit',
  'worker-floor',
  'worker-bullmq',
  'worker-zrem-loop',
  'worker-pollkeeper',
] as const;
export type ProcessName = (typeof processNames)[number];

export const bundleDir = fileURLToPath(new URL('../../.build/bench', import.meta.url));

/** Turns the processes' TypeScript into plain modules in `.build/bench`; packages stay where they are. */
export async function bundleProcesses(): Promise<void> {
  await build({
    entryPoints: processNames.map((name) => fileURLToPath(new URL(`./processes/${name}.ts`, import.meta.url))),
    outdir: bundleDir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
}
