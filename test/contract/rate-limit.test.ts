import { beforeEach, describe, expect, it } from 'vitest';
import { connectUpstash } from '../../lib/due-set/upstash-due-set.ts';
import { UpstashRequestCounts } from '../../lib/due-set/upstash-request-counts.ts';
import { RequestLimit } from '../../lib/request-limit.ts';
import { useAccountApi } from '../support/account-api.ts';

/* How often an owner may call, over HTTP, with the count on a real Redis. */

const api = useAccountApi();
const path = '/v1/no-such-thing';

/** A process that lets an owner call so often in a minute, with the timeout of the deployed one. */
function useLimit(perMinute: number, url = api.upstash.url): void {
  const { token } = api.upstash;
  const redis = connectUpstash({ url, token, timeoutMs: 250 });
  const counts = new UpstashRequestCounts(redis, { stage: 'test', token });
  const { clock, log } = api.ports;
  const app = { requestLimit: new RequestLimit(perMinute, { counts, clock, log }) };
  api.ports = { ...api.ports, ...app };
}

const statuses = async (n: number, owner = 'acme') => {
  const seen: number[] = [];
  for (let i = 0; i < n; i++) seen.push((await api.call('GET', path, owner)).status);
  return seen;
};

beforeEach(() => useLimit(3));

describe('an owner’s requests', () => {
  it('beyond the limit are a 429 that says when to come back; health and strangers are not counted', async () => {
    const before = (await api.upstash.direct('DBSIZE')) as number;
    for (let i = 0; i < 10; i++) {
      expect((await api.call('GET', '/health', null)).status).toBe(200);
      expect((await api.call('GET', path, null)).status).toBe(401);
    }
    expect(await api.upstash.direct('DBSIZE')).toBe(before);
    const first = await api.call('GET', path);
    const seconds = 60 - (Math.floor(api.clock.ms / 1_000) % 60);
    expect([first.status, first.headers.get('ratelimit-policy'), first.headers.get('ratelimit')]).toEqual([
      404,
      '"default";q=3;w=60',
      `"default";r=2;t=${seconds}`,
    ]);
    expect(await statuses(2)).toEqual([404, 404]);
    const refused = await api.call('POST', path);
    expect(refused.body).toMatchObject({ status: 429, code: 'rate_limited', title: 'Too many requests' });
    expect(refused.body.request_id).toBe(refused.headers.get('x-request-id'));
    expect(refused.headers.get('retry-after')).toBe(String(seconds));
    expect(refused.headers.get('ratelimit')).toBe(`"default";r=0;t=${seconds}`);
    // Another process knows of it, another owner is not touched.
    useLimit(3);
    expect([await statuses(1), await statuses(1, 'globex')]).toEqual([[429], [404]]);
    api.clock.ms += 60_000;
    expect(await statuses(1)).toEqual([404]);
  });

  it('are counted under one key a minute, which expires, with two commands for twenty of them', async () => {
    useLimit(6_000);
    const { counts } = api.upstash.rest;
    const before = counts();
    expect(await statuses(20)).toEqual(Array(20).fill(404));
    const after = counts();
    const asked = [after.httpRequests - before.httpRequests, after.commands - before.commands];
    expect(asked).toEqual([1, 2]);
    const key = `pk:{test}:requests:acme:${Math.floor(api.clock.ms / 60_000)}`;
    expect(String(await api.upstash.direct('GET', key))).toBe('20');
    expect(await api.upstash.direct('PTTL', key)).toBeGreaterThan(60_000);
  });

  it('T108 are held for a quarter of a second once, and then counted alone, when Redis is slow, down or talks nonsense', async () => {
    const fail = { failWith: { status: 200, body: [{ result: 'many' }, { result: 1 }] } };
    for (const faults of [{ hang: 9 }, { delayMs: 2_000 }, { failWith: { status: 500, body: {} } }, fail]) {
      await api.upstash.setFaults(faults);
      useLimit(3);
      const from = performance.now();
      expect(await statuses(4)).toEqual([404, 404, 404, 429]);
      expect(performance.now() - from).toBeLessThan(1_000);
    }
    await api.upstash.setFaults({});
    useLimit(3, 'http://127.0.0.1:9');
    expect(await statuses(4)).toEqual([404, 404, 404, 429]);
    const said = api.logged.filter(({ event }) => event === 'request_limit_alone');
    expect(said).toHaveLength(5);
    expect(JSON.stringify(said)).not.toContain(api.upstash.token);
  });
});
