import { describe, expect, it, test } from 'vitest';
import { readAccountState } from '../../lib/account-state.ts';
import type { JobPlace } from '../../lib/account-view.ts';
import { type AccountLimits, noLimits } from '../../lib/accounts.ts';
import type { Job } from '../../lib/job.ts';
import { predictedCompletion, type Range, type WaitingFor, waitingFor } from '../../lib/waiting-for.ts';
import { confirmedJob, hourMs, jobWith, minuteMs, startMs as nowMs, secondMs } from '../support/jobs.ts';

const newest = Math.floor(nowMs / 2_000);
const hour = Math.floor(nowMs / hourMs);
const soon = nowMs + 7 * secondMs;
const limits: AccountLimits = { ...noLimits, maxInFlight: 24, readsPerMinute: 120, createsPerMinute: 10 };
const running = confirmedJob('processing');
const fresh = jobWith();

interface Given {
  fields?: Record<string, string>;
  due?: Partial<NonNullable<JobPlace['due']>>;
  place?: number;
  inFlight?: number;
}

function placeOf({ fields = {}, due, place, inFlight = 0 }: Given): JobPlace {
  return {
    ...{ nowMs, state: readAccountState(fields, nowMs), inFlight, waiting: 0, dueLagMs: 0, place: place ?? null },
    due: due === undefined ? null : { atMs: nowMs, leased: false, ahead: 0, ...due },
  };
}

function ask(job: Job, given: Given, renderMs: Range | null = null, within: AccountLimits = limits): WaitingFor | null {
  return waitingFor(job, { limits: within, place: placeOf(given), renderMs });
}

const hint: Given = { due: { atMs: soon } };
const line: Given = { place: 1, inFlight: 24 };

test.each<[string, Job, Given, WaitingFor | null]>([
  ['one that has ended for nothing', confirmedJob('completed'), hint, null],
  ['one that was given up for nothing', confirmedJob('given_up'), hint, null],
  ['a running one for the time that the provider named', running, hint, { kind: 'provider_hint', untilMs: soon }],
  ['one that is due for the next tick', running, { due: {} }, { kind: 'provider_hint', untilMs: nowMs }],
  [
    'one whose read failed for the next try',
    confirmedJob('processing', { failuresInRow: 2 }),
    hint,
    { kind: 'retry', untilMs: soon },
  ],
  [
    'one that the provider does not find for the next try',
    confirmedJob('queued', { missingReads: 1 }),
    hint,
    { kind: 'retry', untilMs: soon },
  ],
  ['one past its deadline for its next seldom read', confirmedJob('overdue'), hint, { kind: 'overdue', untilMs: soon }],
  ['one in hand', running, { due: { atMs: soon, leased: true } }, { kind: 'lease', untilMs: soon }],
  [
    'one whose drain died for the next tick',
    running,
    { due: { atMs: nowMs - 1, leased: true } },
    { kind: 'provider_hint', untilMs: nowMs - 1 },
  ],
  ['one that is nowhere for the sweep', running, {}, { kind: 'unknown' }],
  [
    'one that is due while no read is left',
    running,
    { due: {}, fields: { reads: `${newest} ${nowMs} 0 120|` } },
    { kind: 'read_budget', untilMs: newest * 2_000 + 62_000 },
  ],
  [
    'one that is due while the provider says that none is left',
    running,
    { due: {}, fields: { told: `0 ${soon} - -` } },
    { kind: 'read_budget', untilMs: soon },
  ],
  [
    'one that is not due yet, whatever is left',
    running,
    { ...hint, fields: { reads: `${newest} ${nowMs} 120|` } },
    { kind: 'provider_hint', untilMs: soon },
  ],
  ['one in line while all slots are taken', fresh, line, { kind: 'slot', place: 1, predictedMs: null }],
  [
    'one in line with a slot for it for the next tick',
    fresh,
    { place: 3, inFlight: 20 },
    { kind: 'slot', place: 3, predictedMs: [nowMs, nowMs] },
  ],
  [
    'one in line while others use the workspace',
    fresh,
    { place: 1, inFlight: 9, fields: { slots: `9 ${nowMs} 9` } },
    { kind: 'slot', place: 1, predictedMs: null },
  ],
  [
    'one in line with a slot but no create for it',
    fresh,
    { place: 1, fields: { creates: `${newest} ${nowMs} 10|` } },
    { kind: 'create_budget', untilMs: newest * 2_000 + 64_000 },
  ],
  [
    'one in line while the provider says that no create is left',
    fresh,
    { place: 1, fields: { told: `- - 0 ${soon}` } },
    { kind: 'create_budget', untilMs: soon },
  ],
  [
    'any while the account is paused',
    running,
    { ...hint, fields: { paused: `all ${nowMs - 1}`, breaker: `held ${soon} 1 0` } },
    { kind: 'paused', sinceMs: nowMs - 1 },
  ],
  [
    'a new one while the account is drained',
    fresh,
    { ...line, fields: { paused: `creates ${nowMs - 1}` } },
    { kind: 'paused', sinceMs: nowMs - 1 },
  ],
  [
    'a running one as ever while the account is drained',
    running,
    { ...hint, fields: { paused: `creates ${nowMs - 1}` } },
    { kind: 'provider_hint', untilMs: soon },
  ],
  [
    'any while the provider fails',
    running,
    { ...hint, fields: { breaker: `open ${soon} 1 0` } },
    { kind: 'hold', reason: 'failing', untilMs: soon },
  ],
  [
    'any while the provider has asked to stay away',
    fresh,
    { ...line, fields: { breaker: `held ${soon} 1 0`, creates_hold: `no_slot ${soon} 1 0` } },
    { kind: 'hold', reason: 'held', untilMs: soon },
  ],
  [
    'any while the key is refused',
    running,
    { ...hint, fields: { breaker: `denied ${soon} 1 0` } },
    { kind: 'hold', reason: 'denied', untilMs: soon },
  ],
  [
    'a new one while there is no credit',
    fresh,
    { ...line, fields: { creates_hold: `no_credit ${soon} 1000 0` } },
    { kind: 'hold', reason: 'no_credit', untilMs: soon },
  ],
  [
    'a running one as ever while there is no credit',
    running,
    { ...hint, fields: { creates_hold: `no_credit ${soon} 1000 0` } },
    { kind: 'provider_hint', untilMs: soon },
  ],
  [
    'a new one until what waited is worked off',
    fresh,
    { ...line, fields: { breaker: `recovering ${nowMs} 1 0` } },
    { kind: 'hold', reason: 'recovering', untilMs: null },
  ],
  [
    'a running one as ever while the rest is worked off',
    running,
    { ...hint, fields: { breaker: `recovering ${nowMs} 1 0` } },
    { kind: 'provider_hint', untilMs: soon },
  ],
])('%s', (_, job, given, expected) => expect(ask(job, given)).toEqual(expected));

it('is unknown while the due set can not be reached', () => {
  const nowhere = { limits, place: null, renderMs: null };
  expect(waitingFor(running, nowhere)).toEqual({ kind: 'unknown' });
  expect(waitingFor(confirmedJob('failed'), nowhere)).toBeNull();
});

describe('the predicted admission', () => {
  const renderMs: Range = [2 * minuteMs, 4 * minuteMs];
  const unlimited = { ...noLimits, maxInFlight: 24 };
  const slot = (given: Given, within: AccountLimits = unlimited) => {
    const waiting = ask(fresh, given, renderMs, within);
    return waiting?.kind === 'slot' ? waiting.predictedMs : waiting;
  };

  it('follows from how long renders take', () => {
    expect(slot({ place: 12, inFlight: 24 })).toEqual([nowMs + minuteMs, nowMs + 4 * minuteMs]);
    expect(slot({ place: 48, inFlight: 24 })).toEqual([nowMs + 4 * minuteMs, nowMs + 8 * minuteMs]);
  });

  it('counts the slots that are free already', () => {
    expect(slot({ place: 14, inFlight: 22 })).toEqual([
      nowMs + Math.floor((12 / 22) * 2 * minuteMs),
      nowMs + 4 * minuteMs,
    ]);
  });

  it('is no sooner than the create budget has room, minute and day', () => {
    const minute = slot({ place: 48, inFlight: 24 }, { ...unlimited, createsPerMinute: 5 });
    expect(minute).toEqual([nowMs + 9 * 64_000, nowMs + 2 * 9 * 64_000]);
    const fields = { creates: `|${hour} ${nowMs} ${'0 '.repeat(20)}300` };
    const [earliest] = slot({ place: 30, inFlight: 24, fields }, { ...unlimited, createsPerDay: 300 }) as Range;
    expect(earliest).toBe(hour * hourMs + 5 * hourMs);
  });

  it('without a limit on slots is now', () => {
    expect(slot({ place: 500, inFlight: 900 }, noLimits)).toEqual([nowMs, nowMs]);
  });
});

describe('the predicted end', () => {
  const renderMs: Range = [2 * minuteMs, 4 * minuteMs];
  const end = (job: Job, waiting: WaitingFor | null, render: Range | null = renderMs) =>
    predictedCompletion(job, waiting, render, nowMs);
  const polled: WaitingFor = { kind: 'provider_hint', untilMs: soon };
  const sentAgo = (ms: number) => confirmedJob('processing', { submittedAtMs: nowMs - ms });

  it('of a running job counts from when it was sent, and does not lie in the past', () => {
    expect(end(sentAgo(minuteMs), polled)).toEqual([nowMs + minuteMs, nowMs + 3 * minuteMs]);
    expect(end(sentAgo(3 * minuteMs), polled)).toEqual([nowMs, nowMs + minuteMs]);
  });

  it('of one that takes longer than nearly all is not known, nor of one past its deadline, nor without any data', () => {
    expect(end(sentAgo(4 * minuteMs + 1), polled)).toBeNull();
    expect(end(confirmedJob('overdue', { submittedAtMs: nowMs }), polled)).toBeNull();
    expect(end(sentAgo(minuteMs), polled, null)).toBeNull();
    expect(end(sentAgo(minuteMs), null)).toBeNull();
  });

  it('of one that waits counts from its predicted admission', () => {
    const inLine: WaitingFor = { kind: 'slot', place: 1, predictedMs: [nowMs + 5, nowMs + 9] };
    expect(end(fresh, inLine)).toEqual([nowMs + 5 + renderMs[0], nowMs + 9 + renderMs[1]]);
    expect(end(fresh, { ...inLine, predictedMs: null })).toBeNull();
    expect(end(fresh, { kind: 'create_budget', untilMs: soon })).toEqual([soon + renderMs[0], soon + renderMs[1]]);
    expect(end(fresh, { kind: 'lease', untilMs: soon })).toEqual([nowMs + renderMs[0], nowMs + renderMs[1]]);
    expect(end(fresh, { kind: 'paused', sinceMs: nowMs })).toBeNull();
  });
});
