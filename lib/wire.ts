import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetParametersCommand, SSMClient } from '@aws-sdk/client-ssm';
import { UndiciHttpHandler } from '@smithy/undici-http-handler';
import {
  type Environment,
  type RecordConfig,
  readDrainConfig,
  readLeaseConfig,
  readRecordConfig,
  readRedisConfig,
  readSumeConfig,
  readTokens,
  readWakeConfig,
  type SecretName,
  type TokenEntry,
  type WakeConfig,
} from './config.ts';
import type { DrainPorts, DrainSettings } from './drain.ts';
import { connectUpstash, exchangeMax, UpstashDueSet } from './due-set/upstash-due-set.ts';
import { messageOf } from './errors.ts';
import { DynamoJobStore } from './job-store/dynamo-job-store.ts';
import { shardCount } from './job-store/job-item.ts';
import { jsonLog, type Log } from './log.ts';
import type { Clock, Waker } from './ports.ts';
import { HttpClient } from './providers/http.ts';
import { Sume } from './providers/sume.ts';
import { withSecrets } from './secrets.ts';
import type { SubmitPorts } from './submit.ts';
import type { SweepPorts, SweepSettings } from './sweep.ts';

/*
 * The only place that knows which adapter stands behind which port, and the only one that reads the clock and rolls
 * the dice. One function per Lambda; each reads just the settings and secrets that it needs.
 */

/** The one account there is, until accounts are configured. */
const defaultAccount = 'sume';

const providerBodyMax = 1_000_000;
const providerConnectMs = 5_000;
/** Of one request; a lease outlives two that fail. */
const redisTimeoutMs = 3_000;
/** For the record's write and the last exchange after a provider's answer. */
const settleMarginMs = 3_000;

export const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep(delayMs, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const endsAtMs = performance.now() + delayMs;
      let timer: NodeJS.Timeout;
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      // A timer may fire a little early, and can't be longer than 2^31 ms.
      const wait = () => {
        const leftMs = endsAtMs - performance.now();
        if (leftMs <= 0) return done();
        timer = setTimeout(wait, Math.min(Math.ceil(leftMs), 2 ** 31 - 1));
      };
      signal?.addEventListener('abort', done);
      wait();
    });
  },
};

const random = () => Math.random();

export const log: Log = jsonLog((line) => process.stdout.write(`${line}\n`), clock.nowMs);

export async function wireDrain(
  given: Environment,
): Promise<{ ports: DrainPorts; settings: DrainSettings; stage: string }> {
  const environment = await fill(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN', 'SUME_API_KEY']);
  const record = readRecordConfig(environment);
  const config = readDrainConfig(environment);
  const { origin, basePath, apiKey, timeoutMs } = readSumeConfig(environment);
  const createConcurrency = Math.min(4, config.concurrency);
  const limits = { connectMs: Math.min(providerConnectMs, timeoutMs), totalMs: timeoutMs, bodyMax: providerBodyMax };
  const http = new HttpClient(origin, config.concurrency + createConcurrency, limits, clock.monotonicMs);
  const provider = new Sume(http, { basePath, apiKey, keyPrefix: `pollkeeper-${record.stage}-` });
  const ports = {
    dueSet: dueSet(environment, record.stage),
    store: store(record, 4, config.concurrency + createConcurrency),
    provider,
    waker: waker(environment, record),
    clock,
    random,
    log,
  };
  const stepMs = timeoutMs + settleMarginMs;
  return { ports, settings: { ...config, createConcurrency, stepMs, exchangeMax }, stage: record.stage };
}

export async function wireApi(
  given: Environment,
): Promise<SubmitPorts & { store: DynamoJobStore; stage: string; account: string }> {
  const environment = await fill(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN']);
  const record = readRecordConfig(environment);
  return {
    // A caller waits: one repeat is all that fits into the time it is given.
    store: store(record, 2),
    dueSet: dueSet(environment, record.stage),
    waker: waker(environment, record),
    clock,
    log,
    stage: record.stage,
    account: defaultAccount,
  };
}

export async function wireSweep(
  given: Environment,
): Promise<{ ports: SweepPorts; settings: SweepSettings; stage: string }> {
  const environment = await fill(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN']);
  const record = readRecordConfig(environment);
  const ports = {
    store: store(record, 4),
    dueSet: dueSet(environment, record.stage),
    waker: waker(environment, record),
    clock,
    random,
    log,
  };
  return { ports, settings: { shardCount, pageMs: 10_000, periodMs: 300_000 }, stage: record.stage };
}

export async function wireAuthorize(given: Environment): Promise<TokenEntry[]> {
  return readTokens(await fill(given, ['API_TOKENS']));
}

function dueSet(environment: Environment, stage: string): UpstashDueSet {
  const { url, token } = readRedisConfig(environment);
  const { leaseMs, tickMs } = readLeaseConfig(environment);
  // Ahead covers one tick and a slow round trip: nothing falls due between two exchanges.
  const lease = { leaseMs, aheadMs: Math.ceil(tickMs * 1.25) };
  return new UpstashDueSet(connectUpstash({ url, token, timeoutMs: Math.min(redisTimeoutMs, leaseMs / 4) }), {
    stage,
    account: defaultAccount,
    url,
    token,
    lease,
  });
}

function store(record: RecordConfig, maxAttempts: number, connections = 50): DynamoJobStore {
  const client = new DynamoDBClient({ maxAttempts, ...awsTransport(connections, 3_000), ...localAws(record.endpoint) });
  return new DynamoJobStore(client, record.table, clock);
}

/**
 * undici under the SDK, and its middleware stack resolved once: a call costs a third of the CPU that it costs with the
 * SDK's defaults (decision 9). `timeoutMs` is for the headers, and again between two parts of a body.
 */
function awsTransport(connections: number, timeoutMs: number) {
  const dispatcher = {
    connections,
    connect: { timeout: 1_000 },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: 4_000,
  };
  return { requestHandler: new UndiciHttpHandler({ dispatcher }), cacheMiddleware: true };
}

/** Away from AWS, and without an emulator of it, there is nothing to wake: the caller runs the drain. */
function waker(environment: Environment, record: RecordConfig): Waker {
  const config = readWakeConfig(environment);
  const alone = record.endpoint !== undefined && config.endpoint === undefined;
  return alone ? { wake: async () => {} } : lambdaWaker(config);
}

/** Asynchronous invoke: answers as soon as Lambda has queued the event. A failure only means waiting for the schedule. */
function lambdaWaker({ drainFunction, endpoint }: WakeConfig): Waker {
  const client = new LambdaClient({ maxAttempts: 2, ...awsTransport(1, 2_000), ...localAws(endpoint) });
  return {
    async wake(as) {
      const payload = as === undefined ? {} : { Payload: JSON.stringify({ [as]: true }) };
      const command = new InvokeCommand({ FunctionName: drainFunction, InvocationType: 'Event', ...payload });
      try {
        await client.send(command);
      } catch (error) {
        log.warn('drain_not_woken', { error: messageOf(error) });
      }
    },
  };
}

/** An emulator's address, with the region and the made-up keys that the SDK insists on. */
function localAws(endpoint: string | undefined) {
  if (endpoint === undefined) return {};
  const keys =
    process.env.AWS_ACCESS_KEY_ID === undefined
      ? { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
      : {};
  return { endpoint, region: process.env.AWS_REGION ?? 'us-east-1', ...keys };
}

function fill(environment: Environment, wanted: SecretName[]): Promise<Environment> {
  return withSecrets(environment, wanted, async (Names) => {
    const reply = await new SSMClient({}).send(new GetParametersCommand({ Names, WithDecryption: true }));
    return Object.fromEntries((reply.Parameters ?? []).map(({ Name, Value }) => [Name ?? '', Value ?? '']));
  });
}
