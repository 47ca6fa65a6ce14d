import { afterEach, describe, expect, it } from 'vitest';
import type { SumeSimulatorOptions } from '../../infra/local/sume-simulator/settings.ts';
import { type RunningSumeSimulator, startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { ask, CLIP, create, readStatus, testClock } from '../support/sume-requests.ts';

const clock = testClock();
let simulator: RunningSumeSimulator;

async function start(options: SumeSimulatorOptions = {}): Promise<void> {
  simulator = await startSumeSimulator({ ...clock, seed: 'contract', ...options });
}
afterEach(() => simulator.close());

describe('a render on the Sume simulator', () => {
  it('goes from create to a media file that is really served', async () => {
    await start({ renderSeconds: 60 });
    const made = await create(simulator, 'key-1', { ...CLIP, camera: { pan: 'left' }, seed: 7 });
    expect(made.status).toBe(202);
    const id = made.json.id as string;
    expect(id).toMatch(/^job_[0-9a-f]{24}$/);
    expect(made.json.data).toMatchObject({
      request_id: id,
      job: { id, type: 'video_generation', status: 'processing' },
      status_url: `${simulator.url}/v1/jobs/${id}/status`,
      result_url: `${simulator.url}/v1/jobs/${id}/result`,
      idempotency_hit: false,
    });

    clock.ms += 59_000;
    expect((await readStatus(simulator, id)).json).toMatchObject({
      id,
      status: 'processing',
      sume_status: 'processing',
      terminal: false,
      next_poll_after_seconds: 15,
      data: { status: 'PROCESSING', sume_status: 'processing', result_ready: false, usage: { status: 'reserved' } },
    });
    const early = await ask(simulator, 'GET', `/v1/jobs/${id}/result`);
    expect([early.status, early.json.error]).toEqual([
      409,
      { code: 'job_not_completed', message: expect.any(String), details: { status: 'processing' } },
    ]);

    clock.ms += 1_000;
    expect((await readStatus(simulator, id)).json).toMatchObject({
      status: 'completed',
      terminal: true,
      next_poll_after_seconds: null,
      data: {
        status: 'COMPLETED',
        result_ready: true,
        next_action: 'fetch_result',
        usage: { status: 'captured', currency: 'USD', captured_amount_usd_micros: 1_512_000 },
      },
    });
    const job = await ask(simulator, 'GET', `/v1/jobs/${id}`);
    expect(job.json.input).toEqual({ ...CLIP, camera: { pan: 'left' }, seed: 7 });
    const events = await ask(simulator, 'GET', `/v1/jobs/${id}/events?limit=3`);
    expect(events.json.data.events.map((event: { type: string }) => event.type)).toEqual([
      'job.created',
      'usage.reserved',
      'job.processing',
    ]);
    const all = await ask(simulator, 'GET', `/v1/jobs/${id}/events`);
    expect(all.json.data.events.at(-1)).toMatchObject({ type: 'usage.captured' });
  });

  it('is answered in the newer form, the older one, or both', async () => {
    await start({ form: 'new' });
    const newer = await create(simulator);
    const status = (await readStatus(simulator, newer.json.id)).json;
    expect(Object.keys(status)).toEqual(['id', 'status', 'sume_status', 'terminal', 'next_poll_after_seconds']);
    await simulator.close();

    await start({ form: 'old' });
    const older = await create(simulator);
    expect(Object.keys(older.json)).toEqual(['data']);
    const inData = (await readStatus(simulator, older.json.data.job.id)).json;
    expect(Object.keys(inData)).toEqual(['data']);
    expect(inData.data).toMatchObject({ status: 'PROCESSING', terminal: false, next_poll_after_seconds: 15 });
  });

  it('can be canceled while queued or processing, and gives the money back', async () => {
    await start();
    const { id } = (await create(simulator)).json;
    const headers = { 'idempotency-key': 'cancel-1' };
    const canceled = await ask(simulator, 'POST', `/v1/jobs/${id}/cancel`, { body: {}, headers });
    expect([canceled.status, canceled.json]).toMatchObject([
      200,
      { id, status: 'canceled', canceled: true, data: { job_id: id, status: 'CANCELED', canceled: true } },
    ]);
    const again = await ask(simulator, 'POST', `/v1/jobs/${id}/cancel`, { body: {}, headers });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect((await ask(simulator, 'GET', '/v1/balance')).json.data).toMatchObject({
      available_balance_usd_micros: 10_000_000_000,
      reserved_usd_micros: 0,
    });
    const other = (await create(simulator)).json.id;
    clock.ms += 240_000;
    const late = await ask(simulator, 'POST', `/v1/jobs/${other}/cancel`);
    expect([late.status, late.json.error.code]).toEqual([409, 'job_not_cancelable']);
    const result = await ask(simulator, 'GET', `/v1/jobs/${id}/result`);
    expect([result.status, result.json.error.code]).toEqual([409, 'job_canceled']);
  });

  it('fails as often as it is told to, and then costs nothing', async () => {
    await start({ failureShare: 1, limits: { processing: 50 } });
    const { id } = (await create(simulator)).json;
    clock.ms += 240_000;
    expect((await readStatus(simulator, id)).json).toMatchObject({
      sume_status: 'failed',
      terminal: true,
      data: {
        error: { code: 'generation_failed' },
        usage: { status: 'refunded', refunded_amount_usd_micros: 1_512_000 },
      },
    });
    expect(simulator.report()).toMatchObject({
      billedClips: 1,
      usdMicros: { reserved: 0, captured: 0 },
      jobs: { failed: 1 },
    });
  });
});

describe('media of the Sume simulator', () => {
  async function mediaUrl(): Promise<URL> {
    const { id } = (await create(simulator)).json;
    clock.ms += 240_000;
    const { result } = (await ask(simulator, 'GET', `/v1/jobs/${id}/result`)).json;
    expect(result.video).toMatchObject({ content_type: 'video/mp4', duration_seconds: 8, filename: `${id}.mp4` });
    return new URL(result.video.url);
  }

  it('comes as video/mp4 without a key, whole, in ranges, or as a HEAD', async () => {
    await start();
    const url = await mediaUrl();
    const whole = await fetch(url);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    expect(bytes.toString('latin1', 4, 12)).toBe('ftypisom');
    const part = await fetch(url, { headers: { range: 'bytes=4-7' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      `bytes 4-7/${bytes.length}`,
      'ftyp',
    ]);
    const past = await fetch(url, { headers: { range: 'bytes=99999-' } });
    expect([past.status, past.headers.get('content-range')]).toEqual([416, `bytes */${bytes.length}`]);
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
  });

  it('is refused with a changed or expired signature, and signed anew by the next result', async () => {
    await start({ mediaSeconds: 60 });
    const url = await mediaUrl();
    const forged = new URL(url);
    forged.searchParams.set('expires', '9999999999');
    expect((await fetch(forged)).status).toBe(403);
    clock.ms += 62_000;
    const expired = await fetch(url);
    expect([expired.status, ((await expired.json()) as { error: { code: string } }).error.code]).toEqual([
      403,
      'media_url_expired',
    ]);
    const [, , jobId] = url.pathname.split('/');
    const { result } = (await ask(simulator, 'GET', `/v1/jobs/${jobId}/result`)).json;
    expect((await fetch(result.video.url)).status).toBe(200);
  });
});

describe('accounts on the Sume simulator', () => {
  it('are kept apart by key, which may come as a bearer or as x-api-key', async () => {
    await start();
    const { id } = (await create(simulator, 'same-key', CLIP, 'alice')).json;
    const bob = await create(simulator, 'same-key', CLIP, 'bob');
    expect([bob.status, bob.json.id === id]).toEqual([202, false]);
    for (const path of [`/v1/jobs/${id}`, `/v1/jobs/${id}/status`, `/v1/jobs/${id}/result`, `/v1/jobs/${id}/events`]) {
      const foreign = await ask(simulator, 'GET', path, { key: 'bob' });
      expect([foreign.status, foreign.json.error.code]).toEqual([404, 'job_not_found']);
    }
    expect((await ask(simulator, 'POST', `/v1/jobs/${id}/cancel`, { key: 'bob' })).status).toBe(404);
    const own = await fetch(`${simulator.url}/v1/jobs/${id}`, { headers: { 'x-api-key': 'alice' } });
    expect(own.status).toBe(200);
    const workspace = async (key: string) =>
      (await ask(simulator, 'GET', '/v1/me', { key })).json.data.account.workspace_id;
    expect(await workspace('alice')).toMatch(/^ws_/);
    expect(await workspace('alice')).not.toBe(await workspace('bob'));
  });

  it('are refused without a key, and with an unknown one when keys are given', async () => {
    await start({ apiKeys: ['alice'] });
    const none = await fetch(`${simulator.url}/v1/me`);
    expect([none.status, await none.json()]).toMatchObject([401, { error: { code: 'missing_api_key' } }]);
    const wrong = await ask(simulator, 'GET', '/v1/me', { key: 'mallory' });
    expect([wrong.status, wrong.json.error.code]).toEqual([401, 'invalid_api_key']);
    expect((await ask(simulator, 'GET', '/v1/me', { key: 'alice' })).status).toBe(200);
    expect((await fetch(`${simulator.url}/v1/health`)).status).toBe(200);
  });

  it('run out of money: 402, and nothing is made or billed', async () => {
    await start({ startBalanceUsdMicros: 3_100_000 });
    await create(simulator, 'a');
    await create(simulator, 'b');
    const third = await create(simulator, 'c');
    expect([third.status, third.json.error]).toMatchObject([
      402,
      {
        code: 'insufficient_credits',
        details: { required_usd_micros: 1_512_000, available_balance_usd_micros: 76_000 },
      },
    ]);
    expect(simulator.report().billedClips).toBe(2);
  });

  it('list their jobs and their ledger newest first, page by page', async () => {
    await start();
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.push((await create(simulator)).json.id);
    for (const [path, name] of [
      ['/v1/jobs', 'jobs'],
      ['/v1/usage', 'usage'],
    ]) {
      const seen: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page = await ask(simulator, 'GET', `${path}?limit=2${cursor && `&cursor=${cursor}`}`);
        const items = page.json.data[name as string] as { id: string; job_id?: string }[];
        expect(items.length).toBeLessThanOrEqual(2);
        seen.push(...items.map((item) => item.job_id ?? item.id));
        cursor = page.json.data.next_cursor;
      }
      expect(seen).toEqual(ids.toReversed());
    }
    await ask(simulator, 'POST', `/v1/jobs/${ids[0]}/cancel`);
    const canceled = await ask(simulator, 'GET', '/v1/jobs?status=canceled');
    expect(canceled.json.data.jobs.map((job: { id: string }) => job.id)).toEqual([ids[0]]);
  });
});
