import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startDynamo } from '../../infra/local/dynamo/dynamo.ts';
import { startRedis } from '../../infra/local/redis/redis.ts';
import { startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { startUpstashRest } from '../../infra/local/upstash-rest/upstash-rest.ts';
import { figuresOf, useStartFolder } from '../support/start-folder.ts';
import { stillAlive, until } from '../support/start-process.ts';

/* `npm start` as a user meets it: real parts, each in its process, in a folder of its own. */

const folder = useStartFolder();

const partCommands = [
  /part\.ts redis-bridge/,
  /redis-server|valkey-server/,
  /part\.ts dynamo/,
  /part\.ts sume/,
  /serverless.*offline/,
];

describe('npm start -- --once --json', () => {
  it('brings six clips through every part, tells the figures in its last line, and leaves nothing running', async () => {
    const run = folder.start(['--once', '--json', '--jobs', '6', '--time-scale', '30']);
    await run.said('Sending 6 demo clips');
    const processes = folder.processesOf(run);
    for (const command of partCommands) expect(processes.some((one) => command.test(one.command))).toBe(true);
    expect(await run.ended).toBe(0);
    expect(run.stdout().trimEnd().split('\n')).toHaveLength(1);
    const figures = figuresOf(run);
    expect(Object.keys(figures)).toEqual([
      'submitted',
      'completed',
      'failed',
      'lost',
      'billedClips',
      'providerReads',
      'earlyReads',
      'duplicateReads',
      'latenessMs',
      'redisCommands',
      'redisRoundTrips',
      'dynamoWrites',
      'wallSeconds',
    ]);
    expect(figures).toMatchObject({ submitted: 6, completed: 6, failed: 0, lost: 0, billedClips: 6 });
    expect(figures).toMatchObject({ earlyReads: 0, duplicateReads: 0 });
    for (const name of ['providerReads', 'redisCommands', 'redisRoundTrips', 'dynamoWrites', 'wallSeconds']) {
      expect(figures[name]).toBeGreaterThan(5);
    }
    // A bundler's service notices a little later than others that its starter has gone.
    await until(() => stillAlive(processes).length === 0, 'everything to end', 2_000);
    expect(statSync(join(folder.path, 'keys.json')).mode & 0o777).toBe(0o600);
  });

  it('still tells what it knows when it is interrupted, and does not call that a success', async () => {
    const run = folder.start(['--once', '--json', '--jobs', '6', '--time-scale', '15']);
    await run.said('clips are accepted');
    folder.processesOf(run);
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(1);
    expect(figuresOf(run)).toMatchObject({ submitted: 6 });
    expect(run.stderr()).toContain('Stopped before every clip was done.');
  });
});

describe('npm start with endpoints of its own in the environment', () => {
  it('uses them in place of its parts, and leaves the figures of those open', async () => {
    const dynamo = await startDynamo();
    const redis = await startRedis();
    const bridge = await startUpstashRest({ redisPort: redis.port, token: 'token-x' });
    const sume = await startSumeSimulator({ timeScale: 40, apiKeys: ['key-x'] });
    try {
      const run = folder.start(['--once', '--json', '--jobs', '2'], {
        DYNAMODB_ENDPOINT: dynamo.url,
        UPSTASH_REDIS_REST_URL: bridge.url,
        UPSTASH_REDIS_REST_TOKEN: 'token-x',
        SUME_API_BASE_URL: `${sume.url}/v1`,
        SUME_API_KEY: 'key-x',
      });
      await run.said('clips are accepted');
      expect(
        folder.processesOf(run).filter(({ command }) => /part\.ts|redis-server|valkey-server/.test(command)),
      ).toEqual([]);
      expect(await run.ended).toBe(0);
      expect(figuresOf(run)).toMatchObject({
        submitted: 2,
        completed: 2,
        billedClips: null,
        latenessMs: null,
        redisCommands: null,
        redisRoundTrips: null,
        dynamoWrites: null,
      });
      expect(sume.report().billedClips).toBe(2);
      expect(dynamo.counts().writes).toBeGreaterThan(2);
      expect(bridge.counts().httpRequests).toBeGreaterThan(2);
    } finally {
      await Promise.all([sume.close(), bridge.close(), dynamo.close()]);
      await redis.close();
    }
  });
});

describe('npm start that can not work like this', () => {
  it.each([
    [['--jobs', 'many'], {}, '--jobs is "many"; expected a whole number from 1 to 1000.'],
    [['--no-such'], {}, "Unknown option '--no-such'. See npm start -- --help."],
    [[], { UPSTASH_REDIS_REST_URL: 'http://127.0.0.1:1' }, 'UPSTASH_REDIS_REST_TOKEN is missing'],
    [['--once'], { SUME_API_BASE_URL: 'https://sume.test', SUME_API_KEY: 'k' }, 'Say how many with --jobs N.'],
  ] as [string[], Record<string, string>, string][])(
    'says so in one line and exits with 2: %o %o',
    async (args, env, line) => {
      const run = folder.start(args, env);
      expect(await run.ended).toBe(2);
      expect(run.stderr().trimEnd().split('\n')).toHaveLength(1);
      expect(run.stderr()).toContain(line);
      expect(run.stdout()).toBe('');
    },
  );

  it('explains itself on --help', async () => {
    const run = folder.start(['--help']);
    expect(await run.ended).toBe(0);
    for (const option of [
      '--once',
      '--json',
      '--jobs N',
      '--no-demo',
      '--port N',
      '--time-scale N',
      'DYNAMODB_ENDPOINT',
    ]) {
      expect(run.stdout()).toContain(option);
    }
  });
});
