import { ConfigError } from './errors.ts';

/*
 * Everything that the environment decides, read and checked once, at cold start. A missing or malformed setting stops
 * the function there, with the variable's name and an example.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface RecordConfig {
  stage: string;
  table: string;
  /** Only away from AWS. */
  endpoint?: string;
}

export interface RedisConfig {
  url: string;
  token: string;
}

export interface WakeConfig {
  /** The function that a submit wakes. */
  drainFunction: string;
  /** The function that is woken when there are events to deliver. */
  deliverFunction: string;
  /** Only away from AWS. */
  endpoint?: string;
}

export interface SumeConfig {
  /** Scheme, host and port. */
  origin: string;
  /** What stands before `/v1`, without a slash at its end; usually empty. */
  basePath: string;
  apiKey: string;
  timeoutMs: number;
}

export interface LeaseConfig {
  leaseMs: number;
  tickMs: number;
}

export interface DrainConfig extends LeaseConfig {
  windowMs: number;
  concurrency: number;
  helpersMax: number;
  /** Whether the first read of a render is delayed to where it is worth while: see render-times.ts. */
  adaptiveFirstRead: boolean;
}

export interface DeliverConfig extends LeaseConfig {
  windowMs: number;
  /** Attempts at a time. */
  concurrency: number;
}

export interface EventBusConfig {
  /** Of this account and region: the function may write to no other. */
  busName: string;
  /** Only away from AWS. */
  endpoint?: string;
}

/** The name under SECRETS_PREFIX of the SSM parameter that holds a secret, by its environment variable. */
export function secretParameter(variable: string): string {
  return variable.toLowerCase().replaceAll('_', '-');
}

/* Each of these throws a ConfigError naming the first variable that is wrong. Secrets are expected to be filled in. */

export function readRecordConfig(environment: Environment): RecordConfig {
  const stage = environment.STAGE || 'dev';
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(stage)) {
    throw new ConfigError(`STAGE is "${stage}"; expected a lower-case name such as dev or prod.`);
  }
  const table = environment.TABLE_NAME || `pollkeeper-${stage}`;
  if (!/^[\w.-]{3,255}$/.test(table)) {
    throw new ConfigError(`TABLE_NAME is "${table}"; expected a DynamoDB table name such as pollkeeper-dev.`);
  }
  return { stage, table, ...optionalEndpoint(environment, 'DYNAMODB_ENDPOINT') };
}

export function readRedisConfig(environment: Environment): RedisConfig {
  return {
    url: address(url(environment, 'UPSTASH_REDIS_REST_URL')),
    token: secret(environment, 'UPSTASH_REDIS_REST_TOKEN', 'AXj…Q'),
  };
}

export function readWakeConfig(environment: Environment): WakeConfig {
  const { stage } = readRecordConfig(environment);
  const drainFunction = environment.DRAIN_FUNCTION_NAME || `pollkeeper-${stage}-drain`;
  const deliverFunction = environment.DELIVER_FUNCTION_NAME || `pollkeeper-${stage}-deliver`;
  return { drainFunction, deliverFunction, ...optionalEndpoint(environment, 'LAMBDA_ENDPOINT') };
}

/** `keyVariable` is the account's. */
export function readSumeConfig(environment: Environment, keyVariable = 'SUME_API_KEY'): SumeConfig {
  const base = url(environment, 'SUME_API_BASE_URL', 'https://api.sume.com');
  return {
    origin: base.origin,
    basePath: base.pathname.replace(/\/+$/, '').replace(/\/v1$/, ''),
    apiKey: secret(environment, keyVariable, 'sk_live_…'),
    timeoutMs: integer(environment, 'PROVIDER_TIMEOUT_MS', 15_000, 100, 30_000),
  };
}

export function readLeaseConfig(environment: Environment): LeaseConfig {
  const tickMs = integer(environment, 'TICK_MS', 1_000, 100, 10_000);
  const leaseMs = integer(environment, 'LEASE_MS', 10_000, 1_000, 300_000);
  if (leaseMs < 8 * tickMs) {
    throw new ConfigError(
      `LEASE_MS (${leaseMs}) must be at least 8 × TICK_MS (${tickMs}): leases are renewed once a tick.`,
    );
  }
  return { leaseMs, tickMs };
}

export function readDrainConfig(environment: Environment): DrainConfig {
  return {
    ...readLeaseConfig(environment),
    windowMs: integer(environment, 'DRAIN_WINDOW_MS', 65_000, 1_000, 840_000),
    concurrency: integer(environment, 'DRAIN_CONCURRENCY', 100, 1, 1_000),
    helpersMax: integer(environment, 'DRAIN_HELPERS', 3, 0, 50),
    adaptiveFirstRead: onOrOff(environment, 'ADAPTIVE_FIRST_READ', true),
  };
}

export function readDeliverConfig(environment: Environment): DeliverConfig {
  const { leaseMs, tickMs } = readLeaseConfig(environment);
  return {
    leaseMs,
    // Somebody waits for the news: it is looked for twice as often as jobs are.
    tickMs: Math.ceil(tickMs / 2),
    windowMs: integer(environment, 'DELIVER_WINDOW_MS', 65_000, 1_000, 840_000),
    concurrency: integer(environment, 'DELIVER_CONCURRENCY', 100, 1, 500),
  };
}

/** Null where events go to no bus. */
export function readEventBusConfig(environment: Environment): EventBusConfig | null {
  const busName = environment.EVENT_BUS_NAME;
  if (busName === undefined || busName === '') return null;
  if (!/^[\w./-]{1,256}$/.test(busName)) {
    throw new ConfigError(
      `EVENT_BUS_NAME is "${busName}"; expected the name of an EventBridge bus such as pollkeeper.`,
    );
  }
  return { busName, ...optionalEndpoint(environment, 'EVENTBRIDGE_ENDPOINT') };
}

/** How many requests an owner may make in a minute; null for any number. */
export function readRequestsPerMinute(environment: Environment): number | null {
  if (environment.API_REQUESTS_PER_MINUTE === 'off') return null;
  return integer(environment, 'API_REQUESTS_PER_MINUTE', 6_000, 1, 1_000_000);
}

function secret(environment: Environment, name: string, example: string): string {
  const value = environment[name]?.trim();
  if (value === undefined || value === '') {
    throw new ConfigError(
      `${name} is missing; set it (for example ${example}), or SECRETS_PREFIX and the parameter ${secretParameter(name)}.`,
    );
  }
  // The value itself never goes into a message.
  if (!/^[\x21-\x7e]+$/.test(value))
    throw new ConfigError(`${name} has characters that can't be in a header; expected one like ${example}.`);
  return value;
}

function url(environment: Environment, name: string, fallback?: string): URL {
  const example = fallback ?? 'https://example-12345.upstash.io';
  const value = environment[name] || fallback;
  if (value === undefined || value === '')
    throw new ConfigError(`${name} is missing; expected a URL such as ${example}`);
  const parsed = URL.canParse(value) ? new URL(value) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new ConfigError(`${name} is not an http(s) URL; expected one such as ${example}`);
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new ConfigError(
      `${name} has a user or password in it, which would end up in logs; expected one such as ${example}`,
    );
  }
  return parsed;
}

function optionalEndpoint(environment: Environment, name: string): { endpoint?: string } {
  const value = environment[name];
  return value === undefined || value === '' ? {} : { endpoint: address(url(environment, name)) };
}

function address(parsed: URL): string {
  return parsed.href.replace(/\/+$/, '');
}

export function onOrOff(environment: Environment, name: string, fallback: boolean): boolean {
  const text = environment[name];
  if (text === undefined || text === '') return fallback;
  if (text === 'on' || text === 'off') return text === 'on';
  throw new ConfigError(`${name} is "${text}"; expected on or off, for example ${fallback ? 'on' : 'off'}.`);
}

export function integer(environment: Environment, name: string, fallback: number, min: number, max: number): number {
  const text = environment[name];
  if (text === undefined || text === '') return fallback;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw new ConfigError(
      `${name} is "${text}"; expected a whole number from ${min} to ${max}, for example ${fallback}.`,
    );
  }
  return value;
}
