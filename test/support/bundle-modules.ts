import { build } from 'esbuild';

/** Turns TypeScript modules into plain ones, `<outDir>/<name>.mjs` each; packages stay where they are. */
export async function bundleModules(entryPoints: readonly string[], outDir: string): Promise<void> {
  await build({
    entryPoints: [...entryPoints],
    outdir: outDir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
}
