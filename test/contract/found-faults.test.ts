/* Faults that tests once found in the adapters. Each stays found. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import { HttpClient } from '../../lib/providers/http.ts';
import { retryAfterMs } from '../../lib/providers/retry-after.ts';
import { resultMax } from '../../lib/providers/sume.ts';
import { dynamoClient, startTestDynamo, type TestDynamo, testClock, testJob } from '../support/dynamo.ts';
import { answer, drip, head, json, raw, startScriptedServer } from '../support/scripted-server.ts';
import { apiKey, completed, sentJob as job, type ScriptedSume, startScriptedSume } from '../support/scripted-sume.ts';

let parts: ScriptedSume;
let dynamo: TestDynamo;
beforeAll(async () => {
  parts = await startScriptedSume(500);
  dynamo = await startTestDynamo();
});
afterAll(async () => {
  await parts.close();
  await dynamo.close();
});

describe('provider', () => {
  test('a result nested 200,000 deep is an outcome, not a RangeError', async () => {
    parts.server.script(completed, answer(200, `{"data":{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`));
    expect(await parts.sume.read(job)).toMatchObject({ kind: 'completed', result: { value: null, truncated: true } });
  });
  test('a result is measured in bytes', async () => {
    parts.server.script(completed, json({ url: '漢'.repeat(resultMax / 2) }));
    expect(await parts.sume.read(job)).toMatchObject({ kind: 'completed', result: { truncated: true } });
  });
  test('informational answers for ever end at the limit', async () => {
    parts.server.script(drip('', 'HTTP/1.1 103 Early\r\nx-a: 1\r\n\r\n', 100));
    const outcome = await Promise.race([
      parts.sume.read(job),
      new Promise((resolve) => setTimeout(resolve, 4_000, 'hangs')),
    ]);
    expect(outcome).toMatchObject({ kind: 'trouble', fault: { code: 'timeout' } });
  });
  test('a call that waits for a connection ends at the limit too', async () => {
    const server = await startScriptedServer();
    server.script(() => {});
    const limits = { connectMs: 300, totalMs: 500, bodyMax: 1_000_000 };
    const http = new HttpClient(server.url, 1, limits, () => performance.now());
    const startedAtMs = performance.now();
    const calls = [1, 2, 3].map(() => http.send({ method: 'GET', path: '/', headers: {} }));
    await Promise.all(calls);
    expect(performance.now() - startedAtMs).toBeLessThan(2_000);
    await http.close();
    await server.close();
  });
  test('our key echoed as an error code or as a status word is in no fault', async () => {
    parts.server.script(json({ error: { code: apiKey, message: 'x' } }, 500));
    expect(JSON.stringify(await parts.sume.read(job))).not.toContain(apiKey);
    parts.server.script(json({ id: 'job_theirs', status: `odd ${apiKey}\nline`, terminal: true }));
    const outcome = await parts.sume.read(job);
    expect(JSON.stringify(outcome)).not.toContain(apiKey);
    expect(JSON.stringify(outcome)).not.toContain('\\n');
  });
  test('an id of 1 KB is not cut and accepted', async () => {
    parts.server.script(json({ id: 'x'.repeat(1_024), status: 'queued' }));
    expect(await parts.sume.create(job)).toMatchObject({ kind: 'trouble' });
    const id = 'x'.repeat(200);
    parts.server.script(json({ id: `${id}y`, status: 'processing' }));
    expect(await parts.sume.read({ ...job, providerJobId: id })).toMatchObject({
      kind: 'trouble',
      fault: { code: 'wrong_job' },
    });
  });
  test('a 429 is one whatever its body', async () => {
    parts.server.script(answer(429, '', { 'content-encoding': 'gzip', 'retry-after': '7' }));
    expect(await parts.sume.read(job)).toMatchObject({ kind: 'throttled', retryAfterMs: 7_000 });
    parts.server.script(answer(429, Buffer.alloc(1_500_000, 97), { 'retry-after': '7' }));
    expect(await parts.sume.create(job)).toMatchObject({ kind: 'no_slot', retryAfterMs: 7_000 });
  });
  test.each(['-5', '+5', '1 2', 'soon 5'])('Retry-After "%s" is no date in the past', (value) => {
    expect(retryAfterMs({ 'retry-after': value, date: 'Wed, 21 Oct 2026 07:28:00 GMT' })).toBeNull();
  });
});

describe('store', () => {
  test('another request under the same key in the same millisecond is not taken for a lost reply', async () => {
    const store = new DynamoJobStore(dynamo.client, await dynamo.createTable(), testClock());
    const first = testJob({ id: 'job_a' });
    await store.create(first);
    const other = { ...first, input: { prompt: 'another' }, fingerprint: 'e'.repeat(64) };
    expect(await store.create(other)).toEqual({ kind: 'exists', job: first });
  });
  test('the same id twice in getMany', async () => {
    const store = new DynamoJobStore(dynamo.client, await dynamo.createTable(), testClock());
    const first = testJob({ id: 'job_a' });
    await store.create(first);
    expect(await store.getMany(['job_a', 'job_a', 'job_b'])).toEqual({ jobs: [first], broken: [], absent: ['job_b'] });
  });
  test.each([
    ['stalls', raw(`${head(200, { 'content-length': '100' })}{"It`)],
    ['drips', drip(head(200, { 'content-length': '100000' }), ' ', 100)],
  ])(
    'T68 an answer whose body %s ends in a JobStoreError',
    async (_, slow) => {
      const server = await startScriptedServer();
      server.script(slow);
      const client = dynamoClient(server.url, 2, 200);
      const call = new DynamoJobStore(client, 'scripted', testClock()).get('job_a');
      const hangs = new Promise((resolve) => setTimeout(resolve, 12_000, 'hangs'));
      await expect(Promise.race([call, hangs])).rejects.toThrow(JobStoreError);
      client.destroy();
      await server.close();
    },
    20_000,
  );
});
