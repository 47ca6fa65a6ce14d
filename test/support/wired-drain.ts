import { jobIdFor } from '../../lib/identify.ts';
import type { Job } from '../../lib/job.ts';
import type { Log, LogFields } from '../../lib/log.ts';
import { wireApi } from '../../lib/wire/api.ts';
import { wireDrain } from '../../lib/wire/drain.ts';
import { putJobs, startTestDynamo, testJob } from './dynamo.ts';
import { startScriptedServer } from './scripted-server.ts';
import { dueKey, startTestUpstash } from './upstash.ts';

const dayMs = 86_400_000;

/**
 * The drain and the API's parts, wired from their environment as in production, on real stores and the machine's own
 * clock; the provider's answers are scripted.
 */
export async function startWiredDrain(given: Record<string, string> = {}) {
  const [upstash, dynamo, provider] = await Promise.all([startTestUpstash(), startTestDynamo(), startScriptedServer()]);
  const table = await dynamo.createTable();
  const environment = {
    STAGE: 'test',
    TABLE_NAME: table,
    DYNAMODB_ENDPOINT: dynamo.url,
    UPSTASH_REDIS_REST_URL: upstash.url,
    UPSTASH_REDIS_REST_TOKEN: upstash.token,
    SUME_API_KEY: 'sk_test',
    SUME_API_BASE_URL: provider.url,
    ...given,
  };
  const [wired] = (await wireDrain(environment)).drains;
  if (wired === undefined) throw new Error('There is no account.');
  const { ports, settings } = wired;
  const api = await wireApi(environment);
  const logged: { event: string; fields: LogFields | undefined }[] = [];
  const note = (event: string, fields?: LogFields) => void logged.push({ event, fields });
  const log: Log = { info: note, warn: note, error: note };
  return {
    ...{ upstash, dynamo, provider, environment, settings, logged, ports: { ...ports, log }, api: { ...api, log } },
    /** Jobs that the provider has as `clip-0`, `clip-1`…, each due so long ago. */
    async putRunning(count: number, overdueMs: number): Promise<Job[]> {
      const nowMs = Date.now();
      const times = { createdAtMs: nowMs - dayMs, updatedAtMs: nowMs - dayMs, deadlineAtMs: nowMs + dayMs };
      const jobs = Array.from({ length: count }, (_, i) =>
        testJob({ id: jobIdFor('acme', `key-${i}`), ...times, state: 'processing', providerJobId: `clip-${i}` }),
      );
      await putJobs(dynamo.client, table, jobs);
      const due = String(nowMs - overdueMs);
      await upstash.direct('ZADD', dueKey, ...jobs.flatMap(({ id }) => [due, id]));
      return jobs;
    },
    async close() {
      await Promise.all([upstash.close(), dynamo.close(), provider.close()]);
    },
  };
}

export type WiredDrain = Awaited<ReturnType<typeof startWiredDrain>>;
