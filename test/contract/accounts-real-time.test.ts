import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { drainAccounts } from '../../lib/drain-accounts.ts';
import { jobIdFor } from '../../lib/identify.ts';
import type { Log } from '../../lib/log.ts';
import { submit } from '../../lib/submit.ts';
import { wireApi } from '../../lib/wire/api.ts';
import { wireDrain } from '../../lib/wire/drain.ts';
import { putJobs, startTestDynamo, testJob } from '../support/dynamo.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import { completeAll } from '../support/parts.ts';
import { json, startScriptedServer } from '../support/scripted-server.ts';
import { until } from '../support/start-process.ts';
import { membersOf, startTestUpstash } from '../support/upstash.ts';

/* Accounts as they are wired from their environment, on real stores and the machine's own clock. */

const toClose: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };
const noLimits = {
  maxInFlight: null,
  readsPerMinute: null,
  readsPerDay: null,
  createsPerMinute: null,
  createsPerDay: null,
};

async function startStores(accounts: readonly object[], providerUrl: string) {
  const [upstash, dynamo] = await Promise.all([startTestUpstash(), startTestDynamo()]);
  toClose.push(() => Promise.all([upstash.close(), dynamo.close()]));
  const table = await dynamo.createTable();
  const environment = {
    STAGE: 'test',
    TABLE_NAME: table,
    DYNAMODB_ENDPOINT: dynamo.url,
    UPSTASH_REDIS_REST_URL: upstash.url,
    UPSTASH_REDIS_REST_TOKEN: upstash.token,
    SUME_API_BASE_URL: providerUrl,
    SUME_API_KEY: 'sk_test',
    ACCOUNTS: JSON.stringify(accounts),
  };
  return { upstash, dynamo, table, environment };
}

test('T38 an account with 10,000 due jobs keeps no other waiting: the other’s single one is read within two ticks of its time', async () => {
  const provider = await startScriptedServer();
  toClose.push(() => provider.close());
  const still = json({ status: 'processing', next_poll_after_seconds: 600 });
  provider.reply = () => (socket) => void setTimeout(() => still(socket), 20);
  const accounts = [
    { id: 'crowd', ...noLimits },
    { id: 'single', secret: 'sume-api-key-single' },
  ];
  const { dynamo, table, environment } = await startStores(accounts, provider.url);
  const nowMs = Date.now();
  const times = { createdAtMs: nowMs - 60_000, updatedAtMs: nowMs, deadlineAtMs: nowMs + 3_600_000 };
  const running = (account: string, i: number) =>
    testJob({
      id: jobIdFor(account, `key-${i}`),
      account,
      ...times,
      state: 'processing',
      providerJobId: `${account}-${i}`,
    });
  const crowd = Array.from({ length: 10_000 }, (_, i) => running('crowd', i));
  const single = running('single', 0);
  await putJobs(dynamo.client, table, [...crowd, single]);
  const { queues } = await wireApi({ ...environment, SUME_API_KEY_SINGLE: 'sk_single' });
  await queues.get('crowd')?.dueSet.schedule(crowd.map(({ id }) => ({ id, delayMs: 0 })));
  await queues.get('single')?.dueSet.schedule([{ id: single.id, delayMs: 1_500 }]);
  const dueAtMs = Date.now() + 1_500;

  let readAtMs = 0;
  const isSingle = (authorization = '') => authorization.endsWith('sk_single');
  const { reply } = provider;
  provider.reply = (request, nth) => {
    if (isSingle(request.headers.authorization)) readAtMs ||= Date.now();
    return reply(request, nth);
  };
  const wired = await wireDrain({ ...environment, SUME_API_KEY_SINGLE: 'sk_single' });
  const drains = wired.drains.map((one) => ({ ...one, ports: { ...one.ports, log: silent } }));
  const tickMs = drains[0]?.settings.tickMs ?? 0;
  const stepMs = drains[0]?.settings.stepMs ?? 0;
  const working = drainAccounts({ drains, busy: wired.busy, log: silent }, {}, () =>
    readAtMs > 0 ? 2 * tickMs + 1 : stepMs + 60_000,
  );
  await until(() => readAtMs > 0, 'the read of the single job', 20_000);
  const readOfCrowd = provider.received.filter(({ headers }) => !isSingle(headers.authorization)).length;
  await working;
  expect(readAtMs - dueAtMs).toBeGreaterThan(-50);
  expect(readAtMs - dueAtMs).toBeLessThan(2 * tickMs);
  // All the while the crowd kept its drain busy, and had more.
  expect(readOfCrowd).toBeGreaterThan(200);
  expect(readOfCrowd).toBeLessThan(10_000);
});

const drainProcess = fileURLToPath(new URL('../support/drain-process.ts', import.meta.url));
const slots = 4;

test('T15 drains killed with all slots of an account in hand give them back by themselves: no more than 4 at the provider, then 4 again', async () => {
  const limits = { processing: slots, queued: 0, createsPerMinute: 1_000, readsPerMinute: 10_000 };
  const sume = await startSumeSimulator({ seed: 'slots', timeScale: 30, renderSeconds: 100_000, limits });
  toClose.push(() => sume.close());
  const { upstash, environment } = await startStores([{ id: 'sume', ...noLimits, maxInFlight: slots }], sume.url);
  const quick = { LEASE_MS: '1600', TICK_MS: '200', PROVIDER_TIMEOUT_MS: '1000', REMAINING_MS: '60000' };
  const startDrain = async (): Promise<NodeProcess> => {
    const started = await startNodeProcess(
      drainProcess,
      { ...environment, ...quick },
      { execArgv: ['--import', 'tsx'] },
    );
    toClose.push(() => started.kill());
    return started;
  };
  // The second claim in a row shows in the fraction: these are not the first drain's.
  const claimedAgain = async () =>
    [...(await membersOf(upstash)).values()].filter(
      (score) => Number(score) % 1 === 2 / 16 && Number(score) > Date.now(),
    );
  const api = await wireApi(environment);
  for (let i = 0; i < 12; i++) {
    const input = { model: 'seedance-2-mini', prompt: 'a lighthouse', duration: 8, resolution: '720p' };
    await submit(api, {
      owner: 'acme',
      account: 'sume',
      idempotencyKey: `clip-${i}`,
      input,
      deadlineSeconds: 3_600,
      metadata: {},
    });
  }

  // The first dies in the middle of its creates, the second when it has taken over all that the first had.
  const first = await startDrain();
  await until(() => sume.report().createsReceived >= slots, 'as many creates as there are slots', 20_000);
  await first.kill();
  const second = await startDrain();
  await until(async () => (await claimedAgain()).length === slots, 'all slots in the second drain’s hand', 20_000);
  await second.kill();
  await startDrain();
  for (let clips = slots; clips <= 12; clips += slots) {
    await until(() => sume.report().billedClips === clips, `${clips} clips`, 20_000);
    expect(sume.report().jobs).toMatchObject({ processing: slots, completed: clips - slots });
    // Only once they are known: a create that is repeated for a render which is over is read a default wait later.
    const known = async () => (await api.store.list('acme', { state: 'processing', limit: 100 })).jobs.length;
    await until(async () => (await known()) === slots, 'the answers of all', 20_000);
    await completeAll(sume);
  }
  await until(async () => (await membersOf(upstash)).size === 0, 'the last result', 20_000);
  // It has no place for a fifth: had one been sent, it would have refused it.
  expect(sume.report()).toMatchObject({ billedClips: 12, refused429: { create: 0 } });
  const page = await api.store.list('acme', { limit: 100 });
  expect(page.jobs.map(({ state }) => state)).toEqual(Array(12).fill('completed'));
});
