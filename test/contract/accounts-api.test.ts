import { describe, expect, it, test } from 'vitest';
import { useAccountApi } from '../support/account-api.ts';
import { testNowMs as nowMs } from '../support/dynamo.ts';

/* Accounts over HTTP, on a real Redis that holds what the scripts would have written. */

const api = useAccountApi();
const iso = (ms: number) => new Date(ms).toISOString();
const hourMs = 3_600_000;
const newest = Math.floor(nowMs / 2_000);
const hour = Math.floor(nowMs / hourMs);

describe('accounts', () => {
  it('are listed for those who may use or run them', async () => {
    const ids = async (owner: string) =>
      (await api.call('GET', '/v1/accounts', owner)).body.accounts.map(({ id }: { id: string }) => id);
    expect([await ids('acme'), await ids('globex'), await ids('other')]).toEqual([
      ['studio', 'open'],
      ['studio', 'own', 'open'],
      ['open'],
    ]);
  });

  it('that are quiet have all that they may have', async () => {
    const { status, body } = await api.call('GET', '/v1/accounts/studio');
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ id: 'studio', state: 'active', since: null, until: null, creates_hold: null },
      slots: { max: 24, effective: 24, used: 0, waiting: 0 },
      reads: {
        per_minute: { limit: 120, used: 0, left: 120 },
        per_day: { limit: 10_000, used: 0, left: 10_000, gone_at: null },
        provider_says: null,
      },
      creates: {
        per_minute: { limit: 10, used: 0, left: 10 },
        per_day: { limit: 300, used: 0, left: 300, gone_at: null },
        provider_says: null,
      },
      links: { self: '/v1/accounts/studio', list: '/v1/accounts' },
    });
    const open = (await api.call('GET', '/v1/accounts/open')).body;
    expect(open.slots).toEqual({ max: null, effective: null, used: 0, waiting: 0 });
    expect(open.reads.per_day).toEqual({ limit: null, used: 0, left: null, gone_at: null });
  });

  it('show what is in use, what is left, and when the day’s will be gone', async () => {
    await api.put('due', 'studio', nowMs + 5_000, 'a', 'b');
    await api.put('due', 'studio', nowMs + 1_900_000, 'read-in-an-hour');
    await api.put('waiting', 'studio', 1, 'c', 'd', 'e');
    await api.state('studio', {
      slots: `9 ${nowMs} 9`,
      reads: `${newest} ${nowMs} 3 4|${hour} ${nowMs} 0 1000`,
      told: `5 ${nowMs + 30_000} - -`,
      creates_hold: `no_slot ${nowMs + 8_000} 10000 0`,
    });
    const { body } = await api.call('GET', '/v1/accounts/studio');
    expect(body).toMatchObject({
      state: 'active',
      creates_hold: { reason: 'no_slot', since: iso(nowMs - 2_000), until: iso(nowMs + 8_000) },
      slots: { max: 24, effective: 9, used: 2, waiting: 3 },
      reads: {
        per_minute: { used: 7, left: 113 },
        // 1,000 an hour, by what had passed of this one.
        per_day: { used: 1_000, left: 9_000 },
        provider_says: { left: 5, until: iso(nowMs + 30_000) },
      },
    });
    const goneInHours = (Date.parse(body.reads.per_day.gone_at) - nowMs) / hourMs;
    expect(goneInHours).toBeGreaterThan(8.9);
    expect(goneInHours).toBeLessThan(18);
  });

  it('that do not exist or are another’s are the same 404', async () => {
    for (const [method, act] of [
      ['GET', ''],
      ['POST', '/pause'],
      ['POST', '/drain'],
      ['POST', '/resume'],
    ]) {
      const foreign = await api.call(String(method), `/v1/accounts/own${act}`);
      const unknown = await api.call(String(method), `/v1/accounts/nothing${act}`);
      expect([foreign.status, foreign.body.code]).toEqual([404, 'no_such_account']);
      expect(foreign.body).toEqual(unknown.body);
    }
    expect(await api.upstash.direct('KEYS', '*')).toEqual([]);
  });

  it('answer a method that is not there with those that are, and nobody without a token', async () => {
    for (const [method, path, allow] of [
      ['POST', '/v1/accounts', 'GET'],
      ['DELETE', '/v1/accounts/studio', 'GET'],
      ['GET', '/v1/accounts/studio/pause', 'POST'],
      ['POST', '/v1/stats', 'GET'],
    ] as const) {
      const { status, headers } = await api.call(method, path);
      expect([status, headers.get('allow')]).toEqual([405, allow]);
      expect((await api.call(method, path, null)).status).toBe(401);
    }
  });
});

describe('stopping an account', () => {
  it('lasts until it is resumed, and that wakes a drain and ends what holds it back', async () => {
    await api.state('studio', {
      breaker: `open ${nowMs + 20_000} 0.5 3`,
      creates_hold: `no_credit ${nowMs + 9e3} 1 0`,
    });
    const paused = await api.call('POST', '/v1/accounts/studio/pause');
    expect(paused).toMatchObject({ status: 200, body: { id: 'studio', state: 'paused', since: iso(nowMs) } });
    api.clock.ms += 60_000;
    expect((await api.call('GET', '/v1/accounts/studio')).body).toMatchObject({ state: 'paused', since: iso(nowMs) });
    expect((await api.call('GET', '/v1/accounts/open')).body.state).toBe('active');
    expect(api.woken).toEqual([]);

    const resumed = await api.call('POST', '/v1/accounts/studio/resume', 'acme', '{ }');
    expect(resumed).toMatchObject({ status: 200, body: { state: 'active', since: null, creates_hold: null } });
    expect((await api.call('GET', '/v1/accounts/studio')).body).toEqual(resumed.body);
    expect(api.woken).toEqual(['studio']);
    const operated = api.logged.filter(({ event }) => event === 'account_operated');
    expect(operated.map(({ fields }) => fields)).toEqual([
      { account: 'studio', act: 'pause', owner: 'acme' },
      { account: 'studio', act: 'resume', owner: 'acme' },
    ]);
  });

  it('may leave it the reads of what is at the provider; saying it again changes nothing', async () => {
    expect((await api.call('POST', '/v1/accounts/studio/drain')).body).toMatchObject({ state: 'draining' });
    api.clock.ms += 1_000;
    expect((await api.call('POST', '/v1/accounts/studio/drain')).body.since).toBe(iso(nowMs));
    expect((await api.call('POST', '/v1/accounts/studio/pause')).body).toMatchObject({
      state: 'paused',
      since: iso(nowMs + 1_000),
    });
  });

  it('is for its operators, else for those who may use it', async () => {
    const refused = await api.call('POST', '/v1/accounts/studio/pause', 'globex');
    expect([refused.status, refused.body.code]).toEqual([403, 'not_operator']);
    expect((await api.call('GET', '/v1/accounts/studio', 'globex')).body.state).toBe('active');
    expect((await api.call('POST', '/v1/accounts/own/pause', 'globex')).status).toBe(200);
    expect((await api.call('POST', '/v1/accounts/open/pause', 'anybody')).status).toBe(200);
  });

  it.each(['{"until":"noon"}', 'x', '[]', '{}{}', ' '.repeat(2_000)])('takes no body such as %s', async (body) => {
    const refused = await api.call('POST', '/v1/accounts/studio/pause', 'acme', body);
    expect([refused.status, refused.body.code, refused.body.field]).toEqual([400, 'body_invalid', 'body']);
    expect((await api.call('GET', '/v1/accounts/studio')).body.state).toBe('active');
  });

  it('is kept to by the very next tick of a drain', async () => {
    const drain = api.dueSet('studio');
    const tick = () =>
      drain.exchange({ settlements: [], claimMax: 9, admitMax: 9, windowMs: 60_000, role: 'first', inHand: 0 });
    await drain.schedule([{ id: 'sent', delayMs: 0 }]);
    await drain.enqueue([{ id: 'new', owner: 'acme', priority: 5, expiresInMs: hourMs }]);
    const claimed = async () => (await tick()).claimed.map(({ id }) => id);
    await api.call('POST', '/v1/accounts/studio/pause');
    expect(await claimed()).toEqual([]);
    await api.call('POST', '/v1/accounts/studio/drain');
    expect(await claimed()).toEqual(['sent']);
    await api.call('POST', '/v1/accounts/studio/resume');
    expect(await claimed()).toEqual(['new']);
  });
});

test('what a drain writes is what is shown: slots and budgets in use', async () => {
  const drain = api.dueSet('studio');
  await drain.schedule([{ id: 'sent', delayMs: 0 }]);
  await drain.enqueue(
    Array.from({ length: 9 }, (_, i) => ({ id: `new-${i}`, owner: 'acme', priority: 5, expiresInMs: hourMs })),
  );
  await drain.exchange({
    ...{ settlements: [], claimMax: 9, admitMax: 4, windowMs: 60_000, role: 'first', inHand: 0 },
    told: { reads: { left: 77, forMs: 30_000 } },
  });
  expect((await api.call('GET', '/v1/accounts/studio')).body).toMatchObject({
    slots: { used: 5, waiting: 5 },
    reads: { per_minute: { used: 1 }, per_day: { used: 1 }, provider_says: { until: iso(nowMs + 30_000) } },
    creates: { per_minute: { used: 4, left: 6 }, per_day: { used: 4 } },
  });
});

describe('stats', () => {
  it('show the lag, the faults and the costs of the accounts that the caller sees', async () => {
    await api.put('due', 'studio', nowMs - 4_000, 'late');
    await api.put('due', 'studio', nowMs + 9_000 + 1 / 16, 'in-hand');
    await api.state('studio', { breaker: `denied ${nowMs + 5_000} 1 1` });
    await api.state('own', { breaker: `open ${nowMs + 5_000} 1 1` });
    const entry = { day: iso(nowMs).slice(0, 10), account: 'studio', jobs: 1, estimatedMicros: 7, billedMicros: 5 };
    await api.ports.ledger.add([
      { ...entry, owner: 'acme' },
      { ...entry, owner: 'globex' },
    ]);
    const { status, body } = await api.call('GET', '/v1/stats');
    expect(status).toBe(200);
    expect(body.accounts.map((account: { due_lag_ms: number }) => account.due_lag_ms)).toEqual([4_000, 0]);
    expect(body.accounts[0]).toMatchObject({ id: 'studio', state: 'denied', until: iso(nowMs + 5_000) });
    expect(body.faults).toEqual([{ account: 'studio', code: 'denied', since: null }]);
    const own = { day: entry.day, account: 'studio', jobs: 1, estimated_usd_micros: 7, billed_usd_micros: 5 };
    expect(body.costs.own).toEqual([own]);
    expect(body.costs.accounts).toEqual([{ ...own, jobs: 2, estimated_usd_micros: 14, billed_usd_micros: 10 }]);
    // Globex does not run the studio: it sees what it spent there, not what others did.
    expect((await api.call('GET', '/v1/stats', 'globex')).body.costs).toEqual({ own: [own], accounts: [] });
  });
});

describe('health', () => {
  const health = async (app: ReturnType<typeof api.app>) => {
    const reply = await app.request('/health');
    return [reply.status, await reply.json()];
  };

  it('names accounts and codes, to everybody', async () => {
    const app = api.app();
    expect(await health(app)).toEqual([200, { status: 'up', stage: 'test', faults: [] }]);
    await api.state('own', {
      creates_hold: `no_credit ${nowMs + hourMs} 1000 0`,
      breaker: `held ${nowMs + hourMs} 1 0`,
    });
    await api.state('open', { paused: `all ${nowMs}` });
    api.clock.ms += 5_000;
    const faults = [
      { account: 'own', code: 'held' },
      { account: 'own', code: 'no_credit' },
    ];
    expect(await health(app)).toEqual([200, { status: 'degraded', stage: 'test', faults }]);
  });

  it('T111 is a 503 that names an account whose key is refused, and one whose jobs nobody has worked for ten minutes', async () => {
    await api.state('own', { breaker: `denied ${nowMs + hourMs} 1 0` });
    await api.put('due', 'open', nowMs - 600_000, 'long-due');
    const faults = [
      { account: 'own', code: 'denied' },
      { account: 'open', code: 'not_drained' },
    ];
    expect(await health(api.app())).toEqual([503, { status: 'down', stage: 'test', faults }]);
  });

  it('T111 is a 503 that says so when the due set is out of reach, and nothing of why', async () => {
    await api.upstash.setFaults({ failWith: { status: 500, body: { error: 'ERR away' } } });
    const faults = [{ code: 'due_set_unreachable' }];
    expect(await health(api.app())).toEqual([503, { status: 'down', stage: 'test', faults }]);
  });
});

test('without Redis accounts and stats are a 503, and its token is in no answer and no log', async () => {
  api.ports = { ...api.ports, view: api.viewAt(api.upstash.url, 'a-wrong-secret') };
  for (const [method, path] of [
    ['GET', '/v1/accounts'],
    ['GET', '/v1/stats'],
    ['POST', '/v1/accounts/studio/pause'],
    ['POST', '/v1/accounts/studio/resume'],
  ] as const) {
    const { status, body } = await api.call(method, path);
    expect([status, body.code]).toEqual([503, 'due_set_unavailable']);
    expect(JSON.stringify([body, api.logged])).not.toMatch(/a-wrong-secret|hgetall|pk:/i);
  }
  expect(api.woken).toEqual([]);
});
