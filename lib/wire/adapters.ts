import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { AccountView } from '../account-view.ts';
import type { Account } from '../accounts.ts';
import { awsTransport, localAws } from '../aws/transport.ts';
import {
  type Environment,
  type RecordConfig,
  readDeliverConfig,
  readLeaseConfig,
  readRedisConfig,
  readRequestsPerMinute,
  readWakeConfig,
} from '../config.ts';
import { eventsSetId } from '../due-set/keys.ts';
import { UpstashAccountView } from '../due-set/upstash-account-view.ts';
import { UpstashBusyAccounts } from '../due-set/upstash-busy-accounts.ts';
import { connectUpstash, UpstashDueSet } from '../due-set/upstash-due-set.ts';
import { UpstashRequestCounts } from '../due-set/upstash-request-counts.ts';
import { messageOf } from '../errors.ts';
import type { EventQueue } from '../event-ports.ts';
import { DynamoAccountPauses } from '../job-store/dynamo-account-pauses.ts';
import { DynamoBatches } from '../job-store/dynamo-batches.ts';
import { DynamoDeliveries } from '../job-store/dynamo-deliveries.ts';
import { DynamoEndpoints } from '../job-store/dynamo-endpoints.ts';
import { DynamoHookCounts } from '../job-store/dynamo-hook-counts.ts';
import { DynamoJobStore } from '../job-store/dynamo-job-store.ts';
import { DynamoLedger } from '../job-store/dynamo-ledger.ts';
import { DynamoRenderTimes } from '../job-store/dynamo-render-times.ts';
import { DynamoSpend } from '../job-store/dynamo-spend.ts';
import { oncePerProcess } from '../once.ts';
import type { BusyAccounts, Queues, Waker } from '../ports.ts';
import { RequestLimit } from '../request-limit.ts';
import { clock, log } from './process.ts';

/* This folder is the only place that knows which adapter stands behind which port. */

/** Of one request; a lease outlives two that fail. */
const redisTimeoutMs = 3_000;

/** Each account's due set, and who wakes its drains. */
export function connectQueues(environment: Environment, record: RecordConfig, accounts: readonly Account[]): Queues {
  const connect = dueSetConnector(environment, record.stage);
  return new Map(
    accounts.map((account) => [
      account.id,
      { dueSet: connect(account), waker: makeWaker(environment, record, account.id) },
    ]),
  );
}

/** Somebody waits for what it shows. */
const viewTimeoutMs = 1_500;

export function connectAccountView(environment: Environment, { stage }: RecordConfig): AccountView {
  const { url, token } = readRedisConfig(environment);
  return new UpstashAccountView(connectUpstash({ url, token, timeoutMs: viewTimeoutMs }), { stage, token, clock });
}

/** The caller's own work has not begun yet. */
const countTimeoutMs = 250;

/** Nothing where any number of requests may be made. */
export function connectRequestLimits(
  environment: Environment,
  { stage }: RecordConfig,
): { requestLimit?: RequestLimit; waitLimit?: RequestLimit } {
  const perMinute = readRequestsPerMinute(environment);
  if (perMinute === null) return {};
  const { url, token } = readRedisConfig(environment);
  const counts = new UpstashRequestCounts(connectUpstash({ url, token, timeoutMs: countTimeoutMs }), { stage, token });
  const ports = { counts, clock, log };
  // One who waits looks forty times a minute: so half as many looks as requests are 75 who wait at a time.
  const looksPerMinute = Math.ceil(perMinute / 2);
  return { requestLimit: new RequestLimit(perMinute, ports), waitLimit: new RequestLimit(looksPerMinute, ports) };
}

export function dueSetConnector(environment: Environment, stage: string): (account: Account) => UpstashDueSet {
  const { url, token } = readRedisConfig(environment);
  const { leaseMs, tickMs } = readLeaseConfig(environment);
  // Ahead covers one tick and a slow round trip: nothing falls due between two exchanges.
  const lease = { leaseMs, aheadMs: Math.ceil(tickMs * 1.25) };
  const redis = connectUpstash({ url, token, timeoutMs: Math.min(redisTimeoutMs, leaseMs / 4) });
  return ({ id, limits }) => new UpstashDueSet(redis, { stage, account: id, url, token, lease, limits });
}

export function connectBusyAccounts(environment: Environment, { stage }: RecordConfig): BusyAccounts {
  const { url, token } = readRedisConfig(environment);
  return new UpstashBusyAccounts(connectUpstash({ url, token, timeoutMs: redisTimeoutMs }), { stage, token });
}

/** All that is kept in the table, over one client. */
export function connectTable(record: RecordConfig, maxAttempts: number) {
  const client = new DynamoDBClient({ maxAttempts, ...awsTransport(50, 3_000), ...localAws(record.endpoint) });
  return {
    store: new DynamoJobStore(client, record.table, clock),
    ledger: new DynamoLedger(client, record.table, clock),
    spend: new DynamoSpend(client, record.table),
    renderTimes: new DynamoRenderTimes(client, record.table, clock),
    pauses: new DynamoAccountPauses(client, record.table),
    hookCounts: new DynamoHookCounts(client, record.table, clock),
    endpoints: new DynamoEndpoints(client, record.table, clock, log),
    deliveries: new DynamoDeliveries(client, record.table, clock, log),
    batches: new DynamoBatches(client, record.table, clock, log),
  };
}

/** Away from AWS, and without an emulator of it, there is nothing to wake: the caller runs the drain. */
export function makeWaker(environment: Environment, record: RecordConfig, account: string): Waker {
  const config = readWakeConfig(environment);
  const alone = record.endpoint !== undefined && config.endpoint === undefined;
  if (alone) return { wake: async () => {} };
  const invoke = lazyInvoker(config.drainFunction, config.endpoint, 'drain_not_woken');
  return { wake: (as) => invoke({ only: account, ...(as === undefined ? {} : { [as]: true }) }) };
}

/** Where jobs with events, deliveries and batches become due, and who delivers. */
export function connectEventQueue(environment: Environment, record: RecordConfig): EventQueue {
  const config = readWakeConfig(environment);
  const alone = record.endpoint !== undefined && config.endpoint === undefined;
  const invoke = lazyInvoker(config.deliverFunction, config.endpoint, 'deliver_not_woken');
  return {
    dueSet: connectEventsSet(environment, record.stage),
    waker: { wake: async () => (alone ? undefined : invoke({})) },
  };
}

/** The due set of events: no account's, and without limits. */
export function connectEventsSet(environment: Environment, stage: string): UpstashDueSet {
  const { url, token } = readRedisConfig(environment);
  const { leaseMs, tickMs } = readDeliverConfig(environment);
  const lease = { leaseMs, aheadMs: Math.ceil(tickMs * 1.25) };
  const redis = connectUpstash({ url, token, timeoutMs: Math.min(redisTimeoutMs, leaseMs / 4) });
  return new UpstashDueSet(redis, { stage, account: eventsSetId, url, token, lease });
}

/**
 * Its client is a tenth of the bundle and seldom needed: a drain's start does not wait for it. A failure only means waiting
 * for the schedule.
 */
function lazyInvoker(name: string, endpoint: string | undefined, onFailure: string): (event: object) => Promise<void> {
  const invoker = oncePerProcess(async () => (await import('../aws/lambda-invoker.ts')).lambdaInvoker(name, endpoint));
  return async (event) => {
    try {
      await (await invoker())(event);
    } catch (error) {
      log.warn(onFailure, { error: messageOf(error) });
    }
  };
}
