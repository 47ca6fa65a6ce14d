import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startRedis } from '../../infra/local/redis/redis.ts';
import { RedisLink } from '../../infra/local/upstash-rest/redis-link.ts';
import { figuresOf, useStartFolder } from '../support/start-folder.ts';
import { type KnownProcess, stillAlive, until } from '../support/start-process.ts';

/* `npm start` interrupted and killed: what is accepted comes to its end, billed once, and nothing is left running. */

const folder = useStartFolder();

describe('npm start -- --once whose parts are killed', () => {
  it('goes on with the same jobs, billed once, when the process that runs the drain is killed', async () => {
    const run = folder.start(['--once', '--json', '--jobs', '8', '--time-scale', '15']);
    await run.said('clips are accepted');
    const drain = folder.processesOf(run).find(({ command }) => /serverless.*offline/.test(command)) as KnownProcess;
    process.kill(drain.pid, 'SIGKILL');
    await run.said('API and functions died (SIGKILL)');
    await run.said('back after');
    folder.processesOf(run);
    expect(await run.ended).toBe(0);
    expect(figuresOf(run)).toMatchObject({
      submitted: 8,
      completed: 8,
      lost: 0,
      billedClips: 8,
      earlyReads: 0,
    });
  });

  it('goes on when Redis, the bridge or DynamoDB is killed, and says which figures it no longer knows', async () => {
    const run = folder.start(['--once', '--json', '--jobs', '8', '--time-scale', '15']);
    await run.said('clips are accepted');
    const processes = folder.processesOf(run);
    for (const command of [/redis-server|valkey-server/, /part\.ts dynamo/]) {
      process.kill((processes.find((one) => command.test(one.command)) as KnownProcess).pid, 'SIGKILL');
    }
    await run.said('DynamoDB died (SIGKILL)');
    await until(() => run.stderr().split('back after').length === 3, 'both back');
    folder.processesOf(run);
    expect(await run.ended).toBe(0);
    const figures = figuresOf(run);
    expect(figures).toMatchObject({
      submitted: 8,
      completed: 8,
      billedClips: 8,
      redisCommands: null,
      dynamoWrites: null,
    });
    expect(figures.providerReads).toBeGreaterThan(0);
  });
});

describe('npm start until Ctrl-C', () => {
  it('T130 stops only its own processes within 5 s, refuses a second start, and continues after a restart', async () => {
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

      const third = folder.start(['--once', '--json', '--no-demo', '--time-scale', '15']);
      await third.said('unfinished jobs from before');
      folder.processesOf(third);
      expect(await third.ended).toBe(0);
      const figures = figuresOf(third);
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

  it('leaves nothing running when it is killed itself, and the next start finishes the work', async () => {
    const first = folder.start(['--jobs', '6', '--time-scale', '15']);
    await first.said('clips are accepted');
    const processes = folder.processesOf(first);
    const supervisor = processes.find(({ command }) => command.includes('start.ts')) as KnownProcess;
    process.kill(supervisor.pid, 'SIGKILL');
    expect(await first.ended).toBe(137);
    await until(() => stillAlive(processes).length === 0, 'every part to notice', 5_000);

    const second = folder.start(['--once', '--json', '--no-demo', '--time-scale', '15']);
    await second.said('unfinished jobs from before');
    folder.processesOf(second);
    expect(await second.ended).toBe(0);
    expect(folder.billedClips()).toBe(6);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('stops everything in order when npm itself gets %s', async (signal) => {
    const run = folder.startByNpm(['--no-demo']);
    await run.said('Up until Ctrl-C');
    const processes = folder.processesOf(run);
    expect(
      processes.filter(({ command }) => /part\.ts|serverless.*offline|redis-server|valkey-server/.test(command)),
    ).toHaveLength(5);
    run.child.kill(signal);
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
