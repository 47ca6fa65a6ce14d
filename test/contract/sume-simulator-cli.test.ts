import { get } from 'node:https';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunningSumeSimulator, startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { CLIP, create } from '../support/sume-requests.ts';

/**
 * What Sume's public command line (github.com/sumelabs/cli) sends and looks for in the answers, in our own words: `x-api-key`,
 * paths appended to a base address that ends in /v1 or not, and these fields of these bodies.
 */
let simulator: RunningSumeSimulator;
beforeEach(async () => {
  simulator = await startSumeSimulator({ renderSeconds: 60, mediaHttps: true });
});
afterEach(() => simulator.close());

const KEY = 'key-of-tests';

// biome-ignore lint/suspicious/noExplicitAny: the answers are looked into freely, as that client does
type Looked = any;

async function call(
  base: string,
  path: string,
  body?: unknown,
  idempotencyKey?: string,
): Promise<{ ok: boolean; body: Looked }> {
  const response = await fetch(base + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      'user-agent': 'sume-cli/0.1.0',
      'x-sume-client': 'cli',
      'x-api-key': KEY,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { ok: response.ok, body: JSON.parse(await response.text()) };
}

/** `jobs watch` stops at these words, looked for at the top level first, then in `data`. */
function watchEnd(body: Looked): 'completed' | 'failed' | undefined {
  const word = String(body.status ?? body.data?.status ?? body.data?.job?.status).toLowerCase();
  if (['complete', 'completed', 'success', 'succeeded'].includes(word)) return 'completed';
  return ['canceled', 'cancelled', 'error', 'errored', 'failed'].includes(word) ? 'failed' : undefined;
}

async function finish(id: string): Promise<void> {
  const url = `${simulator.url}/__control/jobs/${id}`;
  await fetch(url, { method: 'POST', body: JSON.stringify({ state: 'completed' }) });
}

describe.each(['/v1', ''])("Sume's command line on the simulator, with a base address ending in %j", (suffix) => {
  const base = () => simulator.url + suffix;

  it('shows health: of the service without /v1, of the API with it', async () => {
    for (const path of [`${simulator.url}/health`, `${simulator.url}/v1/health`]) {
      expect((await call(path, '')).body).toMatchObject({
        status: 'ok',
        service: expect.any(String),
        build: { commit_sha: expect.any(String) },
      });
    }
  });

  it('shows me, balance and usage', async () => {
    await create(simulator, 'a', CLIP, KEY);
    expect((await call(base(), '/me')).body.data.account.workspace_id).toMatch(/^ws_/);
    expect((await call(base(), '/balance')).body.data.available_balance_usd_micros).toBe(10_000_000_000 - 1_512_000);
    const usage = (await call(base(), '/usage?limit=20')).body.data;
    expect(usage).toMatchObject({
      usage: [{ id: expect.any(String), amount_usd_micros: 1_512_000 }],
      next_cursor: null,
    });
  });

  it('lists, shows and watches a job to its end', async () => {
    const { id } = (await create(simulator, 'a', CLIP, KEY)).json;
    expect((await call(base(), '/jobs?limit=20')).body.data.jobs).toMatchObject([{ id, type: 'video_generation' }]);
    const shown = (await call(base(), `/jobs/${id}`)).body.data;
    expect(shown).toMatchObject({
      job_id: id,
      sume_status: 'processing',
      result_ready: false,
      next_action: 'poll_status',
    });
    expect(shown.usage).toMatchObject({ status: 'reserved', currency: 'USD', billable_amount_usd_micros: 1_512_000 });
    const running = (await call(base(), `/jobs/${id}/status`)).body;
    expect(running.data.job).toEqual({ id, type: 'video_generation', status: 'processing' });
    expect(watchEnd(running)).toBeUndefined();
    await finish(id);
    const ended = (await call(base(), `/jobs/${id}/status`)).body;
    expect(watchEnd(ended)).toBe('completed');
    expect(watchEnd({ data: ended.data })).toBe('completed');
    expect(ended.data.usage).toMatchObject({ status: 'captured', captured_amount_usd_micros: 1_512_000 });
  });

  it('lists events', async () => {
    const { id } = (await create(simulator, 'a', CLIP, KEY)).json;
    const events = (await call(base(), `/jobs/${id}/events?limit=50`)).body.data;
    expect(events).toMatchObject({ request_id: id, job_id: id });
    expect(events.events[0]).toMatchObject({ type: 'job.created', summary: expect.any(String) });
  });

  it('cancels with an empty object and its own key', async () => {
    const { id } = (await create(simulator, 'a', CLIP, KEY)).json;
    const { body } = await call(base(), `/jobs/${id}/cancel`, {}, 'cancel-1');
    expect(body.data).toMatchObject({ request_id: id, job_id: id, status: 'CANCELED', canceled: true });
    expect(watchEnd((await call(base(), `/jobs/${id}/status`)).body)).toBe('failed');
  });

  it('tells why there is no result yet from the error envelope', async () => {
    const { id } = (await create(simulator, 'a', CLIP, KEY)).json;
    const refused = await call(base(), `/jobs/${id}/result`);
    expect([refused.ok, refused.body]).toMatchObject([
      false,
      {
        request_id: expect.stringMatching(/^req_/),
        error: { code: 'job_not_completed', message: 'Job is not completed.', details: { status: 'processing' } },
      },
    ]);
  });

  it('downloads the clip over https, the only kind of address it takes', async () => {
    const { id } = (await create(simulator, 'a', CLIP, KEY)).json;
    await finish(id);
    const { body } = await call(base(), `/jobs/${id}/result`);
    expect(body.data).toMatchObject({ request_id: id, status: 'COMPLETED', result: expect.any(Object) });
    const addresses = httpsMedia(body);
    expect(addresses).toHaveLength(1);
    const file = await new Promise<Buffer>((resolve, reject) => {
      get(addresses[0] ?? '', { ca: simulator.mediaCertificate }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)));
      }).on('error', reject);
    });
    expect(file.toString('latin1', 4, 8)).toBe('ftyp');
  });
});

/** Every https address under a key named url or ending in _url, status and result addresses left out. */
function httpsMedia(value: Looked): string[] {
  const found = new Set<string>();
  const visit = (part: Looked): void => {
    if (typeof part !== 'object' || part === null) return;
    for (const [key, entry] of Object.entries(part)) {
      const isMedia = (key === 'url' || key.endsWith('_url')) && !['status_url', 'result_url'].includes(key);
      if (typeof entry === 'string' && isMedia && entry.startsWith('https:')) found.add(entry);
      else visit(entry);
    }
  };
  visit(value);
  return [...found];
}
