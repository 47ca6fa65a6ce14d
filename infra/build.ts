/**
 * Bundles every Lambda function to `.build/<name>/index.mjs`, with chunks that are loaded when needed, and packs it as
 * `.build/<name>.zip`.
 * Run: `node --import tsx infra/build.ts`. Exit code 1 if a function fails to build or is too large.
 */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { zipSync } from 'fflate';

/** The Lambda functions: `functions/<name>.ts`, each exporting `handler`. serverless.yml lists the same names. */
export const functionNames = ['api', 'authorize', 'drain', 'deliver', 'sweep'] as const;

/** The most that one zip may weigh. A cold start loads and compiles all of it. */
export const zipBytesMax = 400 * 1024;

export type BuiltFunction = {
  name: string;
  bundlePath: string;
  zipPath: string;
  bundleBytes: number;
  zipBytes: number;
};

type BuildOptions = {
  /** Folder of the entries, default `functions`. */
  sourceDir?: string;
  /** Folder that gets `<name>/` with `index.mjs`, its chunks and their maps, and `<name>.zip`, default `.build`. */
  outDir?: string;
  /** Functions to build, default all. */
  names?: readonly string[];
};

const repositoryDir = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * The part of undici that talks to an origin. Its main file would also bring in fetch, mocks, cache and proxies, 78 KB more
 * in the zip; and it would bring undici into every function, used or not (another 100 KB), since nothing says that loading it
 * has no effect of its own. A name left out here and imported somewhere fails the build ("No matching export"); then add it.
 */
const slimUndici: Plugin = {
  name: 'slim-undici',
  setup(esbuild) {
    const path = createRequire(import.meta.url).resolve('undici');
    const contents = `
      import Dispatcher from './lib/dispatcher/dispatcher.js';
      import request from './lib/api/api-request.js';
      Object.assign(Dispatcher.prototype, { request });
      export { Dispatcher };
      export { default as Agent } from './lib/dispatcher/agent.js';
      export { default as Client } from './lib/dispatcher/client.js';
      export { default as Pool } from './lib/dispatcher/pool.js';
      export { default as buildConnector } from './lib/core/connect.js';
      export { default as errors } from './lib/core/errors.js';
      export { getGlobalDispatcher } from './lib/global.js';`;
    esbuild.onResolve({ filter: /^undici$/ }, () => ({ path, namespace: 'slim-undici', sideEffects: false }));
    esbuild.onLoad({ filter: /.*/, namespace: 'slim-undici' }, () => ({ contents, resolveDir: dirname(path) }));
    // HTTP/2 is never asked for (`allowH2` is off), and loading Node's own takes milliseconds of every cold start.
    const noHttp2 = "module.exports = () => { throw new Error('HTTP/2 is not bundled.'); };";
    esbuild.onLoad({ filter: /undici.lib.dispatcher.client-h2\.js$/ }, () => ({ contents: noHttp2 }));
  },
};

/**
 * A function has its credentials in its environment, or gets them over HTTP. Profiles, single sign-on and the like are for
 * people's own machines, and the name of a browser is for browsers: 55 KB of every zip. The chain of credentials goes on
 * past what is left out here.
 */
const noWorkstation: Plugin = {
  name: 'no-workstation',
  setup(esbuild) {
    const filter = /^(bowser|@aws-sdk\/credential-provider-(ini|process|sso|web-identity))$/;
    const contents = `
      const leftOut = () => async () => {
        throw Object.assign(new Error('Only credentials of the environment are bundled.'), { tryNextLink: true });
      };
      export { leftOut as fromIni, leftOut as fromProcess, leftOut as fromSSO, leftOut as fromTokenFile };`;
    esbuild.onResolve({ filter }, ({ path }) => ({ path, namespace: 'no-workstation', sideEffects: false }));
    esbuild.onLoad({ filter: /.*/, namespace: 'no-workstation' }, () => ({ contents }));
  },
};

/** undici is CommonJS and asks for Node's own modules by `require`, which an ES module does not have. */
const requireShim = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;

/** Writes the entry as `<dir>/index.mjs`, and what is only loaded when needed as chunks beside it. Returns all by name. */
async function bundle(entryPath: string, dir: string): Promise<Map<string, Uint8Array>> {
  const result = await build({
    absWorkingDir: repositoryDir,
    entryPoints: { index: entryPath },
    outdir: dir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    banner: { js: requireShim },
    plugins: [slimUndici, noWorkstation],
    // Identifiers keep their names: a stack trace in the logs stays readable without the source map.
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'external',
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
  });
  await mkdir(dir, { recursive: true });
  // The entry last: it never names a chunk that is not there yet.
  const files = result.outputFiles.sort((a, b) => Number(isEntry(a.path)) - Number(isEntry(b.path)));
  for (const file of files) await replace(file.path, file.contents);
  const code = files
    .filter(({ path }) => path.endsWith('.mjs'))
    .map((file) => [basename(file.path), file.contents] as const);
  return new Map(code.sort());
}

function isEntry(path: string): boolean {
  return basename(path).startsWith('index.');
}

/** A running gateway or another build never sees half a file. */
async function replace(path: string, contents: Uint8Array): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, contents);
  await rename(unfinished, path);
}

/** A zip of the code alone. Same code, same bytes: the time is fixed, so an unchanged function is not uploaded again. */
function pack(code: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const readableByAll = 0o100644 * 2 ** 16;
  // Zip times are local ones, so the date is local too: the bytes do not depend on the time zone.
  const mtime = new Date(1980, 0, 1);
  const packed = [...code].map(([name, bytes]) => [name, [bytes, { level: 9, mtime, os: 3, attrs: readableByAll }]]);
  return zipSync(Object.fromEntries(packed));
}

async function buildFunction(name: string, sourceDir: string, outDir: string): Promise<BuiltFunction> {
  const zipPath = join(outDir, `${name}.zip`);
  const code = await bundle(join(sourceDir, `${name}.ts`), join(outDir, name));
  const zip = pack(code);
  await replace(zipPath, zip);
  const bundleBytes = [...code.values()].reduce((sum, bytes) => sum + bytes.length, 0);
  return { name, bundlePath: join(outDir, name, 'index.mjs'), zipPath, bundleBytes, zipBytes: zip.length };
}

/**
 * Builds the functions and returns their sizes in bytes, in the order of `names`.
 * Throws esbuild's own error for code that does not build, and an error naming each zip over `zipBytesMax`.
 */
export async function buildFunctions(options: BuildOptions = {}): Promise<BuiltFunction[]> {
  const sourceDir = resolve(repositoryDir, options.sourceDir ?? 'functions');
  const outDir = resolve(repositoryDir, options.outDir ?? '.build');
  const names = options.names ?? functionNames;
  const built = await Promise.all(names.map((name) => buildFunction(name, sourceDir, outDir)));
  const tooLarge = built.filter((one) => one.zipBytes > zipBytesMax);
  if (tooLarge.length > 0) {
    const sizes = tooLarge.map((one) => `${one.name} ${kilobytes(one.zipBytes)}`).join(', ');
    throw new Error(`Over ${kilobytes(zipBytesMax)} zipped: ${sizes}. Look for a package imported whole.`);
  }
  return built;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`;
}

function sizeTable(built: BuiltFunction[]): string {
  const row = (name: string, bundled: string, zipped: string, zip: string) =>
    `${name.padEnd(12)}${bundled.padStart(12)}${zipped.padStart(12)}  ${zip}`;
  const rows = built.map((one) =>
    row(one.name, kilobytes(one.bundleBytes), kilobytes(one.zipBytes), relative(repositoryDir, one.zipPath)),
  );
  return [row('function', 'bundle', 'zip', 'file'), ...rows].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(sizeTable(await buildFunctions()));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
