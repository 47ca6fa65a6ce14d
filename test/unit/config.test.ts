import { describe, expect, it } from 'vitest';
import {
  type Environment,
  readDeliverConfig,
  readDrainConfig,
  readEventBusConfig,
  readLeaseConfig,
  readRecordConfig,
  readRedisConfig,
  readRequestsPerMinute,
  readSumeConfig,
  readWakeConfig,
} from '../../lib/config.ts';
import { ConfigError } from '../../lib/errors.ts';
import { readTokens } from '../../lib/tokens.ts';

const digest = 'ab'.repeat(32);
const full: Environment = {
  UPSTASH_REDIS_REST_URL: 'https://eu1-example.upstash.io',
  UPSTASH_REDIS_REST_TOKEN: 'AXabcQ',
  SUME_API_KEY: 'sk_live_1',
  API_TOKENS: JSON.stringify([{ owner: 'acme', sha256: digest }]),
};

/** The message of the ConfigError that a reader throws. */
function refusal(read: (environment: Environment) => unknown, environment: Environment): string {
  try {
    read(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error('nothing was refused');
}

describe('settings left out', () => {
  it('have the values of the development stage, AWS and Sume', () => {
    expect(readRecordConfig({})).toEqual({ stage: 'dev', table: 'pollkeeper-dev' });
    expect(readWakeConfig({ STAGE: 'prod' })).toEqual({
      drainFunction: 'pollkeeper-prod-drain',
      deliverFunction: 'pollkeeper-prod-deliver',
    });
    expect(readDrainConfig({})).toEqual({
      tickMs: 1_000,
      leaseMs: 10_000,
      windowMs: 65_000,
      concurrency: 100,
      helpersMax: 3,
      adaptiveFirstRead: true,
    });
    const sume = { origin: 'https://api.sume.com', basePath: '', apiKey: 'sk_live_1', timeoutMs: 15_000 };
    expect(readSumeConfig(full)).toEqual(sume);
    expect(readDrainConfig({ TICK_MS: '', LEASE_MS: '', DRAIN_WINDOW_MS: '', DRAIN_CONCURRENCY: '' })).toEqual(
      readDrainConfig({}),
    );
    expect(readRecordConfig({ DYNAMODB_ENDPOINT: '' })).toEqual(readRecordConfig({}));
  });
});

describe('settings given', () => {
  it('are taken as they are, addresses without a slash at their end', () => {
    expect(
      readRecordConfig({ STAGE: 'eu-2', TABLE_NAME: 'a.b_C-1', DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000/' }),
    ).toEqual({ stage: 'eu-2', table: 'a.b_C-1', endpoint: 'http://127.0.0.1:8000' });
    const functions = { DRAIN_FUNCTION_NAME: 'mine', DELIVER_FUNCTION_NAME: 'my-deliver' };
    expect(readWakeConfig({ ...functions, LAMBDA_ENDPOINT: 'http://localhost:3002' })).toEqual({
      drainFunction: 'mine',
      deliverFunction: 'my-deliver',
      endpoint: 'http://localhost:3002',
    });
    expect(['on', 'off', ''].map((word) => readDrainConfig({ ADAPTIVE_FIRST_READ: word }).adaptiveFirstRead)).toEqual([
      true,
      false,
      true,
    ]);
    const redis = { UPSTASH_REDIS_REST_URL: ' https://x.upstash.io/ ', UPSTASH_REDIS_REST_TOKEN: ' AXabcQ\n' };
    expect(readRedisConfig(redis)).toEqual({ url: 'https://x.upstash.io', token: 'AXabcQ' });
  });

  it.each([
    ['https://api.sume.com', 'https://api.sume.com', ''],
    ['https://api.sume.com/', 'https://api.sume.com', ''],
    ['https://api.sume.com/v1', 'https://api.sume.com', ''],
    ['https://api.sume.com/v1/', 'https://api.sume.com', ''],
    ['http://127.0.0.1:4010/proxy/v1', 'http://127.0.0.1:4010', '/proxy'],
    ['http://127.0.0.1:4010/proxy/', 'http://127.0.0.1:4010', '/proxy'],
    ['https://api.sume.com/v10', 'https://api.sume.com', '/v10'],
  ])('of Sume’s address may have the version at its end or not: %s', (url, origin, basePath) => {
    expect(readSumeConfig({ ...full, SUME_API_BASE_URL: url })).toMatchObject({ origin, basePath });
  });
});

describe('a setting that is missing or malformed', () => {
  it.each([
    ['STAGE', readRecordConfig, ['Prod', '1dev', 'a b', 'x'.repeat(32), 'dév'], 'dev or prod'],
    ['TABLE_NAME', readRecordConfig, ['ab', 'a b', 'x'.repeat(256), 'tä-ble'], 'pollkeeper-dev'],
    ['DYNAMODB_ENDPOINT', readRecordConfig, ['8000', 'ftp://x', 'localhost:8000'], 'https://'],
    ['LAMBDA_ENDPOINT', readWakeConfig, ['nowhere', 'file:///tmp'], 'https://'],
    ['UPSTASH_REDIS_REST_URL', readRedisConfig, [undefined, '', 'x.upstash.io', 'redis://x'], 'upstash.io'],
    ['UPSTASH_REDIS_REST_TOKEN', readRedisConfig, [undefined, '', '  '], 'AXj…Q'],
    ['SUME_API_BASE_URL', readSumeConfig, ['api.sume.com', 'ws://api.sume.com'], 'https://api.sume.com'],
    ['SUME_API_KEY', readSumeConfig, [undefined, '', '\n'], 'sk_live_…'],
    ['PROVIDER_TIMEOUT_MS', readSumeConfig, ['99', '30001', '1e3', '15s', '-1', ' 500', '0x1F4'], '15000'],
    ['TICK_MS', readLeaseConfig, ['99', '10001', '1.5', 'NaN'], '1000'],
    ['LEASE_MS', readLeaseConfig, ['999', '300001', 'Infinity', '١٠٠٠٠'], '10000'],
    ['DRAIN_WINDOW_MS', readDrainConfig, ['999', '840001', 'null'], '65000'],
    ['ADAPTIVE_FIRST_READ', readDrainConfig, ['ON', 'true', '1', 'off '], 'on or off'],
    ['API_REQUESTS_PER_MINUTE', readRequestsPerMinute, ['0', '1000001', 'OFF', 'none'], '6000'],
    ['DELIVER_WINDOW_MS', readDeliverConfig, ['999', '840001', 'null'], '65000'],
    ['DELIVER_CONCURRENCY', readDeliverConfig, ['0', '501', '1.5'], '100'],
    [
      'EVENT_BUS_NAME',
      readEventBusConfig,
      ['a b', '*', 'arn:aws:events:eu-west-1:123456789012:event-bus/x'],
      'pollkeeper',
    ],
    ['DRAIN_CONCURRENCY', readDrainConfig, ['0', '1001', '9'.repeat(400), '[]'], '100'],
    [
      'API_TOKENS',
      readTokens,
      [undefined, '', '{', 'null', '{}', '"x"', '[null]', '[1]', '["acme"]'],
      '"owner":"acme"',
    ],
  ] as const)('%s stops the start with its name and an example', (name, read, values, example) => {
    for (const value of values) {
      const message = refusal(read, { ...full, [name]: value });
      expect(message).toContain(name);
      expect(message).toContain(example);
    }
  });

  it('never shows the value of a secret', () => {
    const value = 'very\u0000secret-é';
    const readers = [
      ['UPSTASH_REDIS_REST_URL', readRedisConfig],
      ['UPSTASH_REDIS_REST_TOKEN', readRedisConfig],
      ['SUME_API_KEY', readSumeConfig],
      ['API_TOKENS', readTokens],
    ] as const;
    for (const [name, read] of readers) expect(refusal(read, { ...full, [name]: value })).not.toMatch(/secret/);
    const entries = JSON.stringify([{ owner: 'very secret', sha256: 'very-secret' }]);
    expect(refusal(readTokens, { API_TOKENS: entries })).not.toMatch(/secret/);
  });

  it('T20 LEASE_MS must cover eight ticks, so that a renewal can fail and come again, and a call be ended in time', () => {
    expect(readLeaseConfig({ LEASE_MS: '8000', TICK_MS: '1000' })).toEqual({ leaseMs: 8_000, tickMs: 1_000 });
    const message = refusal(readLeaseConfig, { LEASE_MS: '7999', TICK_MS: '1000' });
    expect(message).toMatch(/LEASE_MS \(7999\).*TICK_MS \(1000\)/);
    expect(refusal(readDrainConfig, { TICK_MS: '5000' })).toContain('LEASE_MS');
  });
});
