import type { LocalAccounts } from '../stack/local-accounts.ts';

export const stage = 'local';
export const region = 'us-east-1';
const drainFunction = `pollkeeper-${stage}-drain`;
const deliverFunction = `pollkeeper-${stage}-deliver`;

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
  'DELIVER_WINDOW_MS',
  'DELIVER_CONCURRENCY',
  'WEBHOOK_ALLOW_LOCAL',
  'WEBHOOK_PORTS',
  'WEBHOOK_TIMEOUT_MS',
  'EVENT_BUS_NAME',
  'EVENTBRIDGE_ENDPOINT',
  'PROVIDER_TIMEOUT_MS',
  'API_REQUESTS_PER_MINUTE',
  'PRICES',
  'SPENDING_CAPS',
  'ADAPTIVE_FIRST_READ',
  'SUME_WEBHOOK_SECRET',
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
    // Whoever develops a receiver has it on this machine.
    WEBHOOK_ALLOW_LOCAL: 'on',
    ...chosen,
    // A name that other tools use too.
    ...(chosen.SUME_WEBHOOK_SECRET && environment.PUBLIC_URL && { PUBLIC_URL: environment.PUBLIC_URL }),
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
    DELIVER_FUNCTION_NAME: deliverFunction,
  };
}

/** Asks the emulated Lambda to work now, instead of at the next full minute. A failure only means that wait. */
export async function wakeFunctions(lambdaUrl: string): Promise<void> {
  const wake = async (name: string) => {
    const response = await fetch(`${lambdaUrl}/2015-03-31/functions/${name}/invocations`, {
      method: 'POST',
      headers: { 'x-amz-invocation-type': 'Event' },
      body: '{}',
      signal: AbortSignal.timeout(5_000),
    }).catch(() => undefined);
    await response?.body?.cancel();
  };
  await Promise.all([drainFunction, deliverFunction].map(wake));
}
