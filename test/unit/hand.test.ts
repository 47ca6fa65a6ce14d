import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Hand, type Held } from '../../lib/hand.ts';
import { leaseEndOf, renewedToken } from '../../lib/lease.ts';
import type { Claim } from '../../lib/ports.ts';
import { startMs } from '../support/jobs.ts';

const leaseMs = 10_000;
const max = 100;
const none: ReadonlySet<string> = new Set();

/** A claim made at `atMs` on the set's clock. */
function claim(id: string, atMs = startMs, claims = 1): Claim {
  return { id, dueAtMs: atMs - 20, token: String(atMs + leaseMs + claims / 16), claims };
}

function taken(hand: Hand, given: Claim): Held {
  const held = hand.take(given);
  if (held === null) throw new Error(`${given.id} was in hand already`);
  return held;
}

describe('a lease’s token', () => {
  it('T35 holds the lease’s end in ms and the claims in a row, and a renewal keeps the latter', () => {
    const token = '1790000010000.0625';
    expect(leaseEndOf(token)).toBe(startMs + leaseMs);
    expect(renewedToken(token, startMs + 20_000.7)).toBe('1790000020000.0625');
    expect(renewedToken('1790000010000.9375', startMs)).toBe('1790000000000.9375');
  });

  it('T03 only grows by a renewal, and keeps its fraction exactly', () => {
    const ends = fc.integer({ min: startMs, max: startMs + 10 ** 11 });
    fc.assert(
      fc.property(ends, fc.integer({ min: 1, max: 15 }), fc.integer({ min: 1, max: 300_000 }), (end, claims, more) => {
        const token = String(end + claims / 16);
        const renewed = renewedToken(token, end + more);
        expect(Number(renewed)).toBeGreaterThan(Number(token));
        expect([leaseEndOf(renewed), (Number(renewed) % 1) * 16]).toEqual([end + more, claims]);
      }),
    );
  });
});

describe('what a drain holds', () => {
  it('is settled under the token it was claimed with, and gone once an exchange has confirmed it', () => {
    const hand = new Hand(leaseMs);
    const held = taken(hand, claim('a'));
    hand.start(held);
    expect(hand.settlements(startMs, max)).toEqual([]);
    hand.finish(held, { kind: 'due', atMs: startMs + 15_000 });
    const settlements = hand.settlements(startMs, max);
    expect(settlements).toEqual([{ id: 'a', token: claim('a').token, to: { kind: 'due', atMs: startMs + 15_000 } }]);
    expect(hand.confirm(settlements, none)).toEqual([]);
    expect([hand.size, hand.unstarted, hand.holds(held)]).toEqual([0, 0, false]);
  });

  it('T05 is settled again in the same words when the reply was lost', () => {
    const hand = new Hand(leaseMs);
    hand.finish(taken(hand, claim('a')), { kind: 'due', atMs: startMs + 15_000 });
    hand.finish(taken(hand, claim('b')), { kind: 'remove' });
    const first = hand.settlements(startMs, max);
    expect(hand.settlements(startMs + 4_000, max)).toEqual(first);
    hand.confirm(first, none);
    expect(hand.size).toBe(0);
  });

  it('T03 is let go, and reported once, when its token no longer held', () => {
    const hand = new Hand(leaseMs);
    const [lost, kept] = [taken(hand, claim('a')), taken(hand, claim('b'))];
    for (const held of [lost, kept]) hand.finish(held, { kind: 'remove' });
    const settlements = hand.settlements(startMs, max);
    expect(hand.confirm(settlements, new Set(['a']))).toEqual([lost]);
    expect(hand.confirm(settlements, new Set(['a']))).toEqual([]);
    expect([hand.size, hand.holds(lost), hand.holds(kept)]).toEqual([0, false, false]);
  });

  it('is renewed under half a lease before its end, and not before', () => {
    const hand = new Hand(leaseMs);
    const held = taken(hand, claim('a'));
    expect(hand.settlements(startMs + 4_999, max)).toEqual([]);
    const renewals = hand.settlements(startMs + 5_000, max);
    expect(renewals).toEqual([
      { id: 'a', token: claim('a').token, to: { kind: 'renew', token: String(startMs + 15_000 + 1 / 16) } },
    ]);
    hand.confirm(renewals, none);
    expect([held.token, held.leaseEndMs]).toEqual([String(startMs + 15_000 + 1 / 16), startMs + 15_000]);
  });

  it('T05 has its renewal repeated under the same token when the reply was lost', () => {
    const hand = new Hand(leaseMs);
    taken(hand, claim('a'));
    const first = hand.settlements(startMs + 6_000, max);
    expect(hand.settlements(startMs + 7_500, max)).toEqual(first);
  });

  it('whose step finishes while a renewal is under way is settled under the renewed token', () => {
    const hand = new Hand(leaseMs);
    const held = taken(hand, claim('a'));
    hand.start(held);
    const renewals = hand.settlements(startMs + 6_000, max);
    hand.finish(held, { kind: 'remove' });
    hand.confirm(renewals, none);
    const renewedTo = String(startMs + 16_000 + 1 / 16);
    expect(hand.settlements(startMs + 7_000, max)).toEqual([{ id: 'a', token: renewedTo, to: { kind: 'remove' } }]);
  });

  it('T05 whose step finishes after a renewal’s reply was lost has the renewal repeated first: the set holds either token', () => {
    const hand = new Hand(leaseMs);
    const held = taken(hand, claim('a'));
    const renewals = hand.settlements(startMs + 6_000, max);
    hand.finish(held, { kind: 'remove' });
    expect(hand.settlements(startMs + 7_000, max)).toEqual(renewals);
    hand.confirm(renewals, none);
    expect(hand.settlements(startMs + 8_000, max)).toMatchObject([{ token: held.token, to: { kind: 'remove' } }]);
  });

  it('claimed anew while still in hand goes on under the new lease: one call at a time', () => {
    const hand = new Hand(leaseMs);
    const held = taken(hand, claim('a'));
    hand.start(held);
    const renewals = hand.settlements(startMs + 9_000, max);
    const again = claim('a', startMs + 11_000, 2);
    expect(hand.take(again)).toBeNull();
    expect([hand.size, hand.unstarted, hand.holds(held), held.token]).toEqual([1, 0, true, again.token]);
    hand.confirm(renewals, new Set(['a']));
    expect(hand.holds(held)).toBe(true);
    hand.finish(held, { kind: 'remove' });
    expect(hand.settlements(startMs + 11_100, max)).toEqual([{ id: 'a', token: again.token, to: { kind: 'remove' } }]);
  });

  it('goes back unstarted with its own due time, also after a second claim, and what runs stays', () => {
    const hand = new Hand(leaseMs);
    const [first, second] = [taken(hand, claim('a')), taken(hand, claim('b', startMs + 700))];
    hand.start(taken(hand, claim('c')));
    hand.take(claim('a', startMs + 12_000, 2));
    expect(hand.giveBackAll()).toBe(2);
    expect(hand.giveBackAll()).toBe(0);
    const tos = hand.settlements(startMs + 1_000, max).map(({ id, to }) => [id, to]);
    expect(tos).toEqual([
      ['a', { kind: 'due', atMs: first.dueAtMs }],
      ['b', { kind: 'due', atMs: second.dueAtMs }],
    ]);
    expect([hand.size, hand.unstarted]).toEqual([3, 0]);
  });

  it('that was let go stays so, and the next claim of the id is another', () => {
    const hand = new Hand(leaseMs);
    const held = taken(hand, claim('a'));
    hand.drop(held);
    hand.drop(held);
    expect([hand.size, hand.unstarted]).toEqual([0, 0]);
    const next = taken(hand, claim('a', startMs + 20_000));
    hand.drop(held);
    expect([hand.holds(next), hand.holds(held), hand.unstarted]).toEqual([true, false, 1]);
  });

  it('is settled in bounded batches', () => {
    const hand = new Hand(leaseMs);
    for (let nth = 0; nth < 25; nth++) hand.finish(taken(hand, claim(`j${nth}`)), { kind: 'remove' });
    for (const left of [15, 5, 0]) {
      hand.confirm(hand.settlements(startMs, 10), none);
      expect(hand.size).toBe(left);
    }
  });
});
