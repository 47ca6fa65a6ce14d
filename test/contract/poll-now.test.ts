import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readAccounts } from '../../lib/accounts.ts';
import { decide } from '../../lib/decide.ts';
import { drain } from '../../lib/drain.ts';
import { createApp } from '../../lib/http/app.ts';
import { enter, type Job, type JobState } from '../../lib/job.ts';
import { running } from '../support/jobs.ts';
import { type Parts, remaining, startParts, submitClip } from '../support/parts.ts';
import { dueKey } from '../support/upstash.ts';

/* POST /v1/jobs/{id}/poll over real parts. Times pass thirty times as fast. */

const hour = 3_600_000;
let parts: Parts;
let app: ReturnType<typeof createApp>;

beforeEach(async () => {
  parts = await startParts({ renderSeconds: 20 });
  app = createApp({ ...parts.ports, stage: 'test', accounts: readAccounts(undefined) });
});
afterEach(() => parts.close());

async function poll(id: string, owner = 'acme') {
  const event = { requestContext: { authorizer: { lambda: { owner } } } };
  const reply = await app.request(`/v1/jobs/${id}/poll`, { method: 'POST' }, { event } as never);
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
}

const stored = async (id: string) => (await parts.ports.store.get(id)) as Job;
const drainFor = (ms: number) => drain(parts.ports, parts.settings, remaining(parts, ms));

/** A clip that the provider has, in a state that it would need days to come to. */
async function clipIn(state: JobState): Promise<Job> {
  const { store, clock } = parts.ports;
  const { id } = (await submitClip(parts, 'clip')).job;
  await parts.upstash.direct('ZREM', dueKey, id);
  const sent = await parts.ports.provider.create(await stored(id));
  if (sent.kind !== 'accepted') throw new Error(`The provider said ${sent.kind}.`);
  const confirmed = { ...(await stored(id)), providerJobId: sent.providerJobId };
  const written = await store.update(enter(confirmed, state, clock.nowMs(), 'deadline_passed'));
  if (written.kind !== 'updated') throw new Error('The record was not written.');
  return written.job;
}

describe('poll now', () => {
  test('a given-up job is taken up again: overdue, due now, and its late success is a success', async () => {
    const { id, finishedAtMs } = await clipIn('given_up');
    expect(finishedAtMs).toBeDefined();
    await parts.ports.clock.sleep(25_000);
    const { status, body } = await poll(id);
    expect({ status, state: body.state }).toEqual({ status: 202, state: 'overdue' });
    expect((await stored(id)).finishedAtMs).toBeUndefined();
    await drainFor(hour);
    expect(await stored(id)).toMatchObject({ state: 'completed', result: { truncated: false } });
    expect(parts.sume.report().billedClips).toBe(1);
    const { history } = await stored(id);
    expect(history.map(({ state }) => state).slice(-3)).toEqual(['given_up', 'overdue', 'completed']);
  });

  test('an overdue job is read now and not only hours later; a repeat changes nothing', async () => {
    const processing = await clipIn('processing');
    const { id } = processing;
    const decision = decide(processing, running({ hintMs: 5_000 }), processing.deadlineAtMs, 0);
    if (decision.kind !== 'change') throw new Error(`It is a ${decision.kind}.`);
    await parts.ports.store.update(decision.job);
    expect((await stored(id)).state).toBe('overdue');
    await parts.ports.dueSet.schedule([{ id, delayMs: 6 * hour }]);
    await parts.ports.clock.sleep(25_000);
    expect((await poll(id)).status).toBe(202);
    expect((await poll(id)).status).toBe(202);
    await drainFor(hour);
    expect((await stored(id)).state).toBe('completed');
  });

  test('a job that is polled anyway is left to the provider’s pace', async () => {
    const { id } = (await submitClip(parts, 'clip')).job;
    const before = await parts.upstash.direct('ZSCORE', dueKey, id);
    expect((await poll(id)).status).toBe(202);
    expect(await parts.upstash.direct('ZSCORE', dueKey, id)).toEqual(before);
  });

  test('a job that has ended otherwise, one that was never confirmed, and another owner’s are refused', async () => {
    const { id } = await clipIn('failed');
    expect(await poll(id)).toMatchObject({ status: 409, body: { type: expect.stringContaining('job_ended') } });
    expect(await poll(id, 'other')).toMatchObject({ status: 404 });
    const unsent = (await submitClip(parts, 'unsent')).job;
    await parts.ports.store.update(enter(unsent, 'given_up', parts.ports.clock.nowMs()));
    expect(await poll(unsent.id)).toMatchObject({
      status: 409,
      body: { type: expect.stringContaining('job_unconfirmed') },
    });
    expect((await stored(unsent.id)).state).toBe('given_up');
  });
});
