import { afterEach, describe, expect, test } from 'vitest';
import { readAccounts } from '../../lib/accounts.ts';
import { drain } from '../../lib/drain.ts';
import { UpstashAccountView } from '../../lib/due-set/upstash-account-view.ts';
import { connectUpstash } from '../../lib/due-set/upstash-due-set.ts';
import { createApp } from '../../lib/http/app.ts';
import { DynamoAccountPauses } from '../../lib/job-store/dynamo-account-pauses.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import { dynamoClient, testClock } from '../support/dynamo.ts';
import { type Parts, remaining, startParts, submitClip, sweepAll } from '../support/parts.ts';
import { quietWebhooks } from '../support/quiet-webhooks.ts';
import { json, type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

/* The record is written one item at a time: nothing can be cancelled half way for the sake of something else. */

const event = { requestContext: { authorizer: { lambda: { owner: 'acme' } } } };
const input = { model: 'seedance-2-mini', prompt: 'a lighthouse', duration: 8, resolution: '720p' };
const post = { method: 'POST', headers: { 'Idempotency-Key': 'key-1' }, body: JSON.stringify({ input }) };

describe('a whole life', () => {
  let parts: Parts;
  afterEach(() => parts.close());

  test('T86 from submit to end, a repeat, a list and two sweeps need no transaction and write one item a call', async () => {
    parts = await startParts({ renderSeconds: 20 });
    const before = parts.dynamo.counts().byOperation;
    const hour = 3_600_000;
    const app = createApp({ ...parts.ports, stage: 'test', accounts: readAccounts(undefined) });
    for (let i = 0; i < 6; i++) await submitClip(parts, `clip-${i}`);
    for (let i = 0; i < 2; i++) expect((await app.request('/v1/jobs', post, { event } as never)).status).toBe(202);
    await parts.upstash.direct('FLUSHALL');
    expect(await sweepAll(parts)).toMatchObject({ restored: 7 });
    await Promise.all([1, 2].map(() => drain(parts.ports, parts.settings, remaining(parts, hour))));
    const { jobs } = (await (await app.request('/v1/jobs?state=completed', {}, { event } as never)).json()) as {
      jobs: { id: string }[];
    };
    expect(jobs).toHaveLength(7);
    expect((await app.request(`/v1/jobs/${jobs[0]?.id}`, {}, { event } as never)).status).toBe(200);
    await sweepAll(parts);

    const used = Object.keys(parts.dynamo.counts().byOperation).filter((name) => before[name] === undefined);
    expect(used.sort()).toEqual(['BatchGetItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem']);
  });
});

describe('a call to the record that is turned away', () => {
  let server: ScriptedServer;
  const client = () => dynamoClient(server.url, 2, 500);
  afterEach(() => server.close());

  const failure = (type: string) => json({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'no' }, 400);
  const calls: [string, RequestInit][] = [
    ['/v1/jobs', post],
    ['/v1/jobs', {}],
    [`/v1/jobs/job_${'a'.repeat(32)}`, {}],
  ];

  async function appOnScript() {
    server = await startScriptedServer();
    const quiet = { info: () => {}, warn: () => {}, error: () => {} };
    const clock = testClock();
    const store = new DynamoJobStore(client(), 'scripted', clock);
    const dueSet = {
      schedule: async () => ({ added: 1, wake: false }),
      enqueue: async () => ({ added: 1, wake: false }),
      tidy: async () => ({ expired: 0, wake: false }),
      absent: async () => [],
      workload: async () => ({ jobs: 0, paused: false }),
      nowMs: async () => 0,
    };
    const waker = { wake: async () => {} };
    const nowhere = { url: 'http://127.0.0.1:9', token: 'none', timeoutMs: 500 };
    return createApp({
      store,
      view: new UpstashAccountView(connectUpstash(nowhere), { stage: 'test', token: nowhere.token, clock }),
      pauses: new DynamoAccountPauses(client(), 'scripted'),
      queues: new Map([['sume', { dueSet, waker }]]),
      ...quietWebhooks(client(), 'scripted', clock, quiet),
      clock,
      log: quiet,
      newId: () => 'made-up-id',
      stage: 'test',
      accounts: readAccounts(undefined),
    });
  }

  test.each([
    'ProvisionedThroughputExceededException',
    'ThrottlingException',
    'RequestLimitExceeded',
    'TransactionConflictException',
    'TransactionInProgressException',
    'InternalServerError',
  ])('T86 by %s is a 503 that says when to repeat, never a bare 500', async (type) => {
    const app = await appOnScript();
    server.script(failure(type));
    const replies = await Promise.all(calls.map(([path, init]) => app.request(path, init, { event } as never)));
    expect(replies.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
      Array(calls.length).fill([503, '5']),
    );
    expect(await replies[0]?.json()).toMatchObject({ code: 'record_unavailable' });
  });

  test('T86 by a throttle that is over by the second try is a 202 like any other', async () => {
    const app = await appOnScript();
    server.script(failure('ThrottlingException'), json({}));
    expect((await app.request('/v1/jobs', post, { event } as never)).status).toBe(202);
    expect(server.received).toHaveLength(2);
  });
});
