import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { awsTransport, localAws } from '../aws/transport.ts';
import {
  type Environment,
  type RecordConfig,
  readLeaseConfig,
  readRedisConfig,
  readWakeConfig,
  type WakeConfig,
} from '../config.ts';
import { connectUpstash, UpstashDueSet } from '../due-set/upstash-due-set.ts';
import { messageOf } from '../errors.ts';
import { DynamoJobStore } from '../job-store/dynamo-job-store.ts';
import { oncePerProcess } from '../once.ts';
import type { Waker } from '../ports.ts';
import { clock, log } from './process.ts';

/* This folder is the only place that knows which adapter stands behind which port. */

/** The one account there is, until accounts are configured. */
export const defaultAccount = 'sume';

/** Of one request; a lease outlives two that fail. */
const redisTimeoutMs = 3_000;

export function connectDueSet(environment: Environment, stage: string): UpstashDueSet {
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

export function connectStore(record: RecordConfig, maxAttempts: number): DynamoJobStore {
  const client = new DynamoDBClient({ maxAttempts, ...awsTransport(50, 3_000), ...localAws(record.endpoint) });
  return new DynamoJobStore(client, record.table, clock);
}

/** Away from AWS, and without an emulator of it, there is nothing to wake: the caller runs the drain. */
export function makeWaker(environment: Environment, record: RecordConfig): Waker {
  const config = readWakeConfig(environment);
  const alone = record.endpoint !== undefined && config.endpoint === undefined;
  return alone ? { wake: async () => {} } : lazyLambdaWaker(config);
}

/**
 * Its client is a tenth of the bundle and seldom needed: a drain's start does not wait for it. A failure only means waiting
 * for the schedule.
 */
function lazyLambdaWaker(config: WakeConfig): Waker {
  const invoker = oncePerProcess(async () => (await import('../aws/lambda-invoker.ts')).lambdaInvoker(config));
  return {
    async wake(as) {
      try {
        await (await invoker())(as);
      } catch (error) {
        log.warn('drain_not_woken', { error: messageOf(error) });
      }
    },
  };
}
