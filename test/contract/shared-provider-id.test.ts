import { afterEach, expect, test } from 'vitest';
import { drain } from '../../lib/drain.ts';
import { submit } from '../../lib/submit.ts';
import { json } from '../support/scripted-server.ts';
import { startWiredDrain, type WiredDrain } from '../support/wired-drain.ts';

/* Two keys are two jobs and two keys at the provider, which gives each an id of its own, unless it errs. */

let parts: WiredDrain;
afterEach(() => parts.close());

test('T73 two jobs that were told the same provider id are each read at the pace they were told, and both end', async () => {
  parts = await startWiredDrain();
  const { api, ports, settings, provider } = parts;
  const gapsMs: number[] = [];
  const readsAtMs: number[] = [];
  provider.reply = ({ method, path }) => {
    if (method === 'POST') return json({ id: 'clip-1', status: 'processing', next_poll_after_seconds: 1 }, 201);
    if (path.endsWith('/result')) return json({ data: { video_url: 'https://media.example/clip.mp4' } });
    readsAtMs.push(performance.now());
    const status = readsAtMs.length > 4 ? 'completed' : 'processing';
    return json({ id: 'clip-1', status, terminal: status === 'completed', next_poll_after_seconds: 1 });
  };
  const input = { model: 'seedance-2-mini', prompt: 'a lighthouse' };
  const rest = { owner: 'acme', account: 'sume', input, deadlineSeconds: 3_600, metadata: {} };
  for (const idempotencyKey of ['one', 'other']) {
    expect(await submit(api, { ...rest, idempotencyKey })).toMatchObject({ replayed: false });
  }
  const endsAtMs = performance.now() + 60_000;
  const report = await drain(ports, settings, () => endsAtMs - performance.now());
  expect(report).toMatchObject({ ended: 'idle', lostLeases: 0 });
  const { jobs } = await api.store.list('acme', { limit: 10 });
  expect(jobs.map(({ state, providerJobId }) => [state, providerJobId])).toEqual(
    Array(2).fill(['completed', 'clip-1']),
  );
  const creates = provider.received.filter(({ method }) => method === 'POST');
  expect(new Set(creates.map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
  // Two jobs: at most two reads in the wait that each was told.
  for (let i = 2; i < readsAtMs.length; i++) gapsMs.push((readsAtMs[i] ?? 0) - (readsAtMs[i - 2] ?? 0));
  expect(readsAtMs).toHaveLength(6);
  expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(990);
});
