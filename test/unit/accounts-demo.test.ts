import { describe, expect, it } from 'vitest';
import type { Evidence, SeenRender, SeenSecond, SentJob } from '../../infra/local/accounts-demo/evidence.ts';
import { type Criterion, criteria, judge } from '../../infra/local/accounts-demo/judge.ts';
import { readOptions } from '../../infra/local/accounts-demo/options.ts';
import { accountsSetting, clipNameIn, clipOf, makeAccounts, owners } from '../../infra/local/accounts-demo/plan.ts';
import { progressLine } from '../../infra/local/accounts-demo/progress-line.ts';
import { roundsIn } from '../../infra/local/accounts-demo/rounds.ts';
import { slotUse } from '../../infra/local/accounts-demo/slot-use.ts';
import { verdictLines } from '../../infra/local/accounts-demo/table.ts';
import { readAccounts } from '../../lib/accounts.ts';

const startedAtMs = 1_000_000_000;
const renderMs = 30_000;
/** From a place's end to the create of the next job in it. */
const gapMs = 1_000;

interface Changes {
  /** Who is next; fair turns by default. */
  order?: string[];
  gapMs?: number;
  slots?: number;
}

/** One account with two places: six jobs of `flood` at the start, two each of `ada` and `bert` ten seconds later. */
function run({ order = 'ffafbafbff'.split(''), gapMs: gap = gapMs, slots = 2 }: Changes = {}): Evidence {
  const names: Record<string, string> = { f: 'flood', a: 'ada', b: 'bert' };
  const count: Record<string, number> = {};
  const sent: SentJob[] = [];
  const renders: SeenRender[] = [];
  const free = Array.from({ length: slots }, () => startedAtMs + 5_000);
  for (const letter of order) {
    const owner = names[letter] ?? '';
    count[owner] = (count[owner] ?? 0) + 1;
    const clip = `${owner}-${count[owner]}`;
    const acceptedAtMs = startedAtMs + (owner === 'flood' ? 100 : 10_000);
    const place = free.indexOf(Math.min(...free));
    const createdAtMs = (free[place] ?? 0) + place;
    free[place] = createdAtMs + renderMs + gap;
    sent.push({ clip, owner, acceptedAtMs, completed: true });
    renders.push({ clip, account: 'north', createdAtMs, completed: true, endToldAtMs: createdAtMs + renderMs });
  }
  const second = {
    atSecond: startedAtMs / 1000 + 61,
    readsRefused: 0,
    createsRefusedForRate: 0,
    createsRefusedForRoom: 0,
  };
  const accounts = [{ id: 'north', perMinuteMost: { reads: 20, creates: 4 }, seconds: [second] }];
  return { startedAtMs, slots: 2, flooder: 'flood', sent, renders, accounts };
}

/** The same run, with one thing changed. */
function but(change: (evidence: ReturnType<typeof editable>) => void): Evidence {
  const evidence = editable();
  change(evidence);
  return evidence;
}
function editable() {
  const { sent, renders, accounts, ...rest } = run();
  return {
    ...rest,
    sent: sent.map((job) => ({ ...job })),
    renders: renders.map((render) => ({ ...render })),
    accounts: accounts.map((account) => ({ ...account, seconds: account.seconds.map((second) => ({ ...second })) })),
  };
}
const failedOf = (evidence: Evidence) => judge(evidence).failed;

describe('the judge of the accounts demo', () => {
  it('is content with a run in fair turns', () => {
    const verdict = judge(run());
    expect(verdict).toMatchObject({ ok: true, failed: [], submitted: 10, completed: 10, billed: 10 });
    expect(verdict.accounts).toMatchObject([{ id: 'north', jobs: 10, mostInFlight: 2 }]);
    expect(verdict.accounts[0]?.slotsUsed).toBeGreaterThan(0.95);
    expect(verdict.owners.map(({ owner, jobs }) => [owner, jobs])).toEqual([
      ['flood', 6],
      ['ada', 2],
      ['bert', 2],
    ]);
  });

  it.each([
    ['a create was refused for its rate', 'createsRefused', 'createsRefusedForRate'],
    ['a create was refused for want of a place', 'createsRefused', 'createsRefusedForRoom'],
    ['a read was refused', 'readsRefused', 'readsRefused'],
  ] as const)('objects when %s after the first minute, and not within it', (_, criterion, count) => {
    const refusedAt = (second: number) =>
      but(({ accounts }) => {
        const seconds = accounts[0]?.seconds[0];
        if (seconds !== undefined) Object.assign(seconds, { atSecond: startedAtMs / 1000 + second, [count]: 1 });
      });
    expect(failedOf(refusedAt(61))).toEqual([criterion]);
    expect(failedOf(refusedAt(60))).toEqual([criterion]);
    expect(failedOf(refusedAt(59))).toEqual([]);
    expect(judge(refusedAt(59)).accounts[0]?.[criterion]).toEqual({ total: 1, afterFirstMinute: 0 });
  });

  it('objects when places stand empty while jobs wait, or when none ever waited', () => {
    expect(failedOf(run({ gapMs: 3_000 }))).toEqual(['slotsUsed']);
    expect(failedOf(run({ slots: 1 }))).toContain('slotsUsed');
    const nothingWaits = but(({ sent, renders }) => {
      for (const job of sent) job.acceptedAtMs = renders.find(({ clip }) => clip === job.clip)?.createdAtMs ?? 0;
    });
    expect(failedOf(nothingWaits)).toEqual(['slotsUsed']);
  });

  it('objects to more jobs than places', () => {
    expect(failedOf(run({ slots: 3 }))).toEqual(['slotsExceeded']);
  });

  it('objects to small owners behind the flood, and to one of whom a job was never admitted', () => {
    const inOrder = [...'ffffffffffffffaabb'];
    expect(failedOf(run({ order: inOrder }))).toEqual(['rounds']);
    const never = but(({ renders }) =>
      renders.splice(
        renders.findIndex(({ clip }) => clip === 'ada-2'),
        1,
      ),
    );
    expect(failedOf(never)).toEqual(expect.arrayContaining(['rounds', 'billed']));
  });

  it('objects to a job that did not complete, as the product says or as the provider does', () => {
    expect(failedOf(but(({ sent }) => Object.assign(sent[0] ?? {}, { completed: false })))).toEqual(['completed']);
    expect(failedOf(but(({ renders }) => Object.assign(renders[0] ?? {}, { completed: false })))).toEqual([
      'completed',
    ]);
  });

  it('objects to a job that was billed twice, also beside one that never was', () => {
    const twice = but(({ renders }) => {
      const [first] = renders;
      // Beside it the last job has no render: the numbers alone are right.
      const last = renders.at(-1);
      if (first !== undefined && last !== undefined) last.clip = first.clip;
    });
    expect(failedOf(twice)).toContain('billed');
    const more = but(({ renders }) => {
      renders.push({
        ...renders[0],
        createdAtMs: startedAtMs + 400_000,
        endToldAtMs: startedAtMs + 430_000,
      } as SeenRender);
    });
    expect(failedOf(more)).toEqual(['billed']);
  });

  it('is content with nothing at all only where nothing can be wrong', () => {
    const nothing = judge({ startedAtMs, slots: 2, flooder: 'flood', sent: [], renders: [], accounts: [] });
    expect(nothing.failed).toEqual(['slotsUsed', 'rounds', 'completed', 'billed']);
  });

  const refused = (change: Partial<SeenSecond>) =>
    but(({ accounts }) => Object.assign(accounts[0]?.seconds[0] ?? {}, change));
  // The type has a row for every criterion: a new one can't come without showing that it can fail.
  const wrong: Record<Criterion, Evidence> = {
    createsRefused: refused({ createsRefusedForRoom: 1 }),
    readsRefused: refused({ readsRefused: 1 }),
    slotsUsed: run({ gapMs: 3_000 }),
    slotsExceeded: run({ slots: 3 }),
    rounds: run({ order: [...'ffffffffffffffaabb'] }),
    completed: but(({ sent }) => Object.assign(sent[0] ?? {}, { completed: false })),
    billed: but(({ renders }) => renders.push({ ...(renders[0] as SeenRender), clip: 'another-1' })),
  };
  it.each(Object.keys(criteria) as Criterion[])('can fail by %s', (criterion) => {
    expect(judge(wrong[criterion])).toMatchObject({ ok: false, failed: expect.arrayContaining([criterion]) });
  });
});

describe('the use of places', () => {
  const job = (acceptedAtMs: number, createdAtMs: number, freeAtMs: number) => ({
    owner: 'x',
    account: 'north',
    acceptedAtMs,
    createdAtMs,
    freeAtMs,
  });

  it('counts by time, and only while something waits', () => {
    // The second job waits 40 s beside one free place of two, then 10 s beside none.
    const jobs = [job(0, 0, 100), job(0, 40, 100), job(0, 50, 100)];
    expect(slotUse(jobs, 2, 0).share).toBeCloseTo((40 + 20) / 100);
    expect(slotUse(jobs, 2, 40).share).toBe(1);
    expect(slotUse(jobs, 2, 50).share).toBeNull();
  });

  it('asks for no more than there are jobs left', () => {
    expect(slotUse([job(0, 0, 100), job(0, 20, 100)], 24, 0).share).toBe(0.5);
  });

  it('takes a place that is freed and taken in the same moment for one place', () => {
    expect(slotUse([job(0, 0, 50), job(0, 50, 90)], 1, 0)).toEqual({ share: 1, mostInFlight: 1 });
  });
});

describe('rounds', () => {
  it('count from when a job is first in its owner’s own line: earlier ones of the same owner are no delay', () => {
    const at = (owner: string, acceptedAtMs: number, createdAtMs: number) => ({
      ...{ owner, account: 'north', acceptedAtMs, createdAtMs, freeAtMs: Infinity },
    });
    const jobs = [at('f', 0, 1), at('f', 0, 3), at('f', 0, 4), at('f', 0, 5), at('a', 2, 6), at('a', 2, 7)];
    expect(roundsIn(jobs).filter(({ owner }) => owner === 'a')).toEqual([
      { owner: 'a', rounds: 3 / 2 },
      { owner: 'a', rounds: 0 },
    ]);
  });
});

describe('what the accounts demo says', () => {
  it('is a table with every account and owner, and what did not hold in words', () => {
    const text = verdictLines(judge(run({ gapMs: 3_000 }))).join('\n');
    for (const name of ['north', 'flood', 'ada', 'bert']) expect(text).toContain(name);
    expect(text).toContain('Did not hold: slots used to 95 % while anything waited.');
    expect(verdictLines(judge(run())).at(-1)).toBe('  All of it held.');
    expect(verdictLines(judge({ ...run(), renders: [] })).join('\n')).toContain('0 renders billed');
  });

  it('is one line as it goes on', () => {
    expect(progressLine(run(), startedAtMs + 75_000)).toBe(
      '  75 s  waiting 0 · in slots 0 · ended 10 · refused: 0 creates, 0 reads',
    );
  });
});

describe('the plan of the accounts demo', () => {
  it('tells the product of the limits that the provider has', () => {
    const accounts = readAccounts(accountsSetting(makeAccounts()));
    expect(accounts.map(({ keyVariable }) => keyVariable)).toEqual(makeAccounts().map((one) => one.keyVariable));
    for (const { limits } of accounts) expect(limits).toMatchObject({ maxInFlight: 24, readsPerMinute: 120 });
    expect(owners.reduce((sum, { jobs }) => sum + jobs, 0)).toBe(300);
  });

  it('knows a clip again by its name in what the provider was sent', () => {
    expect(clipNameIn(clipOf('ada-17').input)).toBe('ada-17');
  });

  it('refuses an option that it does not know, in one line', () => {
    expect(readOptions(['--json'])).toEqual({ help: false, json: true });
    expect(() => readOptions(['--jobs', '3'])).toThrow("Unknown option '--jobs'. See npm run accounts-demo -- --help.");
  });
});
