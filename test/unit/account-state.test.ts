import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effectiveSlots, faultsOf, standingOf } from '../../lib/account-standing.ts';
import { readAccountState } from '../../lib/account-state.ts';
import type { AccountOverview } from '../../lib/account-view.ts';
import { hourMs, startMs as nowMs, secondMs } from '../support/jobs.ts';

const read = (fields: Record<string, string>) => readAccountState(fields, nowMs);
const blank = { paused: null, breaker: null, createsHold: null, slotCap: null };

describe('the state of an account', () => {
  it('that is not there is one in which nothing is wrong', () => {
    expect(read({})).toMatchObject({ ...blank, reads: { told: null }, creates: { told: null } });
    expect(standingOf(read({}))).toEqual({ state: 'active', sinceMs: null, untilMs: null });
    expect(faultsOf(read({}))).toEqual([]);
  });

  it.each([
    ['all', 'paused'],
    ['creates', 'draining'],
  ])('paused for %s is %s, whatever else is the matter, since then', (what, state) => {
    const paused = read({ paused: `${what} ${nowMs - 5}`, breaker: `open ${nowMs} 0.1 2` });
    expect(standingOf(paused)).toEqual({ state, sinceMs: nowMs - 5, untilMs: null });
    expect(faultsOf(paused)).toEqual([{ code: 'failing', sinceMs: null }]);
  });

  it.each([
    ['open', 'failing'],
    ['denied', 'denied'],
    ['held', 'held'],
  ])('with the breaker %s is %s until the next try', (kind, state) => {
    const shut = read({ breaker: `${kind} ${nowMs + 900} 0.25 3` });
    expect(standingOf(shut)).toEqual({ state, sinceMs: null, untilMs: nowMs + 900 });
    expect(faultsOf(shut)).toEqual([{ code: state, sinceMs: null }]);
  });

  it('is active while it works off what waited', () => {
    const recovering = read({ breaker: `recovering ${nowMs} 0.25 0` });
    expect([standingOf(recovering).state, faultsOf(recovering)]).toEqual(['active', []]);
  });

  it('is not held any longer than it was told, and not failing an hour after the last try', () => {
    expect(read({ breaker: `held ${nowMs} 1 0` }).breaker).toBeNull();
    expect(read({ breaker: `open ${nowMs - 5 * secondMs} 1 0` }).breaker).not.toBeNull();
    expect(read({ breaker: `denied ${nowMs - hourMs} 1 0` }).breaker).toBeNull();
  });

  it('tells of creates that were refused, for want of credit or because of the key, but not for want of a slot', () => {
    const held = (reason: string, probes = 0) => read({ creates_hold: `${reason} ${nowMs + 9e3} 10000 ${probes}` });
    expect(faultsOf(held('no_credit'))).toEqual([{ code: 'no_credit', sinceMs: nowMs - 1e3 }]);
    expect(faultsOf(held('no_credit', 1))).toEqual([{ code: 'no_credit', sinceMs: null }]);
    expect(faultsOf(held('denied'))).toMatchObject([{ code: 'denied' }]);
    expect(faultsOf(held('no_slot'))).toEqual([]);
    expect(held('no_slot').createsHold).toEqual({ reason: 'no_slot', sinceMs: nowMs - 1e3, untilMs: nowMs + 9e3 });
    expect(read({ creates_hold: `no_credit ${nowMs} 10000 0` }).createsHold).toBeNull();
  });

  it('names a fault once when reads and creates have the same', () => {
    const denied = { breaker: `denied ${nowMs + 1} 1 0`, creates_hold: `denied ${nowMs + 1} 1 0` };
    expect(faultsOf(read(denied))).toHaveLength(1);
  });

  it('has what the provider has told, each while it holds', () => {
    const told = (text: string) => read({ told: text });
    expect(told(`7 ${nowMs + 1} - -`).reads.told).toEqual({ left: 7, untilMs: nowMs + 1 });
    expect(told(`7 ${nowMs + 1} - -`).creates.told).toBeNull();
    expect(told(`7 ${nowMs} 0 ${nowMs + 1}`)).toMatchObject({ reads: { told: null }, creates: { told: { left: 0 } } });
  });

  it('has both meters of both budgets', () => {
    const [minute, hour] = [Math.floor(nowMs / 2_000), Math.floor(nowMs / hourMs)];
    const { reads, creates } = read({ reads: `${minute} 5 1 2|${hour} 6 3 4`, creates: `|${hour} 0 9` });
    expect(reads).toMatchObject({ minute: { pacedAtMs: 5 }, day: { pacedAtMs: 6 } });
    expect([reads.minute.counts.slice(0, 2), reads.day.counts.slice(0, 2), creates.day.counts[0]]).toEqual([
      [1, 2],
      [3, 4],
      9,
    ]);
  });

  it('counts as absent what can not be read', () => {
    const names = ['paused', 'breaker', 'creates_hold', 'slots', 'told', 'reads', 'creates'];
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom('all', 'open', 'held', 'no_slot', 'NaN', 'nan', '-nan', 'inf', '-1', '1e400', '|', '-'),
    );
    const text = fc.array(word, { maxLength: 5 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), text), (fields) => {
        const state = read(fields);
        const times = [state.paused?.sinceMs, state.breaker?.atMs, state.createsHold?.untilMs, state.slotCap?.cap];
        expect(times.every((time) => time === undefined || Number.isFinite(time))).toBe(true);
        expect(standingOf(state).state).toBeTruthy();
      }),
    );
  });
});

describe('the slots that an account has now', () => {
  const slots = (text: string, max: number | null, inFlight = 0) => {
    const counts = { nowMs, inFlight, waiting: 0, dueLagMs: 0 };
    const overview: AccountOverview = { ...counts, state: read({ slots: text }) };
    return effectiveSlots(overview, max);
  };

  it('are those configured, if any are, also where the scripts would not know of fewer', () => {
    expect([slots('', 24), slots('', null), slots(`9 ${nowMs}`, 24)]).toEqual([24, null, 24]);
  });

  it('are fewer after the provider had none, and come back one by one', () => {
    expect(slots(`9 ${nowMs} 9`, 24)).toBe(9);
    expect(slots(`9 ${nowMs + 60_000} 9`, 24)).toBe(9);
    expect(slots(`9 ${nowMs - 9_999} 9`, 24)).toBe(9);
    expect(slots(`9 ${nowMs - 10_000} 9`, 24)).toBe(10);
    expect(slots(`9 ${nowMs - 100_000} 9`, 24)).toBe(23);
    expect(slots(`9 ${nowMs - 110_000} 9`, 24)).toBe(24);
    expect(slots(`9 ${nowMs - hourMs} 9`, null, 5)).toBeNull();
  });
});
