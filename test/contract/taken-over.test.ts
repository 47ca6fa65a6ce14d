import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readAccounts } from '../../lib/accounts.ts';
import { drain } from '../../lib/drain.ts';
import { createApp } from '../../lib/http/app.ts';
import { jobIdFor } from '../../lib/identify.ts';
import type { Job } from '../../lib/job.ts';
import { jobWith } from '../support/jobs.ts';
import { type Parts, remaining, startParts, submitClip } from '../support/parts.ts';
import { dueKey, waitingKey } from '../support/upstash.ts';

/* What a drain makes of jobs that were adopted or canceled over the API. Times pass thirty times as fast. */

let parts: Parts;

beforeEach(async () => {
  parts = await startParts({ renderSeconds: 60 });
});
afterEach(() => parts.close());

async function post(path: string, body?: unknown) {
  const app = createApp({ ...parts.ports, stage: 'test', accounts: readAccounts(undefined) });
  const event = { requestContext: { authorizer: { lambda: { owner: 'acme' } } } };
  const init = { method: 'POST', ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  return (await app.request(path, init, { event } as never)).status;
}

const drainOnce = () => drain(parts.ports, parts.settings, remaining(parts, 3_600_000));

describe('a job that was taken over or given back', () => {
  test('an adopted render is read to its end, and never sent', async () => {
    const sent = await parts.ports.provider.create(jobWith({ id: jobIdFor('elsewhere', 'a') }));
    if (sent.kind !== 'accepted') throw new Error(`The provider said ${sent.kind}.`);
    const { providerJobId } = sent;
    expect(await post('/v1/jobs/adopt', { items: [{ provider_job_id: providerJobId }] })).toBe(200);
    await drainOnce();
    const job = (await parts.ports.store.get(jobIdFor('acme', `adopt,sume,${providerJobId}`))) as Job;
    expect(job).toMatchObject({ state: 'completed', adopted: true, providerJobId });
    expect(job.history.map(({ state }) => state)).not.toContain('submitting');
    expect(job.events.map(({ type }) => type)).toContain('job.completed');
    expect(parts.sume.report().jobs.total).toBe(1);
  });

  test('a job that was canceled while it waited is out of line, and never sent', async () => {
    const { job } = await submitClip(parts, 'clip');
    expect(await post(`/v1/jobs/${job.id}/cancel`)).toBe(200);
    expect(await parts.upstash.direct('ZCARD', waitingKey)).toBe(0);
    await drainOnce();
    expect(await parts.ports.store.get(job.id)).toMatchObject({ state: 'canceled', revision: 2 });
    expect(await parts.upstash.direct('ZCARD', dueKey)).toBe(0);
    expect(parts.sume.report().jobs.total).toBe(0);
  });

  test('a cancel reaches the provider through the very drain that reads the job again and again', async () => {
    await parts.close();
    // So long that it does not end by itself: a wish that comes while a read is under way is heard by the next but one.
    parts = await startParts({ renderSeconds: 600 });
    const { job } = await submitClip(parts, 'clip');
    const drained = drainOnce();
    const stateOf = async () => (await parts.ports.store.get(job.id))?.state;
    await vi.waitUntil(async () => (await stateOf()) === 'processing', { timeout: 5_000, interval: 20 });
    expect(await post(`/v1/jobs/${job.id}/cancel`)).toBe(202);
    await drained;
    expect(await parts.ports.store.get(job.id)).toMatchObject({ state: 'canceled' });
    expect(parts.sume.report().jobs).toMatchObject({ canceled: 1, total: 1 });
  });
});
