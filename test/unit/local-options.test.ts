import { describe, expect, it } from 'vitest';
import { readOptions } from '../../infra/local/console/options.ts';
import { readEndpoints } from '../../infra/local/stack/endpoints.ts';

describe('the command line of npm start', () => {
  it('takes its defaults when nothing is given', () => {
    expect(readOptions([], '/repo')).toEqual({
      help: false,
      once: false,
      json: false,
      demo: true,
      jobs: 30,
      jobsGiven: false,
      port: 0,
      timeScale: 15,
      dataDir: '/repo/.local',
    });
  });

  it('takes every option, with a space or an equals sign', () => {
    const options = readOptions(
      ['--once', '--json', '--jobs=100', '--port', '8080', '--time-scale=7.5', '--data-dir', 'x'],
      '/r',
    );
    expect(options).toMatchObject({ once: true, json: true, jobs: 100, jobsGiven: true, port: 8080, timeScale: 7.5 });
    expect(options.dataDir).toBe('/r/x');
    expect(readOptions(['--no-demo'], '/r').demo).toBe(false);
  });

  it.each([
    ['--jobs=0', '--jobs is "0"; expected a whole number from 1 to 1000.'],
    ['--jobs=1001', '--jobs is "1001"'],
    ['--jobs=2.5', '--jobs is "2.5"'],
    ['--jobs=ten', '--jobs is "ten"'],
    ['--jobs=', '--jobs is ""'],
    ['--jobs=-3', '--jobs is "-3"'],
    ['--port=65536', '--port is "65536"; expected a whole number from 1 to 65535.'],
    ['--time-scale=0', '--time-scale is "0"; expected a number from 0.1 to 1000.'],
    ['--fast', "Unknown option '--fast'. See npm start -- --help."],
    ['30', "Unexpected argument '30'"],
    ['--once=yes', "Option '--once' does not take an argument"],
  ])('refuses %s in one clear line', (flag, line) => {
    const refusal = (() => {
      try {
        readOptions([flag], '/r');
      } catch (error) {
        return String(error);
      }
      return '';
    })();
    expect(refusal).toContain(line);
    expect(refusal).not.toContain('\n');
  });

  it('refuses --no-demo together with --jobs', () => {
    expect(() => readOptions(['--no-demo', '--jobs', '3'], '/r')).toThrow('contradict');
  });
});

describe('endpoints given by the environment', () => {
  it('takes none when none is set, or only empty ones', () => {
    expect(readEndpoints({})).toEqual({});
    expect(readEndpoints({ SUME_API_BASE_URL: '', UPSTASH_REDIS_REST_TOKEN: ' ' })).toEqual({});
  });

  it('takes whole pairs and tells what is on this machine', () => {
    const given = readEndpoints({
      SUME_API_BASE_URL: 'https://api.sume.com',
      SUME_API_KEY: 'key',
      UPSTASH_REDIS_REST_URL: 'http://127.0.0.1:1',
      UPSTASH_REDIS_REST_TOKEN: 'token',
      DYNAMODB_ENDPOINT: 'http://localhost:8000',
    });
    expect(given.sume).toEqual({ url: 'https://api.sume.com/', apiKey: 'key', onThisMachine: false });
    expect(given.redis).toEqual({ url: 'http://127.0.0.1:1/', token: 'token' });
    expect(given.dynamo).toEqual({ url: 'http://localhost:8000/', onThisMachine: true });
  });

  it.each([
    [{ SUME_API_BASE_URL: 'http://x' }, 'SUME_API_KEY is missing'],
    [{ SUME_API_KEY: 'secret-1' }, 'SUME_API_BASE_URL is missing'],
    [{ TICK_MS: 'abc' }, 'TICK_MS is "abc"'],
    [{ LEASE_MS: '1000' }, 'LEASE_MS (1000)'],
    [{ ACCOUNTS: '[{"id":"A"}]' }, 'ACCOUNTS entry 1 (A): id must be'],
    [{ DYNAMODB_ENDPOINT: 'http://u:hidden@127.0.0.1:1' }, 'DYNAMODB_ENDPOINT has a user or password'],
    [{ UPSTASH_REDIS_REST_URL: 'http://x' }, 'UPSTASH_REDIS_REST_TOKEN is missing'],
    [{ UPSTASH_REDIS_REST_TOKEN: 'secret-1' }, 'UPSTASH_REDIS_REST_URL is missing'],
    [{ DYNAMODB_ENDPOINT: 'nonsense' }, 'DYNAMODB_ENDPOINT is not an http(s) address'],
    [{ UPSTASH_REDIS_REST_URL: 'redis://x', UPSTASH_REDIS_REST_TOKEN: 'secret-1' }, 'UPSTASH_REDIS_REST_URL is not'],
  ])('names what is wrong with %o', (environment, line) => {
    expect(() => readEndpoints(environment)).toThrow(line);
    expect(() => readEndpoints(environment)).not.toThrow('secret-1');
  });
});
