import { readAccounts } from '../accounts.ts';
import { type Environment, readDrainConfig, readRecordConfig, readSumeConfig } from '../config.ts';
import type { AccountDrain } from '../drain-accounts.ts';
import { exchangeMax } from '../due-set/upstash-due-set.ts';
import { readHookConfig, wantedHookSecrets } from '../hooks/hook-config.ts';
import { HookPace } from '../hooks/hook-pace.ts';
import { type Log, logWith } from '../log.ts';
import type { BusyAccounts } from '../ports.ts';
import { HttpClient } from '../providers/http.ts';
import { Sume } from '../providers/sume.ts';
import { connectBusyAccounts, connectEventQueue, connectTable, dueSetConnector, makeWaker } from './adapters.ts';
import { fillSecrets } from './fill-secrets.ts';
import { connectNews } from './news.ts';
import { clock, log, random } from './process.ts';

interface WiredDrains {
  drains: AccountDrain[];
  busy: BusyAccounts;
  log: Log;
  stage: string;
}

const providerBodyMax = 1_000_000;
const providerConnectMs = 5_000;
/** Creates at a time at most: as many as a workspace has slots at Sume. */
const createLanesMax = 24;
/** For the record's write and the last exchange after a provider's answer. */
const settleMarginMs = 3_000;

export async function wireDrain(given: Environment): Promise<WiredDrains> {
  const accounts = readAccounts(given.ACCOUNTS);
  const keys = [...accounts.map(({ keyVariable }) => keyVariable), ...wantedHookSecrets(given, accounts)];
  const environment = await fillSecrets(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN', ...keys]);
  const record = readRecordConfig(environment);
  const config = readDrainConfig(environment);
  const connect = dueSetConnector(environment, record.stage);
  const { store, ledger, renderTimes, endpoints, hookCounts } = connectTable(record, 4);
  const news = connectNews(environment, endpoints, connectEventQueue(environment, record));
  const hookConfig = readHookConfig(environment, accounts);
  const shared = { store, ledger, renderTimes, news, clock, random };
  const createConcurrency = Math.min(createLanesMax, config.concurrency);
  const drains = accounts.map((account) => {
    const { origin, basePath, apiKey, timeoutMs } = readSumeConfig(environment, account.keyVariable);
    const limits = { connectMs: Math.min(providerConnectMs, timeoutMs), totalMs: timeoutMs, bodyMax: providerBodyMax };
    const http = new HttpClient(origin, config.concurrency + createConcurrency, limits, clock.monotonicMs);
    const provider = new Sume(http, { basePath, apiKey, keyPrefix: `pollkeeper-${record.stage}-` });
    const waker = makeWaker(environment, record, account.id);
    const { createsPerMinute, createsPerDay } = account.limits;
    const hasCreateBudget = createsPerMinute !== null || createsPerDay !== null;
    const stepMs = timeoutMs + settleMarginMs;
    const settings = { ...config, createConcurrency, stepMs, exchangeMax, hasCreateBudget };
    const accountLog = logWith(log, { account: account.id });
    const hookPace = new HookPace({ counts: hookCounts, log: accountLog }, account.id, hookConfig);
    const ports = { ...shared, dueSet: connect(account), provider, waker, hookPace, log: accountLog };
    return { account: account.id, ports, settings };
  });
  return { drains, busy: connectBusyAccounts(environment, record), log, stage: record.stage };
}
