import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../lib/errors.ts';
import { readWebhookConfig } from '../../lib/webhooks/webhook-config.ts';

const dev = { DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000' };

describe('the settings of webhooks', () => {
  it('have defaults: the two usual ports, fifteen seconds, and nothing local', () => {
    expect(readWebhookConfig({})).toEqual({ allowLocal: false, ports: [443, 8_443], timeoutMs: 15_000 });
  });

  it('are read from their variables', () => {
    const set = { WEBHOOK_PORTS: '443, 9000,443', WEBHOOK_TIMEOUT_MS: '1000', WEBHOOK_ALLOW_LOCAL: 'off' };
    expect(readWebhookConfig(set)).toEqual({ allowLocal: false, ports: [443, 9_000], timeoutMs: 1_000 });
  });

  it('T89 let nothing local through on AWS, where the record has no endpoint of its own', () => {
    expect(readWebhookConfig({ ...dev, WEBHOOK_ALLOW_LOCAL: 'on' }).allowLocal).toBe(true);
    for (const DYNAMODB_ENDPOINT of [undefined, ''])
      expect(() => readWebhookConfig({ WEBHOOK_ALLOW_LOCAL: 'on', DYNAMODB_ENDPOINT })).toThrow(ConfigError);
    // Or has one: that of a private network.
    const inLambda = { ...dev, WEBHOOK_ALLOW_LOCAL: 'on', AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' };
    expect(() => readWebhookConfig(inLambda)).toThrow(ConfigError);
  });

  it.each([
    ['WEBHOOK_ALLOW_LOCAL', 'yes'],
    ['WEBHOOK_PORTS', '443,'],
    ['WEBHOOK_PORTS', '0'],
    ['WEBHOOK_PORTS', '65536'],
    ['WEBHOOK_PORTS', 'https'],
    ['WEBHOOK_TIMEOUT_MS', '999'],
    ['WEBHOOK_TIMEOUT_MS', '30001'],
  ])('with %s as %j stop the start, and the variable is named', (name, value) => {
    expect(() => readWebhookConfig({ ...dev, [name]: value })).toThrow(new RegExp(name));
  });
});
