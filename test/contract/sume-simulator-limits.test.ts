import { afterEach, describe, expect, it } from 'vitest';
import type { SumeSimulatorOptions } from '../../infra/local/sume-simulator/settings.ts';
import { type RunningSumeSimulator, startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { addFault, ask, CLIP, create, readStatus, testClock } from '../support/sume-requests.ts';

const clock = testClock();
let simulator: RunningSumeSimulator;

async function start(options: SumeSimulatorOptions = {}): Promise<void> {
  simulator = await startSumeSimulator({ ...clock, seed: 'limits', ...options });
}
afterEach(() => simulator.close());

describe('idempotent creates on the Sume simulator', () => {
  it('make one job of 50 that are sent at once with the same key, answered late', async () => {
    await start({ answerDelayMs: { mean: 20, spread: 20 }, limits: { createsPerMinute: 100 } });
    const replies = await Promise.all(Array.from({ length: 50 }, () => create(simulator, 'one-key')));
    expect(new Set(replies.map((reply) => reply.json.id)).size).toBe(1);
    expect(replies.filter((reply) => reply.status === 202)).toHaveLength(1);
    expect(replies.filter((reply) => reply.json.data.idempotency_hit === true)).toHaveLength(49);
    expect(simulator.report()).toMatchObject({ billedClips: 1, createsReceived: 50, idempotentReplays: 49 });
  });

  it('find their job again after the first reply was lost', async () => {
    await start();
    await addFault(simulator, { kind: 'reset-after-effect', route: 'create', count: 1 });
    await expect(create(simulator, 'lost')).rejects.toThrow();
    expect(simulator.report().billedClips).toBe(1);
    const again = await create(simulator, 'lost');
    expect([again.status, again.json.idempotency_hit, again.headers.get('idempotent-replayed')]).toEqual([
      200,
      true,
      'true',
    ]);
    expect(simulator.report()).toMatchObject({ billedClips: 1, createsReceived: 2, jobs: { total: 1 } });
  });

  it('refuse the same key for another body, and see through another order of fields', async () => {
    await start();
    const first = await create(simulator, 'k', { model: 'm', prompt: 'x' });
    const same = await create(simulator, 'k', { prompt: 'x', model: 'm' });
    expect(same.json.id).toBe(first.json.id);
    const other = await create(simulator, 'k', { model: 'm', prompt: 'y' });
    expect([other.status, other.json.error.code]).toEqual([409, 'idempotency_conflict']);
  });

  it('are new jobs each time without a key, and leave a refused key free to be used again', async () => {
    await start({ limits: { processing: 1, queued: 1 } });
    const ids = [(await create(simulator)).json.id, (await create(simulator)).json.id];
    expect(new Set(ids).size).toBe(2);
    expect((await create(simulator, 'later')).status).toBe(429);
    clock.ms += 240_000;
    const later = await create(simulator, 'later');
    expect([later.status, later.json.idempotency_hit]).toEqual([202, false]);
  });
});

describe('admission on the Sume simulator', () => {
  it('takes 4 to process and 20 to wait, then refuses until a lane is free', async () => {
    await start({ renderSeconds: 60, limits: { createsPerMinute: 100 } });
    const replies = [];
    for (let index = 0; index < 26; index += 1) replies.push(await create(simulator, `k${index}`));
    expect(replies.map((reply) => reply.status)).toEqual([...Array(24).fill(202), 429, 429]);
    const refused = replies[24];
    expect(refused?.json.error).toMatchObject({
      code: 'concurrency_limit_exceeded',
      details: { processing: 4, queued: 20, retry_after_seconds: 60 },
    });
    expect(refused?.headers.get('retry-after')).toBe('60');
    expect(simulator.report()).toMatchObject({
      billedClips: 24,
      jobs: { processing: 4, queued: 20 },
      refused429: { create: 2, status: 0, other: 0 },
    });
    clock.ms += 60_000;
    expect((await create(simulator, 'k24')).status).toBe(202);
    expect(simulator.report().jobs).toMatchObject({ completed: 4, processing: 4, queued: 17 });
  });

  it('lets jobs in first come first served, and tells those further back to wait longer', async () => {
    await start({ renderSeconds: 100, limits: { createsPerMinute: 100 } });
    const ids: string[] = [];
    for (let index = 0; index < 24; index += 1) ids.push((await create(simulator)).json.id);
    const hints = async () =>
      Promise.all(
        ids.map(async (id) => (await readStatus(simulator, id)).json.next_poll_after_seconds as number | null),
      );
    const first = await hints();
    expect(first.slice(0, 6)).toEqual([15, 15, 15, 15, 16, 17]);
    expect(first.slice(-6)).toEqual([30, 30, 30, 30, 30, 30]);
    await ask(simulator, 'POST', `/v1/jobs/${ids[4]}/cancel`);
    await ask(simulator, 'POST', `/v1/jobs/${ids[0]}/cancel`);
    const states = async () =>
      Promise.all(ids.slice(0, 7).map(async (id) => (await readStatus(simulator, id)).json.status));
    expect(await states()).toEqual(['canceled', ...Array(3).fill('processing'), 'canceled', 'processing', 'queued']);
    clock.ms += 100_000;
    expect((await hints()).slice(0, 8)).toEqual([null, null, null, null, null, null, 15, 15]);
  });

  it('can be switched off together with the rate limits', async () => {
    await start({ limits: false });
    const replies = await Promise.all(Array.from({ length: 60 }, (_, index) => create(simulator, `k${index}`)));
    expect(replies.every((reply) => reply.status === 202)).toBe(true);
    expect(simulator.report().jobs.processing).toBe(60);
    expect(replies[0]?.headers.get('ratelimit-limit')).toBeNull();
  });
});

describe('rate limits of the Sume simulator', () => {
  it('allow 10 creates a minute and say how long to wait', async () => {
    await start();
    const replies = [];
    for (let index = 0; index < 11; index += 1) replies.push(await create(simulator, `k${index}`));
    expect(replies.map((reply) => reply.headers.get('ratelimit-remaining'))).toEqual([
      '9',
      '8',
      '7',
      '6',
      '5',
      '4',
      '3',
      '2',
      '1',
      '0',
      '0',
    ]);
    const refused = replies[10];
    expect([refused?.status, refused?.json.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(refused?.headers.get('retry-after')).toBe('60');
    expect(refused?.headers.get('x-ratelimit-reset')).toBe('60');
    clock.ms += 60_000;
    expect((await create(simulator, 'k10')).status).toBe(202);
  });

  it('count reads apart from creates, and for each key apart', async () => {
    await start({ limits: { readsPerMinute: 2 } });
    const { id } = (await create(simulator)).json;
    const reads = [await readStatus(simulator, id), await readStatus(simulator, id), await readStatus(simulator, id)];
    expect(reads.map((reply) => reply.status)).toEqual([200, 200, 429]);
    expect((await ask(simulator, 'GET', '/v1/me', { key: 'another' })).status).toBe(200);
    expect((await create(simulator)).status).toBe(202);
    expect(simulator.report().refused429).toEqual({ create: 0, status: 1, other: 0 });
  });

  it('count back from each request where they are asked to: never more than the limit in any minute', async () => {
    await start({ window: 'sliding', limits: { readsPerMinute: 2 } });
    const read = async () => (await ask(simulator, 'GET', '/v1/me')).status;
    expect(await read()).toBe(200);
    clock.ms += 59_000;
    expect([await read(), await read()]).toEqual([200, 429]);
    clock.ms += 1_000;
    expect([await read(), await read()]).toEqual([200, 429]);
    clock.ms += 58_999;
    expect(await read()).toBe(429);
    clock.ms += 1;
    expect(await read()).toBe(200);
  });

  it('allow 10,000 reads a day', async () => {
    await start({ limits: { readsPerMinute: 3, readsPerDay: 5 } });
    const statuses = [];
    for (let minute = 0; minute < 3; minute += 1) {
      for (let read = 0; read < 3; read += 1) statuses.push((await ask(simulator, 'GET', '/v1/me')).status);
      clock.ms += 60_000;
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429]);
    const refused = await ask(simulator, 'GET', '/v1/me');
    expect(Number(refused.headers.get('retry-after'))).toBe(86_400 - 180);
  });

  it('run, like everything else, as much quicker as the time scale says', async () => {
    await start({ timeScale: 20, renderSeconds: 60 });
    const { id } = (await create(simulator)).json;
    const status = await readStatus(simulator, id);
    expect(status.json.next_poll_after_seconds).toBe(1);
    expect(status.headers.get('ratelimit-reset')).toBe('3');
    for (let index = 0; index < 9; index += 1) await create(simulator);
    expect((await create(simulator)).headers.get('retry-after')).toBe('3');
    clock.ms += 3_000;
    expect((await create(simulator)).status).toBe(202);
    expect((await readStatus(simulator, id)).json.status).toBe('completed');
  });
});

describe('seeds of the Sume simulator', () => {
  it('decide ids and render times', async () => {
    const run = async (seed: string) => {
      await start({ seed });
      const { id } = (await create(simulator, undefined, CLIP)).json;
      const { jobs } = (await ask(simulator, 'GET', '/__control/jobs')).json;
      await simulator.close();
      return [id, jobs[0].renderMs];
    };
    expect(await run('a')).toEqual(await run('a'));
    expect(await run('a')).not.toEqual(await run('b'));
  });
});
