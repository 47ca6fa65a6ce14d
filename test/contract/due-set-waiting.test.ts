import { describe, expect, test } from 'vitest';
import type { Claim, ExchangeRequest, Settlement } from '../../lib/ports.ts';
import { due, dueSets, remove, start, waiting } from '../support/due-set.ts';

/* The due set's contract: jobs that wait for a slot, in what order they are admitted, and what refusals do to that. */

const second = 1_000;

describe.each(dueSets)('who waits for the due set $name', ({ use }) => {
  const on = use();

  const at = (ms: number) => {
    on.nowMs = start + ms;
  };
  const admit = async (admitMax: number, given: Partial<ExchangeRequest> = {}): Promise<Claim[]> =>
    (await on.exchange({ admitMax, ...given })).claimed.filter(({ rank }) => rank !== undefined);
  const ids = (claims: readonly Claim[]) => claims.map(({ id }) => id);
  const back = ({ id, token, rank = '' }: Claim): Settlement => ({ id, token, to: { kind: 'wait', rank } });
  const gone = ({ id, token }: Claim) => remove(id, token);
  const later = ({ id, token }: Claim) => due(id, token, on.nowMs + 15 * second);

  test('is admitted straight under a lease, as many as are asked for, and wakes a drain', async () => {
    expect(await on.set.enqueue(waiting(5))).toEqual({ added: 5, wake: true });
    expect(await on.set.enqueue(waiting(6))).toEqual({ added: 1, wake: false });
    expect(await admit(0)).toEqual([]);
    const [first, ...others] = await admit(2);
    expect(first).toMatchObject({ id: 'job_w0', dueAtMs: start, claims: 1, token: `${start + 10_000}.0625` });
    expect(ids(others)).toEqual(['job_w1']);
    expect(await on.score('job_w0')).toBe(first?.token);
    expect(await on.set.workload()).toEqual({ jobs: 6, paused: false });
    expect(await on.set.absent(['job_w0', 'job_w4', 'job_x'])).toEqual(['job_w4', 'job_x']);
  });

  test('is not put in line again while it is due, leased or waiting', async () => {
    await on.set.enqueue(waiting(2));
    await admit(1);
    expect((await on.set.enqueue(waiting(2))).added).toBe(0);
    await on.exchange({ settlements: [] });
    await on.set.schedule([{ id: 'job_w9', delayMs: 5_000 }]);
    expect((await on.set.enqueue(waiting(1, 1, { id: 'job_w9' }))).added).toBe(0);
  });

  test('gets a slot only as one comes free, and that in the same exchange', async () => {
    on.limit({ maxInFlight: 3 });
    await on.set.enqueue(waiting(10));
    const first = await admit(10);
    expect(first).toHaveLength(3);
    expect(await admit(10)).toEqual([]);
    const settlements = first.map((claim, i) => (i === 0 ? gone(claim) : later(claim)));
    expect(ids(await admit(10, { settlements }))).toEqual(['job_w3']);
    // Jobs that are read once in hours are no longer the provider's business.
    await on.set.schedule([{ id: 'job_overdue', delayMs: 3_600_000 }]);
    at(15 * second);
    expect(await admit(10)).toEqual([]);
  });

  test('T15 the slots of killed drains are as many as their jobs, no more, and come back as those end', async () => {
    on.limit({ maxInFlight: 4 });
    await on.set.enqueue(waiting(12));
    for (let round = 0; round < 5; round++) {
      at(round * 11 * second);
      const { claimed } = await on.exchange({ admitMax: 10 });
      expect(claimed).toHaveLength(4);
    }
    at(55 * second);
    const { claimed } = await on.exchange();
    expect(claimed).toHaveLength(4);
    expect(await admit(10, { settlements: claimed.map(gone) })).toHaveLength(4);
  });

  test('goes by priority, then in turn by owner, then in order of arrival', async () => {
    await on.set.enqueue([
      ...waiting(4, 1, { owner: 'big' }),
      ...waiting(2, 1, { owner: 'small' }).map(({ id, ...rest }) => ({ ...rest, id: `${id}-small` })),
      { id: 'job_late', owner: 'late', priority: 5, expiresInMs: 1_000 },
      { id: 'job_urgent', owner: 'big', priority: 9, expiresInMs: 1_000 },
      { id: 'job_someday', owner: 'other', priority: 0, expiresInMs: 1_000 },
    ]);
    expect(ids(await admit(20))).toEqual([
      ...['job_urgent', 'job_w0', 'job_w0-small', 'job_late', 'job_w1', 'job_w1-small', 'job_w2', 'job_w3'],
      'job_someday',
    ]);
  });

  test('an owner with thousands does not delay another by more than a round, however late the other comes', async () => {
    await on.set.enqueue(waiting(3_000, 1, { owner: 'flood' }));
    const first = await admit(500);
    await on.exchange({ settlements: first.map(gone) });
    await on.set.enqueue([{ id: 'job_single', owner: 'small', priority: 5, expiresInMs: 60_000 }]);
    const next = ids(await admit(4));
    expect(next.indexOf('job_single')).toBeGreaterThanOrEqual(0);
    expect(next.indexOf('job_single')).toBeLessThanOrEqual(1);
  });

  test('keeps its place when the provider did not take it', async () => {
    await on.set.enqueue(waiting(6));
    const first = await admit(3);
    const creates = { kind: 'no_slot', waitMs: 0 } as const;
    expect(await admit(10, { settlements: first.map(back), creates })).toEqual([]);
    at(61 * second);
    const order: string[] = [];
    for (let i = 0; i < 6; i++) {
      at((61 + i) * second);
      const claims = await admit(1);
      order.push(...ids(claims));
      await on.exchange({ settlements: claims.map(later) });
    }
    expect(order).toEqual(waiting(6).map(({ id }) => id));
  });

  test('T48 a wait that the provider told of creates holds all of them, then one probe goes first', async () => {
    await on.set.enqueue(waiting(20));
    const [first] = await admit(1);
    await on.exchange({
      settlements: [back(first as Claim)],
      creates: { kind: 'no_slot', waitMs: 60 * second },
    });
    for (const ms of [1, 30 * second, 59_999]) {
      at(ms);
      expect(await admit(10)).toEqual([]);
    }
    at(60 * second);
    const probe = await admit(10);
    expect(ids(probe)).toEqual(['job_w0']);
    at(61 * second);
    expect(await admit(10, { settlements: probe.map(later) })).toEqual([]);
    await admit(10, { creates: { kind: 'created', waitMs: 0 } });
    at(71 * second);
    expect((await admit(10)).length).toBeGreaterThan(0);
  });

  test('a refusal lowers the limit to what is in flight; it climbs back while nothing is refused', async () => {
    on.limit({ maxInFlight: 24 });
    await on.set.enqueue(waiting(60));
    const taken = await admit(11);
    const refused = taken.slice(8);
    await admit(10, {
      settlements: [...taken.slice(0, 8).map(later), ...refused.map(back)],
      creates: { kind: 'no_slot', waitMs: 0 },
    });
    expect(await admit(10)).toEqual([]);
    const inFlight: number[] = [];
    let working = 8;
    for (let ms = 10 * second; ms <= 160 * second; ms += 10 * second) {
      at(ms);
      const { claimed } = await on.exchange({ admitMax: 30 });
      working += claimed.filter(({ rank }) => rank !== undefined).length;
      inFlight.push(working);
      await on.exchange({ settlements: claimed.map(later) });
    }
    expect(inFlight[0]).toBe(9);
    expect(inFlight.at(-1)).toBe(24);
    expect([...inFlight].sort((a, b) => a - b)).toEqual(inFlight);
  });

  test('no credit, or a key that is refused, pauses creates and not reads, and resumes by itself', async () => {
    await on.set.enqueue(waiting(5));
    const [first] = await admit(1);
    const creates = { kind: 'no_credit', waitMs: 60 * second } as const;
    await on.set.schedule([{ id: 'job_read', delayMs: 0 }]);
    const { claimed } = await on.exchange({ admitMax: 5, creates, settlements: [back(first as Claim)] });
    expect(ids(claimed)).toEqual(['job_read']);
    at(60 * second);
    expect(await admit(5)).toHaveLength(1);
    expect(await admit(5, { creates: { kind: 'created', waitMs: 0 } })).toHaveLength(4);
  });

  test('whatever stands in the line under whatever rank is handed out, and stops nobody', async () => {
    await on.set.enqueue(waiting(2));
    for (const rank of ['inf', '-inf', '-3', '1e300', '12.5']) await on.line(rank, `ghost ${rank}`);
    expect(new Set(ids(await admit(20)))).toEqual(
      new Set(['job_w0', 'job_w1', 'ghost inf', 'ghost -inf', 'ghost -3', 'ghost 1e300', 'ghost 12.5']),
    );
    expect((await on.set.enqueue(waiting(3))).added).toBe(1);
    expect(ids(await admit(20))).toEqual(['job_w2']);
  });

  test('is made due at its deadline, when tidied; not before', async () => {
    on.limit({ maxInFlight: 1 });
    await on.set.enqueue([...waiting(1), ...waiting(2, 1, { expiresInMs: 60 * second }).slice(1)]);
    await admit(5);
    at(59_999);
    expect((await on.set.tidy()).expired).toBe(0);
    at(60 * second);
    expect((await on.set.tidy()).expired).toBe(1);
    expect(ids((await on.exchange()).claimed)).toContain('job_w1');
    expect((await on.set.tidy()).expired).toBe(0);
  });

  test('leased at its deadline and put back after it, is made due by a later look', async () => {
    on.limit({ maxInFlight: 1 });
    await on.set.enqueue(waiting(1, 1, { expiresInMs: 5 * second }));
    const [first] = await admit(1);
    at(5 * second);
    expect((await on.set.tidy()).expired).toBe(0);
    await on.exchange({ settlements: [back(first as Claim)], creates: { kind: 'no_credit', waitMs: 3_600 * second } });
    at(66 * second);
    expect((await on.set.tidy()).expired).toBe(1);
  });

  test('an owner whose thousands have expired unsent stands in line like anybody else', async () => {
    await on.set.enqueue(waiting(3_000, 1, { owner: 'unlucky', expiresInMs: 60 * second }));
    at(61 * second);
    expect((await on.set.tidy()).expired).toBe(3_000);
    await on.set.enqueue(
      waiting(500, 1, { owner: 'flood' }).map(({ id, ...rest }) => ({ ...rest, id: `${id}-flood` })),
    );
    await on.set.enqueue([{ id: 'job_single', owner: 'unlucky', priority: 5, expiresInMs: 60 * second }]);
    expect(ids(await admit(2, { claimMax: 0 }))).toContain('job_single');
  });

  test('nor does an owner whose jobs in line were canceled stand behind the places that they had', async () => {
    const canceled = waiting(1_000, 1, { owner: 'fickle' });
    await on.set.enqueue(canceled);
    const leaves = { owner: 'fickle', priority: canceled[0]?.priority ?? 0 };
    await on.set.schedule(
      canceled.map(({ id }) => ({ id, delayMs: 0, leaves })),
      'pull',
    );
    await on.set.schedule([{ id: canceled[0]?.id ?? '', delayMs: 0, leaves }], 'pull');
    await on.set.enqueue(
      waiting(500, 1, { owner: 'flood' }).map(({ id, ...rest }) => ({ ...rest, id: `${id}-flood` })),
    );
    await on.set.enqueue([{ id: 'job_single', owner: 'fickle', priority: leaves.priority, expiresInMs: 60 * second }]);
    expect(ids(await admit(2, { claimMax: 0 }))).toContain('job_single');
  });

  test('a job that never stood in line can be put there, with its deadline', async () => {
    const claim = await on.claimOne('job_old');
    const newcomer = { owner: 'acme', priority: 5, deadlineAtMs: start + 30 * second };
    await on.exchange({
      settlements: [{ id: 'job_old', token: claim.token, to: { kind: 'wait', rank: '4e14', newcomer } }],
    });
    on.limit({ maxInFlight: 1 });
    await on.set.schedule([{ id: 'job_other', delayMs: 20 * second }]);
    expect(await admit(5)).toEqual([]);
    at(30 * second);
    expect((await on.set.tidy()).expired).toBe(1);
  });

  test('with an open breaker is a probe like any other', async () => {
    await on.set.schedule([{ id: 'job_later', delayMs: 600 * second }]);
    await on.set.enqueue(waiting(300));
    await on.exchange({ provider: { kind: 'fails', meanGapMs: 10 * second } });
    let admitted = 0;
    for (let ms = 0; ms <= 60 * second; ms += second) {
      at(ms);
      admitted += (await admit(20)).length;
    }
    expect(admitted).toBeLessThanOrEqual(2 * 6);
  });

  test('is admitted again as soon as the budget, not the breaker, is what holds reads back', async () => {
    on.limit({ readsPerMinute: 20 });
    await on.set.schedule(Array.from({ length: 200 }, (_, i) => ({ id: `job_${i}`, delayMs: 0 })));
    await on.set.enqueue(waiting(10));
    await on.exchange({ provider: { kind: 'fails', meanGapMs: 10 * second } });
    at(second);
    await on.exchange();
    await on.exchange({ provider: { kind: 'works', meanGapMs: 10 * second } });
    let admitted = 0;
    for (let ms = 2 * second; ms <= 60 * second; ms += second) {
      at(ms);
      admitted += (await admit(20)).length;
    }
    expect(admitted).toBe(10);
  });

  test('with nothing of ours in flight it keeps the drain for when a refusal may be over', async () => {
    await on.set.enqueue(waiting(4));
    const first = await admit(4);
    const creates = { kind: 'no_slot', waitMs: 5 * second } as const;
    const reply = await on.exchange({ settlements: first.map(back), creates, admitMax: 5 });
    expect(reply.role).toBe('first');
    at(5 * second);
    expect(await admit(5)).toHaveLength(1);
  });

  test('no limit is learnt from a refusal while more are in flight than are counted', async () => {
    await on.set.schedule(Array.from({ length: 500 }, (_, i) => ({ id: `job_${i}`, delayMs: 20 * second })));
    await on.set.enqueue(waiting(50));
    const [first] = await admit(1, { claimMax: 1 });
    const creates = { kind: 'no_slot', waitMs: 0 } as const;
    await on.exchange({ settlements: [back(first as Claim)], creates, claimMax: 1, admitMax: 5 });
    at(10 * second);
    const probe = await admit(5, { claimMax: 1 });
    expect(probe).toHaveLength(1);
    expect(await admit(5, { claimMax: 1, creates: { kind: 'created', waitMs: 0 } })).toHaveLength(5);
  });

  test('keeps a drain awake when it can be admitted in its window, and lets it leave when it can not', async () => {
    await on.set.enqueue(waiting(2));
    expect(await on.exchange({ role: 'new' })).toMatchObject({ role: 'first', nextDueAtMs: start });
    const [first] = await admit(1);
    const settlements = [back(first as Claim)];
    const creates = { kind: 'denied', waitMs: 120 * second } as const;
    const reply = await on.exchange({ settlements, creates, admitMax: 5 });
    expect(reply).toMatchObject({ role: 'leave', nextDueAtMs: start + 120 * second });
  });
});
