import { type Environment, integer, onOrOff } from '../config.ts';
import { ConfigError } from '../errors.ts';

/** Where webhooks may go, and how long one attempt may take. */
export interface WebhookConfig {
  /** For local development only: http, private addresses and every port are taken too. */
  allowLocal: boolean;
  ports: readonly number[];
  /** In all: the name, the connection, the answer. */
  timeoutMs: number;
}

/** Throws a ConfigError naming the first variable that is wrong. */
export function readWebhookConfig(environment: Environment): WebhookConfig {
  const allowLocal = onOrOff(environment, 'WEBHOOK_ALLOW_LOCAL', false);
  // A record with an address of its own may be on AWS too, behind an endpoint in a private network.
  const isOnAws =
    (environment.DYNAMODB_ENDPOINT ?? '') === '' || environment.AWS_EXECUTION_ENV?.startsWith('AWS_Lambda') === true;
  if (allowLocal && isOnAws) {
    throw new ConfigError(
      'WEBHOOK_ALLOW_LOCAL is on without DYNAMODB_ENDPOINT, or in Lambda; expected off on AWS, where it would let a URL reach into the network.',
    );
  }
  return {
    allowLocal,
    ports: ports(environment),
    timeoutMs: integer(environment, 'WEBHOOK_TIMEOUT_MS', 15_000, 1_000, 30_000),
  };
}

function ports(environment: Environment): number[] {
  const text = environment.WEBHOOK_PORTS || '443,8443';
  const parts = text.split(',').map((part) => part.trim());
  const numbers = parts.map((part) => (/^\d{1,5}$/.test(part) ? Number(part) : 0));
  if (!numbers.every((port) => port >= 1 && port <= 65_535)) {
    throw new ConfigError(
      `WEBHOOK_PORTS is "${text}"; expected ports from 1 to 65535 with commas between, for example 443,8443.`,
    );
  }
  return [...new Set(numbers)];
}
