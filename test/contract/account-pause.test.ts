import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, test } from 'vitest';
import type { AccountView } from '../../lib/account-view.ts';
import { DynamoAccountPauses } from '../../lib/job-store/dynamo-account-pauses.ts';
import { shardCount } from '../../lib/job-store/job-item.ts';
import { type SweepPorts, sweep } from '../../lib/sweep.ts';
import { useAccountApi } from '../support/account-api.ts';
import { dynamoClient, testNowMs as nowMs, startLossyProxy } from '../support/dynamo.ts';
import { noEvents } from '../support/no-events.ts';

/* A pause is in the record before it is in Redis, and outlives Redis: over HTTP, on real parts. */

const api = useAccountApi();
const iso = (ms: number) => new Date(ms).toISOString();
const post = (act: string, account = 'studio', owner = 'acme') =>
  api.call('POST', `/v1/accounts/${account}/${act}`, owner);

async function stateOf(account = 'studio', owner = 'acme') {
  const { state, since } = (await api.call('GET', `/v1/accounts/${account}`, owner)).body;
  return [state, since];
}

async function itemOf(account = 'studio') {
  const command = new GetItemCommand({ TableName: api.table, Key: { id: { S: `account_${account}` } } });
  return (await api.dynamo.client.send(command)).Item;
}

function sweepOnce(given: Partial<SweepPorts> = {}) {
  const ports = { ...api.ports, ...noEvents, random: () => 0, ...given };
  return sweep(ports, { shardCount, pageMs: 1_000, periodMs: 300_000 }, () => 60_000);
}

/** What the next tick of a drain hands out. */
async function nextTick() {
  const { claimed } = await api
    .dueSet('studio')
    .exchange({ settlements: [], claimMax: 9, admitMax: 9, windowMs: 60_000, role: 'first', inHand: 0 });
  return claimed.map(({ id }) => id);
}

const events = () => api.logged.map(({ event, fields }) => [event, fields?.account, fields?.paused]);

/** The real view, but before its nth write to the due set something else comes to its end. */
function viewThatWaits(nth: number, forWhat: () => Promise<unknown>): AccountView {
  const { view } = api.ports;
  let writes = 0;
  return {
    overview: (account) => view.overview(account),
    look: (account, jobId) => view.look(account, jobId),
    async setPaused(account, pause) {
      if (++writes === nth) await forWhat();
      return view.setPaused(account, pause);
    },
  };
}

describe('a Redis that was wiped', () => {
  it('knows of a pause again after one sweep, before any job is back: nothing is claimed, nothing admitted', async () => {
    const sent = await api.job('sent', { state: 'queued', providerJobId: 'job_1' });
    const unsent = await api.job('unsent', { state: 'waiting' });
    await post('pause');
    await api.upstash.direct('FLUSHALL');
    api.clock.ms += 200_000;
    const seen: unknown[] = [];
    const queue = api.ports.queues.get('studio');
    if (queue === undefined) throw new Error('There is no such queue.');
    // The first that the sweep does to the sets, and the first that could wake a drain.
    const tidy = async () => {
      seen.push(await stateOf());
      return queue.dueSet.tidy();
    };
    const dueSet = Object.assign(api.dueSet('studio'), { tidy });
    const report = await sweepOnce({ queues: new Map([...api.ports.queues, ['studio', { ...queue, dueSet }]]) });
    expect(report).toMatchObject({ complete: true, active: 2, restored: 2 });
    expect(seen).toEqual([['paused', iso(nowMs)]]);
    expect(events()).toContainEqual(['pause_restored', 'studio', 'all']);
    api.clock.ms += 60_000;
    expect(await nextTick()).toEqual([]);
    expect(await stateOf()).toEqual(['paused', iso(nowMs)]);

    await post('drain');
    expect(await nextTick()).toEqual([sent.id]);
    await api.upstash.direct('FLUSHALL');
    await sweepOnce();
    api.clock.ms += 60_000;
    expect(await nextTick()).toEqual([sent.id]);
    await post('resume');
    expect(await nextTick()).toEqual([unsent.id]);
  });

  it('is paused for nobody who was resumed, or never paused', async () => {
    await post('pause');
    await post('resume');
    await api.upstash.direct('FLUSHALL');
    await sweepOnce();
    expect([await stateOf(), await stateOf('open')]).toEqual([
      ['active', null],
      ['active', null],
    ]);
    expect(await itemOf('open')).toBeUndefined();
    expect(events().map(([event]) => event)).not.toContain('pause_restored');
  });
});

describe('the record', () => {
  it('has the pause in an item that no index lists and that does not expire; resuming takes it out', async () => {
    await post('pause');
    expect(await itemOf()).toEqual({
      id: { S: 'account_studio' },
      paused: { S: 'all' },
      since_ms: { N: String(nowMs) },
    });
    api.clock.ms += 1_000;
    expect((await post('pause')).body.since).toBe(iso(nowMs));
    expect((await post('drain')).body).toMatchObject({ state: 'draining', since: iso(nowMs + 1_000) });
    expect(await api.ports.pauses.read('studio')).toEqual({ paused: 'creates', sinceMs: nowMs + 1_000 });
    await post('resume');
    const resumed = { id: { S: 'account_studio' }, since_ms: { N: String(nowMs + 1_000) } };
    expect(await itemOf()).toEqual(resumed);
    api.clock.ms += 1_000;
    await post('resume');
    expect(await itemOf()).toEqual(resumed);
    expect(await stateOf()).toEqual(['active', null]);
  });

  it('is left alone by those who may not pause', async () => {
    expect([(await post('pause', 'studio', 'globex')).status, (await post('pause', 'own')).status]).toEqual([403, 404]);
    expect([await itemOf(), await itemOf('own')]).toEqual([undefined, undefined]);
  });

  it.each(['pause', 'drain', 'resume'])('out of reach makes %s a 503 that leaves Redis as it was', async (act) => {
    if (act === 'resume') await post('pause');
    const before = await api.upstash.direct('HGETALL', 'pk:{test}:account:studio');
    api.ports = { ...api.ports, pauses: new DynamoAccountPauses(dynamoClient('http://127.0.0.1:9', 1), api.table) };
    const { status, body } = await post(act);
    expect([status, body.code]).toEqual([503, 'record_unavailable']);
    expect(await api.upstash.direct('HGETALL', 'pk:{test}:account:studio')).toEqual(before);
    expect(api.woken).toEqual([]);
  });

  it('whose answers are lost has taken the change once, and the first of its times', async () => {
    const proxy = await startLossyProxy(api.dynamo.url);
    const client = dynamoClient(proxy.url);
    const pauses = new DynamoAccountPauses(client, api.table);
    for (const paused of ['all', 'creates', null] as const) {
      proxy.loseReplies(1);
      expect(await pauses.write('studio', paused, ++api.clock.ms)).toEqual({ paused, sinceMs: api.clock.ms });
    }
    expect(proxy.lost()).toBe(3);
    client.destroy();
    await proxy.close();
  });

  it.each([
    ['paused', { paused: { S: 'for lunch' }, since_ms: { N: '1' } }],
    ['paused', { paused: { N: '1' }, since_ms: { N: '1' } }],
    ['since_ms', { paused: { S: 'all' } }],
    ['since_ms', { paused: { S: 'all' }, since_ms: { N: '-1' } }],
  ])(
    'that can’t be read (%s) leaves that account as it is, and the sweep goes on with the others',
    async (field, broken) => {
      await post('pause', 'own', 'globex');
      const item = { id: { S: 'account_studio' }, ...broken };
      await api.dynamo.client.send(new PutItemCommand({ TableName: api.table, Item: item }));
      await api.job('unsent', { state: 'waiting' });
      await api.upstash.direct('FLUSHALL');
      expect(await sweepOnce()).toMatchObject({ complete: true, restored: 1 });
      expect(await stateOf('own', 'globex')).toEqual(['paused', iso(nowMs)]);
      expect(api.logged).toContainEqual({
        event: 'pause_not_restored',
        fields: {
          account: 'studio',
          error: `JobStoreError: The item account_studio can't be read: its ${field} is none that we write.`,
        },
      });
      // Saying it anew sets it right.
      await post('resume');
      expect((await post('pause')).body.state).toBe('paused');
    },
  );
});

describe('without Redis', () => {
  it.each([
    ['pause', 'paused'],
    ['drain', 'draining'],
  ])('%s is a 503, and stands all the same from the next sweep on', async (act, state) => {
    await api.upstash.setFaults({ failWith: { status: 500, body: { error: 'ERR away' } } });
    const { status, body } = await post(act);
    expect([status, body.code]).toEqual([503, 'due_set_unavailable']);
    expect(await sweepOnce()).toMatchObject({ complete: false });
    await api.upstash.setFaults({});
    api.clock.ms += 60_000;
    expect(await stateOf()).toEqual(['active', null]);
    expect(await sweepOnce()).toMatchObject({ complete: true });
    expect(await stateOf()).toEqual([state, iso(nowMs)]);
    expect(api.woken).toEqual([]);
  });

  it('a resume is one too, and the next sweep carries it out whole, and wakes a drain', async () => {
    await post('pause');
    await api.state('studio', { breaker: `open ${nowMs + 20_000} 0.5 3` });
    await api.upstash.setFaults({ failWith: { status: 500, body: { error: 'ERR away' } } });
    expect((await post('resume')).status).toBe(503);
    await api.upstash.setFaults({});
    expect((await stateOf())[0]).toBe('paused');
    await sweepOnce();
    expect(await stateOf()).toEqual(['active', null]);
    expect(api.woken).toEqual(['studio']);
    expect(events()).toContainEqual(['pause_restored', 'studio', null]);
  });
});

describe('two changes that overtake one another', () => {
  const both = async () => [(await stateOf())[0], (await api.ports.pauses.read('studio'))?.paused];

  test('a sweep that read a pause just before it was ended, and writes it just after, takes that back', async () => {
    await post('pause');
    await api.upstash.direct('FLUSHALL');
    await sweepOnce({ view: viewThatWaits(1, () => post('resume')) });
    expect(await both()).toEqual(['active', null]);
  });

  test('a sweep that read a resume just before a pause, and writes it just after, takes that back', async () => {
    await post('resume');
    await api.state('studio', { paused: `all ${nowMs - 1}` });
    await sweepOnce({ view: viewThatWaits(1, () => post('drain')) });
    expect(await both()).toEqual(['draining', 'creates']);
  });

  test('a pause whose write to Redis comes after that of a later resume stays ended', async () => {
    const given = api.ports;
    const waits = viewThatWaits(1, () => {
      api.ports = given;
      return post('resume');
    });
    api.ports = { ...given, view: waits };
    expect((await post('pause')).body.state).toBe('active');
    expect(await both()).toEqual(['active', null]);
  });

  test('a sweep reads the record again after the set: a pause that came in between is not undone for a moment', async () => {
    await post('resume');
    const written: unknown[] = [];
    const { view } = api.ports;
    await sweepOnce({
      view: {
        overview: async (account) => {
          if (account === 'studio') await post('pause');
          return view.overview(account);
        },
        async setPaused(account, pause) {
          written.push(pause);
          return view.setPaused(account, pause);
        },
      },
    });
    expect(written).toEqual([]);
    expect(await both()).toEqual(['paused', 'all']);
  });
});

test('what Redis says of an account that the record does not know, as of one paused by an older release, is left alone', async () => {
  await api.state('studio', { paused: `all ${nowMs - 1_000}` });
  await sweepOnce();
  expect(await stateOf()).toEqual(['paused', iso(nowMs - 1_000)]);
  await post('resume');
  await sweepOnce();
  expect(await stateOf()).toEqual(['active', null]);
});
