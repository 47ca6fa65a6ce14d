import { readAccounts } from '../../../lib/accounts.ts';
import { readDrainConfig, readSumeConfig } from '../../../lib/config.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { readPrices } from '../../../lib/prices.ts';
import { readSpendingCaps } from '../../../lib/spending-cap.ts';
import { UsageError } from '../console/options.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The parts that the environment puts in place of ours; an absent one is started here. */
export interface GivenEndpoints {
  sume?: { url: string; apiKey: string; onThisMachine: boolean };
  redis?: { url: string; token: string };
  dynamo?: { url: string; onThisMachine: boolean };
}

/** Throws a UsageError that names the variable which is missing or wrong. */
export function readEndpoints(environment: Environment): GivenEndpoints {
  checkSettings(environment);
  const given: GivenEndpoints = {};
  const redis = pair(environment, 'UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN', 'to have a Redis started here');
  if (redis !== undefined) given.redis = { url: redis.url.href, token: redis.secret };
  const sume = pair(
    withLocalKey(environment),
    'SUME_API_BASE_URL',
    'SUME_API_KEY',
    'to have the provider simulated here',
  );
  if (sume !== undefined) {
    given.sume = { url: sume.url.href, apiKey: sume.secret, onThisMachine: isThisMachine(sume.url) };
  }
  const dynamo = value(environment, 'DYNAMODB_ENDPOINT');
  if (dynamo !== undefined) {
    const url = address('DYNAMODB_ENDPOINT', dynamo);
    given.dynamo = { url: url.href, onThisMachine: isThisMachine(url) };
  }
  return given;
}

/** A provider on this machine is a simulator, which takes any key. */
function withLocalKey(environment: Environment): Environment {
  const text = value(environment, 'SUME_API_BASE_URL');
  const local = text !== undefined && URL.canParse(text) && isThisMachine(new URL(text));
  return local && value(environment, 'SUME_API_KEY') === undefined
    ? { ...environment, SUME_API_KEY: 'sk_local' }
    : environment;
}

/** What the functions would refuse at their start is refused here, before anything is started. */
function checkSettings(environment: Environment): void {
  try {
    readDrainConfig(environment);
    readSumeConfig({ PROVIDER_TIMEOUT_MS: environment.PROVIDER_TIMEOUT_MS, SUME_API_KEY: 'unused' });
    readAccounts(environment.ACCOUNTS);
    readPrices(environment.PRICES);
    readSpendingCaps(environment.SPENDING_CAPS);
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}

function pair(environment: Environment, urlName: string, secretName: string, otherwise: string) {
  const text = value(environment, urlName);
  const secret = value(environment, secretName);
  if (text === undefined && secret === undefined) return undefined;
  if (text === undefined)
    throw new UsageError(`${secretName} is set but ${urlName} is missing; set both, or neither ${otherwise}.`);
  if (secret === undefined)
    throw new UsageError(`${urlName} is set but ${secretName} is missing; set both, or neither ${otherwise}.`);
  return { url: address(urlName, text), secret };
}

function value(environment: Environment, name: string): string | undefined {
  return environment[name]?.trim() || undefined;
}

function address(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const known = url !== undefined && /^https?:$/.test(url.protocol);
  if (known && url.username === '' && url.password === '') return url;
  const wrong = known ? 'has a user or password in it' : 'is not an http(s) address';
  throw new UsageError(`${name} ${wrong}; expected one such as http://127.0.0.1:8000.`);
}

function isThisMachine(url: URL): boolean {
  return url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\./.test(url.hostname);
}
