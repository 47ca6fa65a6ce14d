import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readOptions } from '../chaos/options.ts';
import { makePlan } from '../chaos/plan.ts';
import { UsageError } from '../support/command-line.ts';
import { withoutRedis } from '../support/hidden-redis.ts';

const count = (list: readonly { victim: string }[], victim: string) =>
  list.filter((one) => one.victim === victim).length;

describe('the plan of chaos', () => {
  it('is the same for the same seed, and another for another', () => {
    const request = { jobs: 500, kills: 40, seed: 'a', quick: false };
    expect(makePlan(request)).toEqual(makePlan(request));
    expect(makePlan({ ...request, seed: 'b' })).not.toEqual(makePlan(request));
  });

  it('has as many jobs and kills as asked for, all begun within its span', () => {
    const plan = makePlan({ jobs: 500, kills: 40, seed: 'a', quick: false });
    expect(plan.submitsAtMs).toHaveLength(500);
    expect(plan.kills).toHaveLength(40);
    const times = [...plan.submitsAtMs, ...[...plan.kills, ...plan.bursts, ...plan.endings].map(({ atMs }) => atMs)];
    expect(Math.min(...times)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...times)).toBeLessThan(plan.spanMs);
    expect(['drain', 'api', 'sweep', 'redis'].map((victim) => count(plan.kills, victim))).toEqual([22, 10, 5, 3]);
  });

  it('leaves Redis alone when it is quick, and kills the API once in three', () => {
    const { kills, spanMs } = makePlan({ jobs: 20, kills: 3, seed: 'a', quick: true });
    expect(['drain', 'api', 'redis'].map((victim) => count(kills, victim))).toEqual([2, 1, 0]);
    expect(spanMs).toBe(8_000);
  });
});

describe('the options of chaos', () => {
  it('are the whole without any, with a new seed', () => {
    expect(readOptions([], 'fresh')).toMatchObject({
      jobs: 500,
      kills: 40,
      seed: 'fresh',
      timeScale: 10,
      quick: false,
    });
    expect(readOptions(['--seed', '7', '--quick'], 'fresh')).toMatchObject({ seed: '7', timeScale: 30 });
  });

  it.each([
    [['--jobs', '0'], '--jobs is "0"; expected a whole number from 1 to 10000.'],
    [['--kills', 'many'], '--kills is "many"; expected a whole number from 0 to 1000.'],
    [['--time-scale', '0.5'], '--time-scale is "0.5"; expected a whole number from 1 to 100.'],
    [['--seed', 'a/b'], '--seed is "a/b"; expected 1 to 40 letters, digits, _ or -.'],
    [['--loud'], "Unknown option '--loud'. See npm run chaos -- --help."],
    [['--jobs'], "Option '--jobs <value>' argument missing. See npm run chaos -- --help."],
  ])('refuse %j in one line', (argv, message) => {
    const attempt = () => readOptions(argv, 'fresh');
    expect(attempt).toThrow(UsageError);
    expect(attempt).toThrow(message);
  });
});

describe('the command of chaos', () => {
  const chaos = (args: string[], flags: string[] = []) =>
    spawnSync(process.execPath, [...flags, '--import', 'tsx', 'test/chaos/run.ts', ...args], { encoding: 'utf8' });

  it('explains itself, and ends with 2 for an option that it does not have', () => {
    expect(chaos(['--help'])).toMatchObject({ status: 0, stdout: expect.stringContaining('--kills N') });
    expect(chaos(['--loud'])).toMatchObject({
      ...{ status: 2, stdout: '' },
      stderr: "Unknown option '--loud'. See npm run chaos -- --help.\n",
    });
  });

  it('ends with 2 and says what to install when there is no Redis', () => {
    expect(chaos([], withoutRedis)).toMatchObject({
      ...{ status: 2, stdout: '' },
      stderr: 'There is no redis-server or valkey-server on this machine; install one of them.\n',
    });
  });
});
