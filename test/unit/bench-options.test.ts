import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { readOptions, UsageError } from '../bench/options.ts';
import { withoutRedis } from '../support/hidden-redis.ts';

describe('the benchmark’s options', () => {
  it('without any are the whole, and in small without the ten kills', () => {
    expect(readOptions([])).toMatchObject({ json: false, quick: false, port: 0, svg: '.build/bench.svg' });
    expect(readOptions([]).scenarios).toEqual(['S1', 'S2', 'S3', 'K1', 'S4', 'light', 'life', 'cold']);
    expect(readOptions(['--quick']).scenarios).toEqual(['S1', 'S2', 'S3', 'S4', 'light', 'life', 'cold']);
  });

  it('name scenarios in the wished order, each once', () => {
    expect(readOptions(['growth', 'S1', 'S1', '--quick']).scenarios).toEqual(['growth', 'S1']);
  });

  it.each([
    [['S9'], 'There is no scenario "S9"; expected some of S1, S2,'],
    [['--port', '70000'], '--port is "70000"; expected a number from 0 to 65535.'],
    [['--port', '1e3'], '--port is "1e3"'],
    [['--port', ''], '--port is ""'],
    [['--hz', '0'], '--hz is "0"; expected a number from 1 to 500.'],
    [['--dynamo', 'aws'], '--dynamo is "aws"; expected dynalite or memory.'],
    [['--profile', ''], '--profile is empty'],
    [['--svg', ''], '--svg is empty'],
    [['--fast'], "Unknown option '--fast'. See --help."],
    [['--port'], "Option '--port <value>' argument missing. See --help."],
    [['--json=1'], "Option '--json' does not take an argument. See --help."],
  ])('refuse %j in one line', (args, message) => {
    const attempt = () => readOptions(args);
    expect(attempt).toThrow(UsageError);
    expect(attempt).toThrow(message);
  });
});

describe('the benchmark’s command', () => {
  // One that does not refuse would go on for minutes, and block everything here.
  const limits = { encoding: 'utf8', timeout: 50_000, killSignal: 'SIGKILL' } as const;
  const bench = (...args: string[]) =>
    spawnSync(process.execPath, ['--import', 'tsx', 'test/bench/run.ts', ...args], limits);

  it('ends with code 2 and one line on bad input', () => {
    const { status, stderr, stdout } = bench('S9');
    expect(status).toBe(2);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stdout).toBe('');
  });

  it('ends with code 2 when the port is in use, before it starts anything', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { status, stderr } = bench('S1', '--port', String(port));
    server.close();
    expect(stderr.trim()).toBe(`Port ${port} is in use; choose another with --port.`);
    expect(status).toBe(2);
  });

  it('ends with code 2 when the drawing can’t be written, before it starts anything', () => {
    const { status, stderr } = bench('S1', '--svg', 'docs');
    expect(stderr.trim()).toBe('--svg is "docs", which can\'t be written (EISDIR).');
    expect(status).toBe(2);
  });

  it('ends with code 2 and says what to install when there is no Redis', () => {
    const { status, stderr, stdout } = spawnSync(
      process.execPath,
      [...withoutRedis, '--import', 'tsx', 'test/bench/run.ts', 'S1'],
      { ...limits, env: { ...process.env, PATH: '/nonexistent' } },
    );
    expect(stderr.trim()).toBe('There is no redis-server or valkey-server on this machine; install one of them.');
    expect(status).toBe(2);
    expect(stdout).toBe('');
  });

  it('in small measures a life, and says so in one line of JSON', () => {
    const { status, stdout } = bench('life', '--quick', '--json');
    expect(status).toBe(0);
    const figures = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    expect(figures).toMatchObject({ quick: true, runs: [], life: { jobs: 20, ended: 20, dynamoWritesPerJob: 5 } });
    expect(figures.targetsMissed).toBeInstanceOf(Array);
  });
});
