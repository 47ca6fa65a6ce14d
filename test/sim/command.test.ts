import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { readOptions, UsageError } from './options.ts';

const sim = (...args: string[]) =>
  spawnSync(process.execPath, ['--import', 'tsx', 'test/sim/run.ts', ...args], { encoding: 'utf8' });

describe('the simulation’s options', () => {
  test('name a seed and its steps, or take a random one', () => {
    expect(readOptions(['--seed', '42', '--steps', '100', '--redis'])).toMatchObject({
      seed: 42,
      steps: 100,
      redis: true,
    });
    expect(readOptions([])).toMatchObject({ seed: expect.any(Number), steps: 3_000, minutes: null, json: false });
    expect(readOptions(['--minutes', '0.5'])).toMatchObject({ minutes: 0.5 });
  });

  test.each([
    [['--seed=-1'], '--seed is "-1"; expected a whole number from 0 to 4294967295.'],
    [['--seed', '4294967296'], '--seed is "4294967296"; expected a whole number from 0 to 4294967295.'],
    [['--seed', '1e3'], '--seed is "1e3"; expected'],
    [['--seed', ''], '--seed is ""; expected'],
    [['--steps', '0'], '--steps is "0"; expected a whole number from 1 to 10000000.'],
    [['--minutes', 'five'], '--minutes is "five"; expected a number from 0.01 to 10000, such as 5.'],
    [['--minutes', '0'], '--minutes is "0"; expected'],
    [['--fast'], "Unknown option '--fast'. See --help."],
    [['7'], "Unexpected argument '7'. See --help."],
    [['--json=1'], "Option '--json' does not take an argument. See --help."],
  ])('refuse %j in one line', (args, message) => {
    const attempt = () => readOptions(args);
    expect(attempt).toThrow(UsageError);
    expect(attempt).toThrow(message);
  });
});

describe('the simulation’s command', () => {
  test('prints its seed first, and the same bytes for the same seed', () => {
    const args = ['--seed', '750', '--steps', '1000'];
    const first = sim(...args);
    expect(first.stdout).toMatch(/^seed 750, 1000 steps with faults, due set in memory\n1 seed, /);
    expect(first.stdout).toMatch(/Everything held\. History \d+-[0-9a-f]{8}\.\n$/);
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(sim(...args).stdout).toBe(first.stdout);
  });

  test('with --json has one object on stdout, and all else on stderr', () => {
    const { status, stdout, stderr } = sim('--seed', '8', '--steps', '300', '--json');
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({
      seed: 8,
      stepsAsked: 300,
      adapter: 'memory',
      seeds: 1,
      violation: null,
    });
    expect(stderr).toMatch(/^seed 8, /);
    expect(status).toBe(0);
  });

  test('goes on with the seeds that follow for as long as it is told', () => {
    const { status, stdout } = sim('--seed', '20', '--steps', '200', '--minutes', '0.02', '--json');
    expect(JSON.parse(stdout).seeds).toBeGreaterThan(1);
    expect(status).toBe(0);
  });

  test('ends with 2 and one line when it is asked for something that it does not know', () => {
    expect(sim('--sed', '7')).toMatchObject({ status: 2, stdout: '', stderr: "Unknown option '--sed'. See --help.\n" });
  });
});
