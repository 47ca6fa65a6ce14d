/**
 * Builds `pollkeeper/client` to `.build/client/`: one module without imports, and its types.
 * Run: `npm run build:client`; `npm pack` does it by itself. Exit code 1 if it fails.
 */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const repositoryDir = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const entry = join(repositoryDir, 'lib/client/entry.ts');

/** Builds into the folder, default `.build/client`. Throws what the compilers say. */
export async function buildClient(outDir = '.build/client'): Promise<void> {
  const folder = resolve(repositoryDir, outDir);
  // What an older build left would be packed too.
  await rm(folder, { recursive: true, force: true });
  await Promise.all([bundle(folder), declare(folder)]);
}

/** As old a syntax as the oldest runtime needs, and for none of them in particular: an import of Node's own would fail. */
async function bundle(folder: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile: join(folder, 'entry.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'warning',
  });
}

async function declare(folder: string): Promise<void> {
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
  const flags = [
    ...['--declaration', '--emitDeclarationOnly', '--rewriteRelativeImportExtensions'],
    ...['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023', '--types', 'node'],
    ...['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck'],
  ];
  const command = [join(dirname(compiler), 'bin/tsc'), '--ignoreConfig', ...flags, '--outDir', folder, entry];
  await promisify(execFile)(process.execPath, command, { cwd: repositoryDir }).catch((error: unknown) => {
    const said = (error as { stdout?: string }).stdout;
    throw said ? new Error(said) : error;
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await buildClient();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
