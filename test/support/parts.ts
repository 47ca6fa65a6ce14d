import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Dynamo, startDynamo } from '../../infra/local/dynamo/dynamo.ts';
import { ensureTable } from '../../infra/local/dynamo/ensure-table.ts';
import type { SumeSimulatorOptions } from '../../infra/local/sume-simulator/settings.ts';
import type { RunningSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import type { AccountPauses } from '../../lib/account-pause.ts';
import type { AccountView } from '../../lib/account-view.ts';
import { type AccountLimits, noLimits } from '../../lib/accounts.ts';
import type { Ledger } from '../../lib/cost.ts';
import type { DrainPorts, DrainSettings } from '../../lib/drain.ts';
import { UpstashAccountView } from '../../lib/due-set/upstash-account-view.ts';
import { connectUpstash, exchangeMax, UpstashDueSet } from '../../lib/due-set/upstash-due-set.ts';
import type { Job } from '../../lib/job.ts';
import { DynamoAccountPauses } from '../../lib/job-store/dynamo-account-pauses.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import { DynamoLedger } from '../../lib/job-store/dynamo-ledger.ts';
import type { Log, LogFields } from '../../lib/log.ts';
import type { Queue, Waker } from '../../lib/ports.ts';
import { HttpClient } from '../../lib/providers/http.ts';
import { Sume } from '../../lib/providers/sume.ts';
import { type SubmitPorts, type SubmitResult, submit } from '../../lib/submit.ts';
import { type SweepPorts, type SweepReport, sweep } from '../../lib/sweep.ts';
import { newId, clock as realClock } from '../../lib/wire/process.ts';
import { FastClock } from './fast-clock.ts';
import { MemoryRenderTimes } from './memory-render-times.ts';
import { noEvents } from './no-events.ts';
import { quietWebhooks, type WebhookPorts } from './quiet-webhooks.ts';
import { startTestUpstash, type TestUpstash } from './upstash.ts';

const leaseMs = 10_000;
/** Times faster than real time: fifteen seconds pass in half a second. A stall of fifty ms may cost a lease. */
const usualSpeed = 30;

/**
 * All real parts of one product in one process: Redis behind its bridge, dynalite, the simulator, and our adapters. The
 * account keeps to `accountLimits`; one that is left out is none.
 */
export async function startParts(
  simulator: SumeSimulatorOptions = {},
  { accountLimits = {}, speed = usualSpeed }: { accountLimits?: Partial<AccountLimits>; speed?: number } = {},
) {
  const upstash = await startTestUpstash();
  const dynamo = await startDynamo();
  const clock = new FastClock(speed);
  const { nowMs, monotonicMs } = clock;
  const sume = await startSumeSimulator({ seed: 'test', nowMs, monotonicMs, ...simulator });
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  await ensureTable({
    endpoint: dynamo.url,
    region: 'us-east-1',
    credentials,
    tableName: 'pollkeeper-test',
    emulated: true,
  });
  const client = new DynamoDBClient({ endpoint: dynamo.url, region: 'us-east-1', credentials, maxAttempts: 1 });
  const logged: { event: string; fields: LogFields | undefined }[] = [];
  const note = (event: string, fields?: LogFields) => void logged.push({ event, fields });
  const log: Log = { info: note, warn: note, error: note };
  const limits = { connectMs: 500, totalMs: 1_000, bodyMax: 1_000_000 };
  const http = new HttpClient(sume.url, 50, limits, realClock.monotonicMs);
  const { url, token } = upstash;
  const lease = { leaseMs, aheadMs: 1_250 };
  const accountOptions = { account: 'sume', limits: { ...noLimits, ...accountLimits } };
  const setOptions = { stage: 'test', ...accountOptions, url, token, lease, nowMs };
  const dueSet = new UpstashDueSet(connectUpstash({ url, token, timeoutMs: 1_000 }), setOptions);
  const view = new UpstashAccountView(connectUpstash({ url, token, timeoutMs: 1_000 }), {
    stage: 'test',
    token,
    clock,
    nowMs,
  });
  const waker: Waker = { wake: async () => {} };
  const ports: Queue &
    DrainPorts &
    SubmitPorts &
    SweepPorts &
    WebhookPorts & {
      newId: () => string;
      store: DynamoJobStore;
      view: AccountView;
      pauses: AccountPauses;
      ledger: Ledger;
    } = {
    dueSet,
    view,
    pauses: new DynamoAccountPauses(client, 'pollkeeper-test'),
    queues: new Map([['sume', { dueSet, waker }]]),
    store: new DynamoJobStore(client, 'pollkeeper-test', clock),
    ledger: new DynamoLedger(client, 'pollkeeper-test', clock),
    renderTimes: new MemoryRenderTimes(),
    ...quietWebhooks(client, 'pollkeeper-test', clock, log),
    events: noEvents.events,
    provider: new Sume(http, { basePath: '', apiKey: 'sk_test', keyPrefix: 'test-' }),
    waker,
    clock,
    random: () => Math.random(),
    newId,
    log,
  };
  const settings: DrainSettings = {
    ...{
      concurrency: 50,
      createConcurrency: 4,
      tickMs: 1_000,
      leaseMs,
      windowMs: 3_600_000,
      stepMs: 30_000,
      helpersMax: 0,
      exchangeMax,
      adaptiveFirstRead: true,
    },
  };
  return { upstash, dynamo, sume, ports, settings, logged, close: () => closeAll(upstash, dynamo, sume, http) };
}

export type Parts = Awaited<ReturnType<typeof startParts>>;

async function closeAll(
  upstash: TestUpstash,
  dynamo: Dynamo,
  sume: RunningSumeSimulator,
  http: HttpClient,
): Promise<void> {
  await Promise.all([http.close(), sume.close(), dynamo.close(), upstash.close()]);
}

/** Submits a clip under the key, as the API would. */
export function submitClip(parts: Parts, idempotencyKey: string, input = {}): Promise<SubmitResult> {
  const clip = {
    model: 'seedance-2-mini',
    prompt: `a lighthouse, ${idempotencyKey}`,
    duration: 8,
    resolution: '720p',
    ...input,
  };
  return submit(parts.ports, {
    ...{ owner: 'acme', account: 'sume', idempotencyKey, input: clip, deadlineSeconds: 3_600, metadata: {} },
  });
}

/** A Lambda context's clock: `ms` from now, on the parts' own clock. */
export function remaining({ ports: { clock } }: Parts, ms: number): () => number {
  const endsAtMs = clock.monotonicMs() + ms;
  return () => endsAtMs - clock.monotonicMs();
}

/** One whole sweep. */
export function sweepAll(parts: Parts): Promise<SweepReport> {
  return sweep(parts.ports, { shardCount: 8, pageMs: 1_000, periodMs: 300_000 }, remaining(parts, 3_600_000));
}

/** The owner's jobs, newest first: a hundred at most. */
export async function allJobs({ ports }: Parts): Promise<Job[]> {
  return (await ports.store.list('acme', { limit: 100 })).jobs;
}

/** From now on the provider has these faults, until `heal`. */
export async function strike({ sume }: Parts, faults: unknown): Promise<void> {
  const reply = await fetch(`${sume.url}/__control/faults`, { method: 'POST', body: JSON.stringify(faults) });
  if (!reply.ok) throw new Error(await reply.text());
}

export async function heal({ sume }: Parts): Promise<void> {
  await fetch(`${sume.url}/__control/faults`, { method: 'DELETE' });
}

/** Every render that the simulator has is over now. */
export async function completeAll(sume: RunningSumeSimulator): Promise<void> {
  const control = `${sume.url}/__control/jobs`;
  const { jobs } = (await (await fetch(control)).json()) as { jobs: { id: string; state: string }[] };
  const running = jobs.filter(({ state }) => state !== 'completed');
  const body = JSON.stringify({ state: 'completed' });
  await Promise.all(running.map(({ id }) => fetch(`${control}/${id}`, { method: 'POST', body })));
}
