import { describe, test } from 'vitest';
import { isActive } from '../../lib/job.ts';
import type { DueSet, ExchangeReply, ExchangeRequest, WaitingEntry } from '../../lib/ports.ts';
import { bound, expectFound, updating } from './broken.ts';
import type { SetSide } from './set-side.ts';
import type { Breaks } from './world.ts';

/* A product made wrong on purpose must be found out: otherwise a clean run would show nothing. */

/** The due set with another exchange. */
function exchanging(change: (set: DueSet, request: ExchangeRequest, side: SetSide) => Promise<ExchangeReply>) {
  return (side: SetSide): DueSet => ({
    ...bound(side.dueSet),
    exchange: (request) => change(side.dueSet, request, side),
  });
}

const tokenOf = (side: SetSide, id: string) => String(side.state.scores.get(id) ?? 0);

const wrong: [what: string, breaks: Breaks, found: RegExp][] = [
  [
    'claims without a lease',
    {
      dueSet: exchanging(async (set, request, side) => {
        const reply = await set.exchange(request);
        const scores = new Map(side.state.scores);
        for (const { id, dueAtMs } of reply.claimed) scores.set(id, dueAtMs);
        await side.load({ ...side.save(), scores });
        return reply;
      }),
    },
    /a claim is leased/,
  ],
  [
    'settles without looking at the token',
    {
      dueSet: exchanging((set, request, side) => {
        const settlements = request.settlements.map((given) => ({ ...given, token: tokenOf(side, given.id) }));
        return set.exchange({ ...request, settlements });
      }),
    },
    /stale exactly when|stays as it is/,
  ],
  ['takes leases that have not ended', { dueSet: exchanging(impatient) }, /a live lease is never taken/],
  [
    'never renews a lease',
    {
      outside: (outside) => {
        const { set } = outside;
        const exchange = set.exchange.bind(set);
        set.exchange = (by, request) =>
          exchange(by, { ...request, settlements: request.settlements.filter(({ to }) => to.kind !== 'renew') });
      },
    },
    /live lease|one call at a time/,
  ],
  [
    'drops a job instead of making it due again',
    {
      dueSet: exchanging((set, request) => {
        const settlements = request.settlements.map((given) =>
          given.to.kind === 'due' ? { ...given, to: { kind: 'remove' as const } } : given,
        );
        return set.exchange({ ...request, settlements });
      }),
    },
    /stays as it is|sweep away/,
  ],
  [
    'makes everything due at once',
    {
      outside: (outside) => {
        const { set } = outside;
        const exchange = set.exchange.bind(set);
        set.exchange = (by, request) => {
          const settlements = request.settlements.map((given) =>
            given.to.kind === 'due' ? { ...given, to: { kind: 'due' as const, atMs: outside.setNowMs() } } : given,
          );
          return exchange(by, { ...request, settlements });
        };
      },
    },
    /no read comes before its time/,
  ],
  [
    'finds nothing absent when it sweeps',
    { dueSet: (side) => ({ ...bound(side.dueSet), absent: async () => [] }) },
    /sweep brings back|sweep away/,
  ],
  [
    'never finds one of the jobs due',
    {
      dueSet: exchanging(async (set, request, side) => {
        const hidden = [...side.state.scores].filter(([id]) => id.endsWith('i') || id.endsWith('q'));
        const shown = new Map([...side.state.scores].filter(([id]) => !hidden.some(([other]) => other === id)));
        await side.load({ ...side.save(), scores: shown });
        const reply = await set.exchange(request);
        await side.load({ ...side.save(), scores: new Map([...side.state.scores, ...hidden]) });
        return reply;
      }),
    },
    /stale exactly when|stays as it is|every job ends in time|history in fair weather/,
  ],
  [
    'writes the record whatever its revision',
    {
      store: (store) =>
        updating(store, (job) => {
          const stored = store.all.get(job.id);
          return store.update({ ...job, revision: stored?.revision ?? job.revision });
        }),
    },
    /never changes|no clip|one accepted job|or one sweep away/,
  ],
  [
    'ends a job without writing it down',
    {
      store: (store) =>
        updating(store, async (job) =>
          isActive(job.state) ? store.update(job) : { kind: 'updated', job: { ...job, revision: job.revision + 1 } },
        ),
    },
    /an active job is in the set, or one sweep away/,
  ],
  [
    'sends a clip again under a new key',
    {
      outside: ({ provider }) => {
        const create = provider.create.bind(provider);
        let calls = 0;
        provider.create = (job) => create({ ...job, id: `${job.id}-${calls++}` });
      },
    },
    /every billed clip is one accepted job/,
  ],
  [
    'forgets the reads that it has counted',
    { dueSet: exchanging(forgetting('reads')) },
    /no more calls begin in a minute/,
  ],
  [
    'forgets the creates that it has counted',
    { dueSet: exchanging(forgetting('creates')) },
    /no more calls begin in a minute/,
  ],
  [
    'admits nobody',
    { dueSet: exchanging((set, request) => set.exchange({ ...request, admitMax: 0 })) },
    /first in line, and free to go/,
  ],
  [
    'goes on while it is paused',
    {
      dueSet: exchanging(async (set, request, side) => {
        const paused = side.state.account.get('paused') ?? '';
        await setField(side, 'paused', '');
        const reply = await set.exchange(request);
        await setField(side, 'paused', paused);
        return reply;
      }),
    },
    /a paused account is left alone/,
  ],
  ['takes all owners for one', { dueSet: lining((entry) => ({ ...entry, owner: 'one' })) }, /owners take turns/],
  [
    'turns priorities round',
    { dueSet: lining((entry) => ({ ...entry, priority: 9 - entry.priority })) },
    /a higher priority goes first/,
  ],
];

/** A meter that reads nothing, whatever was counted before. */
function forgetting(meter: 'reads' | 'creates') {
  return async (set: DueSet, request: ExchangeRequest, side: SetSide) => {
    await setField(side, meter, '');
    return set.exchange(request);
  };
}

async function setField(side: SetSide, name: string, value: string): Promise<void> {
  if ((side.state.account.get(name) ?? '') === value) return;
  const state = side.save();
  await side.load({ ...state, account: new Map(state.account).set(name, value) });
}

/** The due set with another line. */
function lining(change: (entry: WaitingEntry) => WaitingEntry) {
  return ({ dueSet }: SetSide): DueSet => ({
    ...bound(dueSet),
    enqueue: (entries) => dueSet.enqueue(entries.map(change)),
  });
}

/** Shows the due set every lease as one that ended twenty seconds ago. */
async function impatient(set: DueSet, request: ExchangeRequest, side: SetSide): Promise<ExchangeReply> {
  const earlier = (score: number) => (score % 1 === 0 ? score : score - 20_000);
  const before = new Map(side.state.scores);
  const shown = new Map([...before].map(([id, score]) => [id, earlier(score)]));
  await side.load({ ...side.save(), scores: shown });
  const settlements = request.settlements.map((given) => ({ ...given, token: String(earlier(Number(given.token))) }));
  const reply = await set.exchange({ ...request, settlements });
  const untouched = [...side.state.scores].filter(([id, score]) => shown.get(id) === score);
  const back = untouched.map(([id]) => [id, before.get(id) as number] as const);
  await side.load({ ...side.save(), scores: new Map([...side.state.scores, ...back]) });
  return reply;
}

describe('a product that', () => {
  test.each(wrong)('%s is found out', { timeout: 120_000 }, (_, breaks, found) => expectFound(breaks, found, true));
});
