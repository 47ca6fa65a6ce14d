import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startRedis } from '../../infra/local/redis/redis.ts';
import { RedisLink } from '../../infra/local/upstash-rest/redis-link.ts';
import { figuresOf, useStartFolder } from '../support/start-folder.ts';
import { type KnownProcess, stillAlive, until } from '../support/start-process.ts';

/* `npm start` interrupted and killed: what is accepted comes to its end, billed once, and nothing is left running. */

const folder = useStartFolder();

describe('npm start until Ctrl-C', () => {
  it('T130 stops only its own processes within 5 s, refuses a second start, and continues after a restart and after being killed itself', async () => {
    const foreign = await startRedis();
    const link = new RedisLink({ port: foreign.port, replyTimeoutMs: 2_000 });
    try {
      await link.send([
        ['SET', 'foreign', 'untouched'],
        ['CONFIG', 'RESETSTAT'],
      ]);
      // The port that our Redis had last time is now somebody else's.
      writeFileSync(join(folder.path, 'ports.json'), JSON.stringify({ redis: foreign.port }));
      const first = folder.start(['--jobs', '6', '--time-scale', '15']);
      await first.said('clips are accepted');
      const processes = folder.processesOf(first);

      const second = folder.start([]);
      expect(await second.ended).toBe(2);
      expect(second.stderr().trimEnd().split('\n')).toHaveLength(1);
      expect(second.stderr()).toContain('Already running here (process ');

      const askedAtMs = performance.now();
      // As in a terminal, where npm passes on what its child has got already.
      for (const _time of [1, 2, 3]) first.child.kill('SIGINT');
      expect(await first.ended).toBe(0);
      expect(performance.now() - askedAtMs).toBeLessThan(5_000);
      expect(stillAlive(processes)).toEqual([]);
      expect(first.stdout().split('Stopping').length - 1).toBe(1);
      expect(first.stdout()).toContain('What is stored stays in');
      expect(first.stdout()).toMatch(/\d of 6 clips completed, [1-6] unfinished, \d+ s since the start\./);
      expect(first.stdout()).toContain('The next start goes on with those that are unfinished.');

      // Killed in the middle this time, and nothing is left running either.
      const third = folder.start(['--no-demo', '--time-scale', '15']);
      await third.said('unfinished jobs from before');
      const parts = folder.processesOf(third);
      const supervisor = parts.find(({ command }) => command.includes('start.ts')) as KnownProcess;
      process.kill(supervisor.pid, 'SIGKILL');
      expect(await third.ended).toBe(137);
      await until(() => stillAlive(parts).length === 0, 'every part to notice', 5_000);

      const fourth = folder.start(['--once', '--json', '--no-demo', '--time-scale', '15']);
      await fourth.said('from before');
      folder.processesOf(fourth);
      expect(await fourth.ended).toBe(0);
      const figures = figuresOf(fourth);
      expect(figures.submitted).toBeGreaterThan(0);
      expect(figures.completed).toBe(figures.submitted);
      expect(folder.billedClips()).toBe(6);

      const [value, stats] = await link.send([
        ['GET', 'foreign'],
        ['INFO', 'commandstats'],
      ]);
      expect(String(value)).toBe('untouched');
      expect([...String(stats).matchAll(/^cmdstat_([^:]+)/gm)].map(([, name]) => name).sort()).toEqual([
        'config|resetstat',
        'get',
      ]);
    } finally {
      link.close();
      await foreign.close();
    }
  });

  it('stops everything in order when npm itself gets SIGTERM', async () => {
    const run = folder.startByNpm(['--no-demo']);
    await run.said('Up until Ctrl-C');
    const processes = folder.processesOf(run);
    expect(
      processes.filter(({ command }) => /part\.ts|serverless.*offline|redis-server|valkey-server/.test(command)),
    ).toHaveLength(5);
    run.child.kill('SIGTERM');
    expect(await run.ended).toBe(0);
    expect(stillAlive(processes)).toEqual([]);
    expect(run.stdout()).toContain('What is stored stays in');
  });

  it('stops everything when the process above it is killed', async () => {
    const run = folder.start(['--no-demo']);
    await run.said('Up until Ctrl-C');
    const processes = folder.processesOf(run);
    run.child.kill('SIGKILL');
    await until(() => stillAlive(processes).length === 0, 'everything to end', 6_000);
  });
});
