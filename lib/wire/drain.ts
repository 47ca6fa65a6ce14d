import { type Environment, readDrainConfig, readRecordConfig, readSumeConfig } from '../config.ts';
import type { DrainPorts, DrainSettings } from '../drain.ts';
import { exchangeMax } from '../due-set/upstash-due-set.ts';
import { HttpClient } from '../providers/http.ts';
import { Sume } from '../providers/sume.ts';
import { connectDueSet, connectStore, makeWaker } from './adapters.ts';
import { fillSecrets } from './fill-secrets.ts';
import { clock, log, random } from './process.ts';

const providerBodyMax = 1_000_000;
const providerConnectMs = 5_000;
/** Creates at a time at most: as many as a workspace has places at the provider. */
const createLanesMax = 24;
/** For the record's write and the last exchange after a provider's answer. */
const settleMarginMs = 3_000;

export async function wireDrain(
  given: Environment,
): Promise<{ ports: DrainPorts; settings: DrainSettings; stage: string }> {
  const environment = await fillSecrets(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN', 'SUME_API_KEY']);
  const record = readRecordConfig(environment);
  const config = readDrainConfig(environment);
  const { origin, basePath, apiKey, timeoutMs } = readSumeConfig(environment);
  const createConcurrency = Math.min(createLanesMax, config.concurrency);
  const limits = { connectMs: Math.min(providerConnectMs, timeoutMs), totalMs: timeoutMs, bodyMax: providerBodyMax };
  const http = new HttpClient(origin, config.concurrency + createConcurrency, limits, clock.monotonicMs);
  const provider = new Sume(http, { basePath, apiKey, keyPrefix: `pollkeeper-${record.stage}-` });
  const ports = {
    dueSet: connectDueSet(environment, record.stage),
    store: connectStore(record, 4),
    provider,
    waker: makeWaker(environment, record),
    clock,
    random,
    log,
  };
  const stepMs = timeoutMs + settleMarginMs;
  return { ports, settings: { ...config, createConcurrency, stepMs, exchangeMax }, stage: record.stage };
}
