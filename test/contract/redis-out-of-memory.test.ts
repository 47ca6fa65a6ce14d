import { afterEach, describe, expect, test } from 'vitest';
import { readAccounts } from '../../lib/accounts.ts';
import { drain } from '../../lib/drain.ts';
import { createApp } from '../../lib/http/app.ts';
import { jobIdFor } from '../../lib/identify.ts';
import { due, remove, useRedisDueSet } from '../support/due-set.ts';
import { allJobs, type Parts, remaining, startParts, submitClip, sweepAll } from '../support/parts.ts';
import { dueKey, membersOf, waitingKey } from '../support/upstash.ts';

/* A Redis that is full and evicts nothing: reads go on, a script is refused at the first command that needs memory. */

type Direct = (...command: string[]) => Promise<unknown>;

const fill = (direct: Direct) => direct('CONFIG', 'SET', 'maxmemory', '1');
const makeRoom = (direct: Direct) => direct('CONFIG', 'SET', 'maxmemory', '0');

describe('polling', () => {
  let parts: Parts;
  afterEach(() => parts.close());

  const hour = 3_600_000;
  const ids = async () => {
    const sets = await Promise.all([dueKey, waitingKey].map((key) => membersOf(parts.upstash, key)));
    return sets.flatMap((members) => [...members.keys()]).sort();
  };
  const drainFor = (ms: number) => drain(parts.ports, parts.settings, remaining(parts, ms));
  const states = async () => (await allJobs(parts)).map(({ state }) => state);

  async function post(key: string): Promise<number> {
    const app = createApp({ ...parts.ports, stage: 'test', accounts: readAccounts(undefined) });
    const input = { model: 'seedance-2-mini', prompt: 'a lighthouse', duration: 8, resolution: '720p' };
    const event = { requestContext: { authorizer: { lambda: { owner: 'acme' } } } };
    const init = { method: 'POST', headers: { 'Idempotency-Key': key }, body: JSON.stringify({ input }) };
    return (await app.request('/v1/jobs', init, { event } as never)).status;
  }

  test('T23 submits stay durable, the drain says why it ends, no id is lost, and all goes on by itself once there is room', async () => {
    parts = await startParts({ renderSeconds: 100, limits: false });
    const { upstash, logged, sume } = parts;
    expect(await upstash.direct('CONFIG', 'GET', 'maxmemory-policy')).toMatchObject([{}, Buffer.from('noeviction')]);
    for (let i = 0; i < 10; i++) await submitClip(parts, `early-${i}`);
    // Full while a drain works on ten jobs: it can settle none of them.
    const surprised = drainFor(2 * hour);
    await parts.ports.clock.sleep(40_000);
    const before = await ids();
    await fill(upstash.direct);
    expect(await surprised).toMatchObject({ ended: 'limit', failedExchanges: 1 });
    expect(logged.find(({ event }) => event === 'exchange_failed')?.fields).toMatchObject({
      code: 'limit',
      error: expect.stringContaining('OOM'),
    });

    const late = [0, 1, 2].map((i) => `late-${i}`);
    for (const key of late) expect(await post(key)).toBe(202);
    expect(logged.filter(({ event }) => event === 'job_not_scheduled')).toHaveLength(3);
    await parts.ports.clock.sleep(15_000);
    expect(await drainFor(hour)).toMatchObject({ ended: 'limit', claims: 0, failedExchanges: 1 });
    expect(await sweepAll(parts)).toMatchObject({ complete: false, restored: 0 });
    expect(await ids()).toEqual(before);

    await makeRoom(upstash.direct);
    expect(await sweepAll(parts)).toMatchObject({ complete: true, active: 13, restored: 3 });
    expect(await ids()).toEqual([...before, ...late.map((key) => jobIdFor('acme', key))].sort());
    expect(await drainFor(hour)).toMatchObject({ ended: 'idle', failedExchanges: 0 });
    expect(await states()).toEqual(Array(13).fill('completed'));
    expect(await ids()).toEqual([]);
    expect(sume.report()).toMatchObject({ billedClips: 13, duplicateReads: 0 });
  });
});

describe('an exchange', () => {
  const redis = useRedisDueSet();
  const direct: Direct = (...command) => redis.upstash.direct(...command);
  afterEach(() => makeRoom(direct));

  test('T23 is refused as a whole or done as a whole, and a refused one counts when it is repeated', async () => {
    await redis.set.schedule(['job_a', 'job_b', 'job_c'].map((id) => ({ id, delayMs: 0 })));
    const { claimed } = await redis.exchange();
    const tokens = new Map(claimed.map(({ id, token }) => [id, token]));
    const token = (id: string) => tokens.get(id) ?? '';
    await redis.set.schedule([{ id: 'job_d', delayMs: 0 }]);
    const dueAtMs = redis.nowMs + 30_000;
    await fill(direct);
    const settlements = [due('job_a', token('job_a'), dueAtMs), remove('job_b', token('job_b'))];
    await expect(redis.exchange({ settlements })).rejects.toMatchObject({ code: 'limit' });
    expect(await redis.score('job_a')).toBe(token('job_a'));
    expect(await redis.score('job_b')).toBe(token('job_b'));
    // Removing takes no memory, and a script that has written something is not stopped any more.
    const removal = [remove('job_c', token('job_c'))];
    expect(await redis.exchange({ settlements: removal })).toMatchObject({ claimed: [{ id: 'job_d', claims: 1 }] });
    expect(await redis.score('job_c')).toBe('null');

    await makeRoom(direct);
    const again = await redis.exchange({ settlements: [...settlements, ...removal] });
    expect(again).toMatchObject({ stale: [], claimed: [] });
    expect(await redis.score('job_a')).toBe(String(dueAtMs));
    expect(await redis.score('job_b')).toBe('null');
  });
});
