import { afterAll, beforeAll, beforeEach } from 'vitest';
import { readAccounts } from '../../lib/accounts.ts';
import { UpstashAccountView } from '../../lib/due-set/upstash-account-view.ts';
import { connectUpstash, UpstashDueSet } from '../../lib/due-set/upstash-due-set.ts';
import { type ApiPorts, createApp } from '../../lib/http/app.ts';
import { jobIdFor } from '../../lib/identify.ts';
import type { Job } from '../../lib/job.ts';
import { DynamoAccountPauses } from '../../lib/job-store/dynamo-account-pauses.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import { DynamoLedger } from '../../lib/job-store/dynamo-ledger.ts';
import type { Log, LogFields } from '../../lib/log.ts';
import { putJobs, startTestDynamo, type TestDynamo, testClock, testJob, testNowMs } from './dynamo.ts';
import { quietWebhooks } from './quiet-webhooks.ts';
import { startTestUpstash, type TestUpstash } from './upstash.ts';

/** `studio` is for acme and globex, run by acme; `own` is globex's; `open` is everybody's and has no limits. */
const accounts = readAccounts(
  JSON.stringify([
    { id: 'studio', secret: 'sume-api-key-studio', owners: ['acme', 'globex'], operators: ['acme'] },
    { id: 'own', secret: 'sume-api-key-own', owners: ['globex'] },
    {
      id: 'open',
      ...{ maxInFlight: null, readsPerMinute: null, readsPerDay: null, createsPerMinute: null, createsPerDay: null },
    },
  ]),
);

export interface AccountAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked field by field, their shape is what is tested
  body: any;
}

/** The API over a real Redis and a real record, on a clock that the test moves. Emptied before each test. */
export class AccountApi {
  declare upstash: TestUpstash;
  declare dynamo: TestDynamo;
  declare ports: ApiPorts & { store: DynamoJobStore; ledger: DynamoLedger };
  declare table: string;
  readonly clock = testClock();
  readonly logged: { event: string; fields: LogFields | undefined }[] = [];
  /** Accounts whose drains were woken. */
  readonly woken: string[] = [];
  app = (ports: Partial<ApiPorts> = {}) => createApp({ ...this.ports, ...ports });

  async start(): Promise<void> {
    [this.upstash, this.dynamo] = await Promise.all([startTestUpstash(), startTestDynamo()]);
  }

  async fresh(): Promise<void> {
    await this.upstash.fresh();
    this.clock.ms = testNowMs;
    this.logged.length = 0;
    this.woken.length = 0;
    this.table = await this.dynamo.createTable();
    const note = (event: string, fields?: LogFields) => void this.logged.push({ event, fields });
    const log: Log = { info: note, warn: note, error: note };
    this.ports = {
      store: new DynamoJobStore(this.dynamo.client, this.table, this.clock),
      ledger: new DynamoLedger(this.dynamo.client, this.table, this.clock),
      queues: new Map(accounts.map(({ id }) => [id, { dueSet: this.dueSet(id), waker: this.#wakerOf(id) }])),
      view: this.viewAt(this.upstash.url),
      pauses: new DynamoAccountPauses(this.dynamo.client, this.table),
      ...quietWebhooks(this.dynamo.client, this.table, this.clock, log),
      ...{ accounts, clock: this.clock, log, stage: 'test', newId: () => 'made-up-id' },
    };
  }

  close(): Promise<unknown> {
    return Promise.all([this.upstash.close(), this.dynamo.close()]);
  }

  viewAt(url: string, token = this.upstash.token): UpstashAccountView {
    const redis = connectUpstash({ url, token, timeoutMs: 1_000 });
    return new UpstashAccountView(redis, { stage: 'test', token, clock: this.clock, nowMs: this.clock.nowMs });
  }

  dueSet(account: string): UpstashDueSet {
    const { url, token } = this.upstash;
    const limits = accounts.find(({ id }) => id === account)?.limits;
    return new UpstashDueSet(connectUpstash({ url, token, timeoutMs: 1_000 }), {
      ...{ stage: 'test', account, url, token, lease: { leaseMs: 10_000, aheadMs: 1_250 }, nowMs: this.clock.nowMs },
      ...(limits === undefined ? {} : { limits }),
    });
  }

  #wakerOf(account: string) {
    return { wake: async () => void this.woken.push(account) };
  }

  async call(
    method: string,
    path: string,
    owner: string | null = 'acme',
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<AccountAnswer> {
    const event = { requestContext: { authorizer: { lambda: owner === null ? {} : { owner } } } };
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    const reply = await this.app().request(path, init, { event } as never);
    return { status: reply.status, headers: reply.headers, body: await reply.json() };
  }

  /** Writes fields of an account's state as the scripts do. */
  async state(account: string, fields: Record<string, string>): Promise<void> {
    await this.upstash.direct('HSET', `pk:{test}:account:${account}`, ...Object.entries(fields).flat());
  }

  async put(set: 'due' | 'waiting', account: string, score: number, ...ids: string[]): Promise<void> {
    await this.upstash.direct('ZADD', `pk:{test}:${set}:${account}`, ...ids.flatMap((id) => [String(score), id]));
  }

  /** A job of acme's in the record only. */
  async job(key: string, given: Partial<Job> = {}): Promise<Job> {
    const job = testJob({ id: jobIdFor('acme', key), account: 'studio', ...given });
    await putJobs(this.dynamo.client, this.table, [job]);
    return job;
  }
}

export function useAccountApi(): AccountApi {
  const api = new AccountApi();
  beforeAll(() => api.start());
  afterAll(() => api.close());
  beforeEach(() => api.fresh());
  return api;
}
