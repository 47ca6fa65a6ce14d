import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuiltFunction, buildFunctions, functionNames } from '../../infra/build.ts';
import { bundleDir } from './bundle-processes.ts';
import { median } from './percentiles.ts';

/** Sizes of the packages as they were when the baseline was last written, bytes by function. */
export type SizeBaseline = Record<string, { bundleBytes: number; zipBytes: number }>;

export interface ColdStartFigures {
  runs: number;
  /** From before the import to after it, in a fresh process; ms. */
  drainImportMs: number;
  /** The same for a file that imports nothing but the two clients which any solution needs. */
  clientsImportMs: number;
  ratio: number;
  functions: Pick<BuiltFunction, 'name' | 'bundleBytes' | 'zipBytes'>[];
  /** Packages grown by more than the tolerance since the baseline, in words. */
  grown: string[];
}

const baselineFile = fileURLToPath(new URL('./baseline.json', import.meta.url));
const growthMax = 0.15;

/** Functions whose zip or bundle is over the baseline by more than 15%, in words. A function without a baseline has none to pass. */
export function grownSince(baseline: SizeBaseline, functions: ColdStartFigures['functions']): string[] {
  return functions.flatMap(({ name, bundleBytes, zipBytes }) => {
    const before = baseline[name];
    if (before === undefined) return [];
    const growth = Math.max(zipBytes / before.zipBytes, bundleBytes / before.bundleBytes) - 1;
    return growth > growthMax ? [`${name} grew by ${(growth * 100).toFixed(1)}%`] : [];
  });
}

export async function measureColdStart(built: readonly BuiltFunction[], runs: number): Promise<ColdStartFigures> {
  const drain = built.find(({ name }) => name === 'drain');
  if (drain === undefined) throw new Error('The drain was not built.');
  const clients = await buildClientsOnly();
  const times: { drain: number[]; clients: number[] } = { drain: [], clients: [] };
  // Alternating, so that what else the machine does falls on both.
  for (let run = 0; run <= runs; run++) {
    const pair = { drain: await importMs(drain.bundlePath), clients: await importMs(clients) };
    // The first ones fill the file cache.
    if (run === 0) continue;
    times.drain.push(pair.drain);
    times.clients.push(pair.clients);
  }
  const [drainImportMs, clientsImportMs] = [median(times.drain), median(times.clients)];
  const functions = built.map(({ name, bundleBytes, zipBytes }) => ({ name, bundleBytes, zipBytes }));
  return {
    runs,
    drainImportMs: Math.round(drainImportMs * 10) / 10,
    clientsImportMs: Math.round(clientsImportMs * 10) / 10,
    ratio: Math.round((drainImportMs / clientsImportMs) * 100) / 100,
    functions,
    grown: grownSince(JSON.parse(await readFile(baselineFile, 'utf8')) as SizeBaseline, functions),
  };
}

/** Takes today's sizes as the ones to compare with. */
export async function writeBaseline(built: readonly BuiltFunction[]): Promise<void> {
  const sizes = Object.fromEntries(built.map(({ name, bundleBytes, zipBytes }) => [name, { bundleBytes, zipBytes }]));
  await writeFile(baselineFile, `${JSON.stringify(sizes, null, 2)}\n`);
}

export function buildAll(): Promise<BuiltFunction[]> {
  return buildFunctions({ names: functionNames });
}

/** Bundled as the functions are; the clients are made, as the drain makes them, or nothing of them would be left. */
async function buildClientsOnly(): Promise<string> {
  // Inside the repository, so that its packages are found.
  const sourceDir = join(bundleDir, 'clients-source');
  const source = `import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { Redis } from '@upstash/redis';
export function handler() {
  return [new DynamoDBClient({}).send(new GetItemCommand({ TableName: 't', Key: {} })), new Redis({ url: '', token: '' })];
}
`;
  await mkdir(sourceDir, { recursive: true });
  await writeFile(join(sourceDir, 'clients.ts'), source);
  const [built] = await buildFunctions({ sourceDir, outDir: join(bundleDir, 'clients'), names: ['clients'] });
  if (built === undefined) throw new Error('The file with only the clients was not built.');
  return built.bundlePath;
}

/** How long a fresh process takes to import the file, ms. */
async function importMs(path: string): Promise<number> {
  const script = `const before = performance.now(); await import(${JSON.stringify(path)}); console.log(performance.now() - before); process.exit(0)`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: dirname(path),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(child, 'close');
  const milliseconds = Number(text);
  if (text === '' || !Number.isFinite(milliseconds)) throw new Error(`${path} can't be imported.`);
  return milliseconds;
}
