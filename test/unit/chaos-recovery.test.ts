import { describe, expect, it } from 'vitest';
import { LeaseBook } from '../chaos/lease-book.ts';
import { type RecoveryRequest, recoveryOf } from '../chaos/recovery.ts';

const nothing: RecoveryRequest = { kills: [], lostClaims: [], wipesAtMs: [], callsAtMs: new Map() };

describe('the recovery of killed drains', () => {
  it('is from the kill to the next call about each job it had in hand', () => {
    const kills = [{ atMs: 1_000, inHand: ['a', 'b'] }];
    const callsAtMs = new Map([
      ['a', [500, 4_000, 9_000]],
      ['b', [900, 11_500]],
    ]);
    expect(recoveryOf({ ...nothing, kills, callsAtMs })).toMatchObject({
      ...{ inHand: 2, measured: 2, maxSeconds: 10.5, meanSeconds: 6.75, ended: 0 },
      worst: { id: 'b', killedAtMs: 1_000 },
    });
  });

  it('counts anew from a second kill and from a claim that nobody heard of, and tells the whole time too', () => {
    const kills = [
      { atMs: 0, inHand: ['a', 'b'] },
      { atMs: 9_000, inHand: ['a'] },
    ];
    const callsAtMs = new Map([
      ['a', [18_000]],
      ['b', [21_000]],
    ]);
    const lostClaims = [{ id: 'b', atMs: 10_000 }];
    expect(recoveryOf({ ...nothing, kills, lostClaims, callsAtMs })).toMatchObject({
      maxSeconds: 11,
      maxFromFirstKillSeconds: 21,
    });
  });

  it('counts apart what an emptied Redis lost, and what had ended', () => {
    const kills = [{ atMs: 0, inHand: ['a', 'b'] }];
    const callsAtMs = new Map([['a', [45_000]]]);
    expect(recoveryOf({ ...nothing, kills, wipesAtMs: [3_000], callsAtMs })).toMatchObject({
      ...{ measured: 0, maxSeconds: 0, wiped: 1, maxWipedSeconds: 45, ended: 1, worst: null },
    });
  });
});

describe('the book of leases', () => {
  const exchange = (settlements: string[], reply: { claims: string[]; stale?: string[] }, answered = true) => ({
    asked: {
      arguments: [
        'EVALSHA',
        'sha',
        '5',
        'due',
        'waiting',
        'account',
        'busy',
        'deadlines',
        ...Array(25).fill(''),
        ...settlements,
      ],
    },
    reply: ['1', '', '0', reply.claims.map((text) => Buffer.from(text)), (reply.stale ?? []).map(Buffer.from), ''].map(
      (part) => (typeof part === 'string' ? Buffer.from(part) : part),
    ),
    answered,
  });
  const claim = (id: string) => [id, '1', '11.0625', '1', ''];

  it('knows what a drain has claimed and not settled; a renewal settles nothing', () => {
    const book = new LeaseBook();
    book.open('drain-1');
    book.ran('drain-1', exchange([], { claims: ['a', 'b', 'c', 'd'].flatMap(claim) }));
    const settlements = ['a', '11.0625', 'remove', 'b', '11.0625', '17', 'c', '11.0625', '21.0625'];
    book.ran('drain-1', exchange(settlements, { claims: claim('e') }));
    book.ran('drain-1', exchange([], { claims: [], stale: ['d'] }));
    expect(book.close('drain-1')).toEqual(['c', 'e']);
  });

  it('gives a claim whose reply was dropped to nobody', () => {
    const book = new LeaseBook();
    book.open('drain-1');
    book.ran('drain-1', exchange([], { claims: claim('a') }, false));
    expect(book.lostClaims).toMatchObject([{ id: 'a' }]);
    expect(book.droppedReplies).toBe(1);
    expect(book.close('drain-1')).toEqual([]);
  });
});
