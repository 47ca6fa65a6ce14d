import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { alternatives } from '../bench/cost/alternatives.ts';
import { volumes } from '../bench/cost/assumptions.ts';
import { rangesWhere, redisPlans } from '../bench/cost/break-even.ts';
import { type CostFigures, costFiguresFrom } from '../bench/cost/cost-figures.ts';
import { readDeployed } from '../bench/cost/deployed.ts';
import { costDocument } from '../bench/cost/document.ts';
import { drainMonthOf, monthOf } from '../bench/cost/month.ts';
import { billedDollars, listDollars } from '../bench/cost/part.ts';
import { allParts, pollkeeperBill } from '../bench/cost/pollkeeper.ts';
import { type Price, prices } from '../bench/cost/prices.ts';
import { say, sayDollars, sayPrice } from '../bench/cost/say.ts';
import type { BenchFigures } from '../bench/figures.ts';
import { UsageError } from '../bench/options.ts';

const deployed = readDeployed();
const kept = JSON.parse(readFileSync('test/bench/cost/cost-figures.json', 'utf8')) as CostFigures;
/** Round numbers, to compute with by hand. */
const figures: CostFigures = {
  taken: '2026-11-29',
  machine: 'two cores',
  steady: {
    jobs: 1_000,
    readsPerSecond: 200,
    redisCommandsPerPoll: 0.03,
    redisRoundTripsPerPoll: 0.005,
    cpuSecondsPer1000Polls: 0.5,
    dynamoReadsPerPoll: 0.2,
  },
  light: { redisCommandsPerSecond: 3.6, redisRoundTripsPerSecond: 1, readsPerSecond: 0.2, cpuMsPerSecond: 5 },
  idle: { redisCommandsPerHour: 180, cpuSecondsPerHour: 2 },
  life: { jobs: 20, dynamoWrites: 5, dynamoReads: 1, redisCommandsPerSubmit: 4 },
  bullmq: { redisCommandsPerPoll: 40, redisCommandsPerHourIdle: 27_000 },
};

describe('docs/cost.md', () => {
  it('is what the kept figures, the prices and the deployed settings say', () => {
    expect(readFileSync('docs/cost.md', 'utf8')).toBe(costDocument(kept, deployed));
  });

  it('shows a number wherever it means one', () => {
    expect(costDocument(figures, deployed)).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });

  it('names every price with its source and day, and uses every one', () => {
    const used = new Set(
      [0, ...volumes].flatMap((volume) =>
        [
          ...allParts(pollkeeperBill(volume, figures, deployed)),
          ...alternatives.flatMap(({ parts }) => parts(volume, figures)),
        ].map(({ price }) => price),
      ),
    );
    expect([...used].sort()).toEqual(Object.keys(prices).sort());
    for (const { source, seen } of Object.values<Price>(prices)) {
      expect(source).toMatch(/^https:\/\//);
      expect(seen).toMatch(/^\d{4}-\d\d-\d\d$/);
    }
  });
});

describe('a month of Pollkeeper', () => {
  it('without renders is three commands a minute and the schedule’s short runs', () => {
    const { month, polling, record, api } = pollkeeperBill(0, figures, deployed);
    expect(month).toMatchObject({ polls: 0, drainSeconds: 0, wakes: 0, commands: 131_400, idleRuns: 43_800 });
    const of = (what: string) => polling.find((part) => part.what === what)?.quantity;
    expect(of('polling: Redis')).toBe(131_400);
    expect(of('polling: drain, time')).toBeCloseTo(43_800 * 0.25 * 0.5, 6);
    expect(listDollars(api)).toBe(0);
    // Eight shards, two pages each.
    expect(listDollars(record)).toBeCloseTo((8_760 * 8 * 2 * 0.5 * 0.125) / 1e6, 9);
  });

  it('has a drain awake for as long as renders that come at random are under way', () => {
    const month = drainMonthOf(480, figures, deployed);
    expect(month.active).toBe(1);
    expect(month.awakeShare).toBeCloseTo(1 - Math.exp(-1), 9);
    expect(month.wakes).toBeCloseTo(480 * (730 / 24) * Math.exp(-1), 6);
    expect(month.drainSeconds).toBeCloseTo((2_628_000 * (1 - Math.exp(-1)) * 65) / 60 + month.wakes * 30, 3);
  });

  it('needs no more commands a second than the steady benchmark, and with one render three and what its polls add', () => {
    expect(drainMonthOf(100_000, figures, deployed).commandsPerSecond).toBeCloseTo(6, 9);
    const few = drainMonthOf(1, figures, deployed);
    expect(few.commandsPerSecond).toBeCloseTo(3 + 3 * few.pollsPerSecond, 9);
  });

  it('takes the fixed plan as soon as the commands cost more than it', () => {
    const priceOf = (rendersPerDay: number) =>
      pollkeeperBill(rendersPerDay, figures, deployed).polling.find(({ what }) => what === 'polling: Redis')?.price;
    const { fixedRendersPerDay } = redisPlans(figures, deployed);
    expect([priceOf(fixedRendersPerDay), priceOf(fixedRendersPerDay + 1)]).toEqual(['redisCommand', 'redisFixed']);
  });
});

describe('the other solutions', () => {
  it('cost by the poll, and nothing when idle, except where something is always there', () => {
    const idle = Object.fromEntries(alternatives.map(({ name, parts }) => [name, listDollars(parts(0, figures))]));
    const notFree = Object.keys(idle).filter((name) => idle[name] !== 0);
    expect(notFree).toEqual(['SQS + Lambda', 'Always-on worker: BullMQ on Fargate, its Redis at Upstash']);
  });

  it('have Step Functions bill three transitions a poll and two a render', () => {
    const [transitions] = alternatives[0]?.parts(1, figures) ?? [];
    expect(transitions?.quantity).toBeCloseTo(monthOf(1).renders * (12 * 3 + 2), 6);
  });
});

describe('a bill', () => {
  it('adds up list prices, and leaves out what is free: the first units of all parts together', () => {
    const parts = [
      { what: 'a', price: 'lambdaRequest', quantity: 900_000, how: '' },
      { what: 'b', price: 'lambdaRequest', quantity: 1_100_000, how: '' },
    ] as const;
    expect(listDollars(parts)).toBeCloseTo(0.4, 9);
    expect(billedDollars(parts)).toBeCloseTo(0.2, 9);
  });

  it('is for everything as soon as a free plan does not suffice', () => {
    const commands = (quantity: number) => [{ what: '', price: 'redisCommand' as const, quantity, how: '' }];
    expect(billedDollars(commands(500_000))).toBe(0);
    expect(billedDollars(commands(600_000))).toBeCloseTo(1.2, 9);
  });
});

describe('break-evens', () => {
  it('are found to the render, at either end', () => {
    expect(rangesWhere((renders) => renders <= 347)).toEqual([{ from: 0, to: 347 }]);
    expect(rangesWhere((renders) => renders >= 4_880)).toEqual([{ from: 4_880, to: null }]);
    expect(rangesWhere((renders) => renders > 10 && renders < 1_000)).toEqual([{ from: 11, to: 999 }]);
    expect(rangesWhere(() => true)).toEqual([{ from: 0, to: null }]);
    expect(rangesWhere(() => false)).toEqual([]);
  });
});

describe('what is shown', () => {
  it('has three digits that matter, thousands apart, and cents', () => {
    expect([0, 0.0337, 2.0833, 43.13, 131_400, 18_979_164.7].map(say)).toEqual([
      ...['0', '0.0337', '2.08', '43.1', '131,400', '18,979,165'],
    ]);
    expect([0, 0.004, 0.356, 99.5, 2911.2].map(sayDollars)).toEqual(['$0', 'under $0.01', '$0.36', '$99.50', '$2,911']);
    expect([prices.lambdaRequest, prices.redisFixed, prices.fargateMemory].map(sayPrice)).toEqual([
      ...['$0.20 per million requests', '$10 per month', '$0.00356 per GB-hour'],
    ]);
  });
});

describe('the figures of a benchmark', () => {
  const bench = { quick: false, runs: [], idle: [], light: null, life: null } as unknown as BenchFigures;

  it('are refused when they were measured in small, or lack a scenario', () => {
    expect(() => costFiguresFrom({ ...bench, quick: true }, '')).toThrow('a --quick benchmark');
    expect(() => costFiguresFrom(bench, '')).toThrow(
      new UsageError("The benchmark's figures lack S1; run it with at least S1 S4 light life."),
    );
    const run = { scenario: 'S1', contender: 'pollkeeper', misbehaved: ['lost 3 jobs'] };
    expect(() => costFiguresFrom({ ...bench, runs: [run] } as unknown as BenchFigures, '')).toThrow('lost 3 jobs');
  });
});

describe('npm run cost', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cost-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const cost = (...args: string[]) =>
    spawnSync(process.execPath, ['--import', 'tsx', 'test/bench/cost/write-cost.ts', ...args], { encoding: 'utf8' });

  it('with --check agrees with what is there', () => {
    expect(cost('--check')).toMatchObject({ status: 0, stderr: '' });
  });

  it('ends with code 2 and one line when it can’t use what it is given', () => {
    const broken = join(folder, 'broken.json');
    writeFileSync(broken, 'no JSON');
    const other = join(folder, 'other.json');
    writeFileSync(other, '{}');
    for (const args of [[join(folder, 'none.json')], [broken], [other], ['--fast'], ['a', 'b'], ['--check', 'a']]) {
      const { status, stderr } = cost(...args);
      expect(stderr.trim().split('\n'), args.join(' ')).toHaveLength(1);
      expect(stderr).toContain('Usage: npm run cost');
      expect(status).toBe(2);
    }
  });
});
