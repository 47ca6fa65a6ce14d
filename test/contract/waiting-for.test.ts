import { expect, test } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { jobIdFor } from '../../lib/identify.ts';
import { useAccountApi } from '../support/account-api.ts';
import { testNowMs as nowMs } from '../support/dynamo.ts';

/* What GET /v1/jobs/{id} says of why a job is not further, on a real Redis and record. */

const api = useAccountApi();
const iso = (ms: number) => new Date(ms).toISOString();
const show = async (id: string) => (await api.call('GET', `/v1/jobs/${id}`)).body;

test('a job in line has its place, behind those that a drain would admit first', async () => {
  const drain = api.dueSet('studio');
  const [first, second, urgent] = await Promise.all(['1', '2', '3'].map((key) => api.job(key)));
  const entry = { owner: 'acme', priority: 5, expiresInMs: 3_600_000 };
  await drain.enqueue([
    { ...entry, id: String(first?.id) },
    { ...entry, id: String(second?.id) },
    { ...entry, id: String(urgent?.id), priority: 9 },
  ]);
  const occupied = Array.from({ length: 24 }, (_, i) => `busy-${i}`);
  await api.put('due', 'studio', nowMs + 60_000, ...occupied);
  const places = await Promise.all(
    [urgent, first, second].map(async (job) => (await show(String(job?.id))).waiting_for),
  );
  expect(places).toEqual([1, 2, 3].map((place) => ({ kind: 'slot', place, predicted_at: null })));
});

test('with typical times known it has when it will be admitted, and when it will be done', async () => {
  const { id } = await api.job('1');
  await api.put('waiting', 'studio', 1, id);
  await api.put('due', 'studio', nowMs + 60_000, ...Array.from({ length: 24 }, (_, i) => `busy-${i}`));
  api.ports = { ...api.ports, predictEnd: async () => [48_000, 96_000] };
  expect(await show(id)).toMatchObject({
    waiting_for: {
      kind: 'slot',
      place: 1,
      predicted_at: { earliest: iso(nowMs + 2_000), latest: iso(nowMs + 96_000) },
    },
    predicted_completion: { earliest: iso(nowMs + 50_000), latest: iso(nowMs + 192_000) },
  });
});

test('a running job has its next read and its likely end; in hand, its lease; ended, neither', async () => {
  api.ports = { ...api.ports, predictEnd: async () => [48_000, 96_000] };
  const running = await api.job('1', { state: 'processing', submittedAtMs: nowMs - 10_000, providerJobId: 'clip' });
  await api.put('due', 'studio', nowMs + 7_000, running.id);
  expect(await show(running.id)).toMatchObject({
    id: running.id,
    waiting_for: { kind: 'provider_hint', until: iso(nowMs + 7_000) },
    predicted_completion: { earliest: iso(nowMs + 38_000), latest: iso(nowMs + 86_000) },
  });
  await api.put('due', 'studio', nowMs + 9_000 + 2 / 16, running.id);
  expect((await show(running.id)).waiting_for).toEqual({ kind: 'lease', until: iso(nowMs + 9_000) });
  const ended = await api.job('2', { state: 'completed', finishedAtMs: nowMs });
  expect(await show(ended.id)).toMatchObject({ waiting_for: null, predicted_completion: null });
});

test('one that is due while no read is left counts those that are due before it', async () => {
  const newest = Math.floor(nowMs / 2_000);
  const { id } = await api.job('1', { state: 'processing', submittedAtMs: nowMs, providerJobId: 'clip' });
  await api.put('due', 'studio', nowMs - 2_000, 'before-1', 'before-2');
  await api.put('due', 'studio', nowMs - 1_000, id);
  await api.state('studio', { reads: `${newest} ${nowMs} 118 0 2|` });
  const { kind, until } = (await show(id)).waiting_for;
  expect([kind, until]).toEqual(['read_budget', iso(newest * 2_000 + 64_000)]);
});

test('the account’s own trouble comes first', async () => {
  const { id } = await api.job('1', { state: 'processing', submittedAtMs: nowMs, providerJobId: 'clip' });
  await api.put('due', 'studio', nowMs + 7_000, id);
  await api.state('studio', { breaker: `held ${nowMs + 60_000} 1 0` });
  const held = { kind: 'hold', reason: 'held', until: iso(nowMs + 60_000) };
  expect((await show(id)).waiting_for).toEqual(held);
  await api.call('POST', '/v1/accounts/studio/pause');
  expect((await show(id)).waiting_for).toEqual({ kind: 'paused', since: iso(nowMs) });
});

test('nobody knows where there is no Redis, no member or a senseless one, no such account; the job is shown all the same', async () => {
  const lost = await api.job('1', { state: 'processing' });
  const unknown = { state: 'processing', waiting_for: { kind: 'unknown' }, predicted_completion: null };
  expect(await show(lost.id)).toMatchObject(unknown);
  await api.upstash.direct('ZADD', 'pk:{test}:due:studio', 'inf', lost.id);
  expect(await show(lost.id)).toMatchObject(unknown);
  const orphan = await api.job('2', { state: 'processing', account: 'gone' });
  expect(await show(orphan.id)).toMatchObject(unknown);
  await api.upstash.setFaults({ failWith: { status: 500, body: { error: 'ERR away' } } });
  const { status, body } = await api.call('GET', `/v1/jobs/${lost.id}`);
  expect(status).toBe(200);
  expect(body).toMatchObject(unknown);
  expect(api.logged.map(({ event }) => event).filter((event) => event !== 'request')).toEqual(['due_set_unseen']);
});

test('a prediction that can not be had leaves the rest as it is', async () => {
  const { id } = await api.job('1', { state: 'processing', submittedAtMs: nowMs, providerJobId: 'clip' });
  await api.put('due', 'studio', nowMs + 7_000, id);
  const predictEnd = () => Promise.reject(new JobStoreError('throttled'));
  api.ports = { ...api.ports, predictEnd };
  expect(await show(id)).toMatchObject({ waiting_for: { kind: 'provider_hint' }, predicted_completion: null });
  expect(id).toBe(jobIdFor('acme', '1'));
});
