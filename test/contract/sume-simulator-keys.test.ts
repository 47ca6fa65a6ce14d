import { afterEach, describe, expect, it } from 'vitest';
import type { SumeSimulatorOptions } from '../../infra/local/sume-simulator/settings.ts';
import { type RunningSumeSimulator, startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { workspaceIdOf } from '../../infra/local/sume-simulator/world.ts';
import { ask, CLIP, create, testClock } from '../support/sume-requests.ts';

const clock = testClock();
const startMs = clock.ms;
let simulator: RunningSumeSimulator;

async function start(options: SumeSimulatorOptions = {}): Promise<void> {
  clock.ms = startMs;
  simulator = await startSumeSimulator({ ...clock, nowMs: () => clock.ms, monotonicMs: () => clock.ms, ...options });
}
afterEach(() => simulator.close());

const ofKey = (key: string) =>
  simulator.report({ detail: true }).perKey?.find(({ workspace }) => workspace === workspaceIdOf(key));
const read = (key: string) => ask(simulator, 'GET', '/v1/me', { key });

describe('the Sume simulator with several keys', () => {
  it('gives each its own places, rate limits and counts, and takes no other', async () => {
    await start({ apiKeys: ['a', 'b'], limits: { processing: 1, queued: 1, readsPerMinute: 2 } });
    for (const name of ['1', '2', '3']) await create(simulator, name, CLIP, 'a');
    expect((await create(simulator, '1', CLIP, 'b')).status).toBe(202);
    for (let index = 0; index < 4; index += 1) await read('b');
    expect((await read('c')).status).toBe(401);
    expect(ofKey('a')).toMatchObject({ creates: 3, createsRefusedForRoom: 1, createsRefusedForRate: 0, reads: 0 });
    expect(ofKey('b')).toMatchObject({ creates: 1, createsRefusedForRoom: 0, reads: 4, readsRefused: 2 });
    expect(simulator.report({ detail: true }).perKey).toHaveLength(2);
  });

  it('tells a create that was refused for its rate from one refused for want of a place', async () => {
    await start({ limits: { processing: 1, queued: 0, createsPerMinute: 2 } });
    for (const name of ['1', '2', '3', '4']) await create(simulator, name, CLIP, 'a');
    expect(ofKey('a')).toMatchObject({ creates: 4, createsRefusedForRoom: 1, createsRefusedForRate: 2 });
  });

  it('keeps a journal by the second, and the most requests of any minute, those refused among them', async () => {
    await start({ limits: { readsPerMinute: 3 } });
    await read('a');
    clock.ms += 59_500;
    for (let index = 0; index < 3; index += 1) await read('a');
    clock.ms += 500;
    await read('a');
    const atSecond = startMs / 1000;
    expect(ofKey('a')?.perMinuteMost).toEqual({ reads: 4, creates: 0 });
    expect(ofKey('a')?.seconds).toMatchObject([
      { atSecond, reads: 1, readsRefused: 0 },
      { atSecond: atSecond + 59, reads: 3, readsRefused: 1 },
      { atSecond: atSecond + 60, reads: 1, readsRefused: 0 },
    ]);
  });

  it('says of each job when its end was first told, and starts its counts anew on demand', async () => {
    await start({ renderSeconds: 60 });
    const { id } = (await create(simulator, '1', CLIP, 'a')).json;
    const toldAtMs = () => simulator.report({ detail: true }).perJob?.[0]?.endToldAtMs;
    const status = () => ask(simulator, 'GET', `/v1/jobs/${id}/status`, { key: 'a' });
    await status();
    clock.ms += 59_999;
    await status();
    expect(toldAtMs()).toBeNull();
    clock.ms += 3_000;
    await status();
    clock.ms += 1_000;
    await status();
    expect(toldAtMs()).toBe(startMs + 62_999);
    await ask(simulator, 'POST', '/__control/reset-observations');
    expect(ofKey('a')).toBeUndefined();
    expect(toldAtMs()).toBe(startMs + 62_999);
  });
});
