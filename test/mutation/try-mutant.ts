import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutants.ts';

const repositoryDir = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const copiesDir = join(repositoryDir, '.build', 'mutants');
const copied = [
  'docs',
  'functions',
  'infra',
  'lib',
  'test',
  'package.json',
  'serverless.yml',
  'tsconfig.json',
  'vitest.config.ts',
];

/** A copy of the repository, broken as the mutant says; its folder. Throws when the mutant no longer fits the code. */
export async function prepareCopy(name: string, mutant?: Mutant): Promise<string> {
  const dir = join(copiesDir, name);
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
  for (const part of copied) await cp(join(repositoryDir, part), join(dir, part), { recursive: true });
  await symlink(join(repositoryDir, 'node_modules'), join(dir, 'node_modules'));
  if (mutant === undefined) return dir;
  const path = join(dir, mutant.file);
  const parts = (await readFile(path, 'utf8')).split(mutant.from);
  if (parts.length !== 2) {
    throw new Error(
      `${mutant.name}: its text stands ${parts.length - 1} times in ${mutant.file}, not once. Adapt the mutant.`,
    );
  }
  await writeFile(path, parts.join(mutant.to));
  if (mutant.file.endsWith('.lua')) await run(dir, ['--import', 'tsx', 'infra/generate.ts']);
  return dir;
}

/** The first test that fails there, by its title; null when all pass. A file that can't even be loaded is no catch. */
export async function failingTests(dir: string, tests: readonly string[]): Promise<string | null> {
  const report = join(dir, 'report.json');
  await run(dir, [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...tests,
    '--bail=1',
    '--reporter=json',
    `--outputFile=${report}`,
  ]);
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as Report;
  const unloaded = testResults.find(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  if (unloaded !== undefined) throw new Error(`${unloaded.name} can't be run: ${unloaded.message}`);
  const failed = testResults.flatMap((file) => file.assertionResults).find(({ status }) => status === 'failed');
  return failed?.fullName ?? null;
}

export function removeCopies(): Promise<void> {
  return rm(copiesDir, { recursive: true, force: true });
}

interface Report {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string }[];
  }[];
}

async function run(cwd: string, args: string[]): Promise<void> {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'ignore'] });
  await once(child, 'exit');
}
