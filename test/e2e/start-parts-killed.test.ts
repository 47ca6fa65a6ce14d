import { describe, expect, it } from 'vitest';
import { figuresOf, useStartFolder } from '../support/start-folder.ts';
import { type KnownProcess, until } from '../support/start-process.ts';

/* `npm start` whose parts are killed: what is accepted comes to its end, billed once. */

const folder = useStartFolder();

describe('npm start -- --once whose parts are killed', () => {
  it('goes on with the same jobs, billed once: first the drain’s process, then Redis and DynamoDB; and says which figures it no longer knows', async () => {
    const run = folder.start(['--once', '--json', '--jobs', '8', '--time-scale', '15']);
    await run.said('clips are accepted');
    const drain = folder.processesOf(run).find(({ command }) => /serverless.*offline/.test(command)) as KnownProcess;
    process.kill(drain.pid, 'SIGKILL');
    await run.said('API and functions died (SIGKILL)');
    await run.said('back after');
    const processes = folder.processesOf(run);
    for (const command of [/redis-server|valkey-server/, /part\.ts dynamo/]) {
      process.kill((processes.find((one) => command.test(one.command)) as KnownProcess).pid, 'SIGKILL');
    }
    await run.said('DynamoDB died (SIGKILL)');
    await until(() => run.stderr().split('back after').length === 4, 'both back');
    folder.processesOf(run);
    expect(await run.ended).toBe(0);
    const figures = figuresOf(run);
    expect(figures).toMatchObject({
      submitted: 8,
      completed: 8,
      lost: 0,
      billedClips: 8,
      redisCommands: null,
      dynamoWrites: null,
    });
    expect(figures.providerReads).toBeGreaterThan(0);
  });
});
