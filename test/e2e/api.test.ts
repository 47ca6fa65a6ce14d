import { describe, expect, it } from 'vitest';
import { useStartFolder } from '../support/start-folder.ts';
import { until } from '../support/start-process.ts';

/* The API as a caller meets it: through the emulated gateway and the real authorizer, down to a clip that completes. */

const folder = useStartFolder();

interface Answer {
  status: number;
  type: string | null;
  body: Record<string, unknown>;
}

async function startApi() {
  const run = folder.start(['--no-demo', '--time-scale', '60']);
  await run.said('state=completed');
  folder.processesOf(run);
  const text = run.stdout() + run.stderr();
  const [, url = '', token = ''] = /^ {2}export API=(\S+) TOKEN=(\S+)$/m.exec(text) ?? [];
  return { url, token };
}

async function call(url: string, init: RequestInit = {}): Promise<Answer> {
  const reply = await fetch(url, init);
  return {
    status: reply.status,
    type: reply.headers.get('content-type'),
    body: (await reply.json()) as Answer['body'],
  };
}

const clip = { input: { model: 'seedance-2-mini', prompt: 'a kite over dunes', duration: 5, resolution: '720p' } };

describe('the API behind the gateway', () => {
  it('T105 T131 lets nobody in without a token, and takes a clip from its submit to its result', async () => {
    const { url, token } = await startApi();
    const problem = {
      status: 401,
      type: 'application/problem+json',
      body: { code: 'token_invalid', field: 'Authorization' },
    };
    for (const authorization of [
      undefined,
      '',
      'Bearer',
      `Bearer ${token}x`,
      `Basic ${token}`,
      `Bearer ${'é'.repeat(9)}`,
    ]) {
      const headers =
        authorization === undefined ? {} : { authorization: Buffer.from(authorization).toString('latin1') };
      expect(await call(`${url}/v1/jobs`, { headers })).toMatchObject(problem);
    }
    for (const name of ['authorization', 'Authorization', 'AUTHORIZATION']) {
      expect(await call(`${url}/v1/jobs`, { headers: { [name]: `Bearer ${token}` } })).toMatchObject({ status: 200 });
    }

    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'kite-1' };
    const submit = () => call(`${url}/v1/jobs`, { method: 'POST', headers, body: JSON.stringify(clip) });
    const first = await submit();
    expect(first).toMatchObject({ status: 202, body: { state: 'waiting' } });
    const id = String(first.body.id);
    const read = () => call(`${url}/v1/jobs/${id}`, { headers });
    let last: Answer | undefined;
    await until(
      async () => {
        last = await read();
        return last.body.state === 'completed';
      },
      'the clip completed',
      60_000,
    );
    expect(last?.body).toMatchObject({ error: null, usage: { status: 'captured', captured_usd_micros: 945_000 } });
    expect(JSON.stringify(last?.body.result)).toContain('.mp4');
    expect((await submit()).body.id).toBe(id);
    const list = await call(`${url}/v1/jobs?state=completed`, { headers });
    expect(list.body).toMatchObject({ jobs: [{ id }], next_cursor: null });
  });

  it('T13 T72 answers every odd path and body with a 4xx, none with a 5xx', async () => {
    const { url, token } = await startApi();
    const headers = { authorization: `Bearer ${token}` };
    for (const id of ['%2e%2e', 'a%2Fb%3Fx', 'x'.repeat(1_024), '%00', '%F0%9F%8E%AC', '%zz', 'job_unknown']) {
      const { status } = await call(`${url}/v1/jobs/${id}`, { headers });
      expect(status, id).toBeGreaterThanOrEqual(400);
      expect(status, id).toBeLessThan(500);
    }
    const deep = `{"input":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
    const large = JSON.stringify({ input: { ...clip.input, prompt: 'x'.repeat(5_000_000) } });
    for (const body of ['{', '[]', 'null', '"x"', deep, large]) {
      const answer = await call(`${url}/v1/jobs`, {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': 'odd' },
        body,
      });
      expect(answer).toMatchObject({ status: body === large ? 413 : 400, type: 'application/problem+json' });
    }
    const twice = new Headers(headers);
    for (const key of ['a', 'b']) twice.append('idempotency-key', key);
    expect(await call(`${url}/v1/jobs`, { method: 'POST', headers: twice, body: JSON.stringify(clip) })).toMatchObject({
      status: 400,
      body: { field: 'Idempotency-Key' },
    });
    expect((await call(`${url}/v1/jobs`, { headers })).body).toMatchObject({ jobs: [] });
  });
});
