import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { SumeSimulatorOptions } from '../../infra/local/sume-simulator/settings.ts';
import { type RunningSumeSimulator, startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { addFault, ask, create, readStatus, testClock } from '../support/sume-requests.ts';

const clock = testClock();
let simulator: RunningSumeSimulator;

/** Starts with one job in a lane for 60 s: every answer suggests 15 s. */
async function startWithJob(options: SumeSimulatorOptions = {}): Promise<string> {
  simulator = await startSumeSimulator({ ...clock, seed: 'observations', renderSeconds: 60, ...options });
  return (await create(simulator)).json.id;
}
afterEach(() => simulator.close());

describe('what the Sume simulator reports of its readers', () => {
  it('calls a read early when the suggested wait has not run out, by however little, and on time at its very end', async () => {
    const id = await startWithJob();
    await readStatus(simulator, id);
    clock.ms += 15_000;
    await readStatus(simulator, id);
    expect(simulator.report()).toMatchObject({ providerReads: 2, earlyReads: 0, worstEarlinessMs: 0 });
    expect(simulator.report().latenessMs).toEqual({ p50: 0, p99: 0, max: 0, count: 1 });
    clock.ms += 14_999;
    await readStatus(simulator, id);
    expect(simulator.report()).toMatchObject({ providerReads: 3, earlyReads: 1, worstEarlinessMs: 1 });
  });

  it('gives lateness as arrival minus due time: median, 99th percentile, worst and count', async () => {
    const id = await startWithJob({ renderSeconds: 100_000 });
    await readStatus(simulator, id);
    for (let late = 1; late <= 100; late += 1) {
      clock.ms += 15_000 + late;
      await readStatus(simulator, id);
    }
    expect(simulator.report().latenessMs).toEqual({ p50: 50, p99: 99, max: 100, count: 100 });
  });

  it('calls a read of a job whose end was told a duplicate, and not an early one', async () => {
    const id = await startWithJob();
    clock.ms += 60_000;
    await readStatus(simulator, id);
    await readStatus(simulator, id);
    expect(simulator.report()).toMatchObject({ duplicateReads: 1, earlyReads: 0 });
  });

  it('calls a read beside another one of the same job a duplicate', async () => {
    const id = await startWithJob({ answerDelayMs: { mean: 50, spread: 0 } });
    await Promise.all([readStatus(simulator, id), readStatus(simulator, id)]);
    expect(simulator.report()).toMatchObject({ providerReads: 2, duplicateReads: 1 });
  });

  it('takes a read as over once its reader has hung up', async () => {
    const id = await startWithJob();
    await addFault(simulator, { kind: 'hang', route: 'status', count: 1 });
    await new Promise<void>((resolve) => {
      const options = { port: simulator.port, path: `/v1/jobs/${id}/status`, headers: { 'x-api-key': 'key-of-tests' } };
      const hanging = request(options).on('error', () => resolve());
      hanging.end();
      void waitFor(() => simulator.report().providerReads === 1).then(() => hanging.destroy());
    });
    await waitFor(async () => {
      const before = simulator.report().duplicateReads;
      await readStatus(simulator, id);
      return simulator.report().duplicateReads === before;
    });
  });

  it('expects nothing of a reader whose read was spoiled by a fault, a limit or an unknown id', async () => {
    const id = await startWithJob({ limits: { readsPerMinute: 4 } });
    await readStatus(simulator, id);
    clock.ms += 15_000;
    await addFault(simulator, { kind: 'error', status: 500, route: 'status', count: 1 });
    await readStatus(simulator, id);
    await readStatus(simulator, id);
    expect(simulator.report()).toMatchObject({ earlyReads: 0, latenessMs: { count: 1 } });
    clock.ms += 15_000;
    await readStatus(simulator, id);
    clock.ms += 15_000;
    expect((await readStatus(simulator, id)).status).toBe(429);
    await readStatus(simulator, 'job_unknown');
    clock.ms += 60_000;
    await readStatus(simulator, id);
    expect(simulator.report()).toMatchObject({
      providerReads: 7,
      earlyReads: 0,
      duplicateReads: 0,
      refused429: { status: 2 },
      latenessMs: { count: 3 },
    });
  });

  it('takes a delayed answer for a true one: the wait counts from when it was sent', async () => {
    const id = await startWithJob();
    await addFault(simulator, { kind: 'delay', ms: 30, route: 'status', count: 1 });
    const reading = readStatus(simulator, id);
    await waitFor(() => simulator.report().providerReads === 1);
    clock.ms += 5_000;
    await reading;
    clock.ms += 14_999;
    await readStatus(simulator, id);
    expect(simulator.report()).toMatchObject({ earlyReads: 1, worstEarlinessMs: 1 });
  });

  it('is also told over HTTP, job by job when asked, and starts from zero on demand without forgetting the jobs', async () => {
    const id = await startWithJob();
    await readStatus(simulator, id);
    await readStatus(simulator, id);
    const detail = await ask(simulator, 'GET', '/__control/report?detail=1');
    expect(detail.json).toMatchObject({
      billedClips: 1,
      createsReceived: 1,
      earlyReads: 1,
      perJob: [{ id, state: 'processing', reads: 2, earlyReads: 1, duplicateReads: 0, worstEarlinessMs: 15_000 }],
    });
    await ask(simulator, 'POST', '/__control/reset-observations');
    expect(simulator.report()).toMatchObject({
      billedClips: 1,
      jobs: { processing: 1 },
      createsReceived: 0,
      providerReads: 0,
      earlyReads: 0,
      latenessMs: { count: 0 },
    });
    clock.ms += 15_007;
    await readStatus(simulator, id);
    expect(simulator.report().latenessMs).toEqual({ p50: 7, p99: 7, max: 7, count: 1 });
  });
});

describe('control over the jobs of the Sume simulator', () => {
  it('forces a state, and the money and the lanes follow', async () => {
    const id = await startWithJob({ limits: { processing: 1 } });
    const second = (await create(simulator)).json.id;
    for (const [state, usage] of [
      ['expired', 'refunded'],
      ['completed', 'captured'],
      ['failed', 'refunded'],
    ]) {
      const forced = await ask(simulator, 'POST', `/__control/jobs/${id}`, { body: { state } });
      expect(forced.status).toBe(200);
      expect((await readStatus(simulator, id)).json).toMatchObject({
        sume_status: state,
        terminal: true,
        data: { usage: { status: usage } },
      });
    }
    expect((await readStatus(simulator, second)).json.status).toBe('processing');
    const all = await ask(simulator, 'GET', '/__control/jobs');
    expect(all.json.jobs.map((job: { state: string }) => job.state)).toEqual(['failed', 'processing']);
  });

  it('is refused for unknown jobs, states and rooms, and without the token when there is one', async () => {
    const id = await startWithJob({ controlToken: 'let me in' });
    const headers = { 'x-control-token': 'let me in' };
    expect((await ask(simulator, 'GET', '/__control/report')).status).toBe(401);
    expect((await ask(simulator, 'GET', '/__control/report', { headers })).status).toBe(200);
    const body = { state: 'melted' };
    expect((await ask(simulator, 'POST', `/__control/jobs/${id}`, { body, headers })).status).toBe(400);
    expect((await ask(simulator, 'POST', '/__control/jobs/job_x', { body, headers })).status).toBe(404);
    expect((await ask(simulator, 'GET', '/__control/cellar', { headers })).status).toBe(404);
  });
});

async function waitFor(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('condition not met within 5 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
