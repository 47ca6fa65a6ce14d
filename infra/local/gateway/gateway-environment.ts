import type { LocalAccounts } from '../stack/local-accounts.ts';

export const stage = 'local';
export const region = 'us-east-1';
const drainFunction = `pollkeeper-${stage}-drain`;

export interface PartAddresses {
  redis: { url: string; token: string };
  sume: { url: string };
  dynamo: string;
}

/** What the user may tune; nothing else of the shell's environment reaches the functions. */
const passedOn = [
  'TICK_MS',
  'LEASE_MS',
  'DRAIN_WINDOW_MS',
  'DRAIN_CONCURRENCY',
  'DRAIN_HELPERS',
  'PROVIDER_TIMEOUT_MS',
  'PRICES',
  'SPENDING_CAPS',
  'ADAPTIVE_FIRST_READ',
  'AWS_REGION',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
];

/** Everything that the functions read, so that none of them ever asks AWS for a parameter. `tokens`: what API_TOKENS is. */
export function gatewayEnvironment(
  parts: PartAddresses,
  accounts: LocalAccounts,
  tokens: string,
  tableName: string,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const chosen = Object.fromEntries(
    passedOn.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
  ) as Record<string, string>;
  return {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    ...chosen,
    STAGE: stage,
    TABLE_NAME: tableName,
    UPSTASH_REDIS_REST_URL: parts.redis.url,
    UPSTASH_REDIS_REST_TOKEN: parts.redis.token,
    UPSTASH_DISABLE_TELEMETRY: '1',
    SUME_API_BASE_URL: parts.sume.url,
    ACCOUNTS: accounts.setting,
    ...accounts.keys,
    DYNAMODB_ENDPOINT: parts.dynamo,
    API_TOKENS: tokens,
    DRAIN_FUNCTION_NAME: drainFunction,
  };
}

/** Asks the emulated Lambda for a drain now, instead of at the next full minute. A failure only means that wait. */
export async function wakeDrain(lambdaUrl: string): Promise<void> {
  const response = await fetch(`${lambdaUrl}/2015-03-31/functions/${drainFunction}/invocations`, {
    method: 'POST',
    headers: { 'x-amz-invocation-type': 'Event' },
    body: '{}',
    signal: AbortSignal.timeout(5_000),
  }).catch(() => undefined);
  await response?.body?.cancel();
}
