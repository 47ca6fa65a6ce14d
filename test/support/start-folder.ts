import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, vi } from 'vitest';
import {
  descendantsOf,
  type KnownProcess,
  runNpmStart,
  runStart,
  type StartProcess,
  stillAlive,
  until,
} from './start-process.ts';

export interface StartFolder {
  readonly path: string;
  start(args: string[], env?: Record<string, string>): StartProcess;
  /** The same with npm in front. */
  startByNpm(args: string[]): StartProcess;
  /** The processes of a run, remembered so that the test ends by seeing that they are gone. */
  processesOf(run: StartProcess): KnownProcess[];
  /** How many clips the simulated provider has on record, over all runs in the folder. */
  billedClips(): number;
}

/** Gives each test of a file a data folder of its own for `npm start`, and sees that nothing is left running after it. */
export function useStartFolder(): StartFolder {
  // Some tests start everything twice, and other test files want the processors too.
  vi.setConfig({ testTimeout: 120_000 });
  let path = '';
  let runs: StartProcess[] = [];
  let known: KnownProcess[] = [];

  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => {
      for (const run of runs) console.error(`A run of this test said:\n${run.stdout()}${run.stderr()}`);
    });
    path = mkdtempSync(join(tmpdir(), 'pollkeeper-start-'));
    runs = [];
    known = [];
  });

  afterEach(async () => {
    for (const run of runs.filter(({ child }) => child.exitCode === null)) run.child.kill('SIGTERM');
    await Promise.all(runs.map(({ ended }) => ended));
    await until(() => stillAlive(known).length === 0, 'nothing left over', 10_000);
    rmSync(path, { recursive: true, force: true });
  });

  return {
    get path() {
      return path;
    },
    start(args, env = {}) {
      const run = runStart(['--data-dir', path, ...args], env);
      runs.push(run);
      return run;
    },
    startByNpm(args) {
      const run = runNpmStart(['--data-dir', path, ...args]);
      runs.push(run);
      return run;
    },
    processesOf(run) {
      const found = descendantsOf(run.child.pid as number);
      known.push(...found);
      return found;
    },
    billedClips() {
      const journal = readFileSync(join(path, 'sume', 'sume-simulator.jsonl'), 'utf8');
      return journal.split('\n').filter((line) => line.includes('"kind":"created"')).length;
    },
  };
}

/** The figures, which are the last line on stdout. */
export function figuresOf(run: StartProcess): Record<string, unknown> {
  return JSON.parse(run.stdout().trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
}
