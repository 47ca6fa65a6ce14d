import { describe, expect, it } from 'vitest';
import { drawChart } from '../bench/chart.ts';
import { grownSince } from '../bench/cold-start.ts';
import type { BenchFigures, RunFigures } from '../bench/figures.ts';
import { misbehaviourIn } from '../bench/judge-run.ts';
import { fullSize } from '../bench/plan.ts';
import { commandCalls, roundTripsIn } from '../bench/redis-meter.ts';
import { scenarioTable, show } from '../bench/tables.ts';
import { evaluateTargets, targetsMissed } from '../bench/targets.ts';

describe('targets', () => {
  it('that were not measured are neither met nor missed', () => {
    const targets = evaluateTargets(figuresWith([]));
    expect(targets.every(({ met }) => met === null)).toBe(true);
    expect(targetsMissed(targets)).toEqual([]);
  });

  it('compare with the best peer of the same scenario, value for value', () => {
    const runs = [
      run('bullmq', { latenessMs: spread(4, 90) }),
      run('zrem-loop', { latenessMs: spread(900, 60) }),
      run('pollkeeper', { latenessMs: spread(2, 20) }),
    ];
    expect(met(runs, 'S1 p50 lateness / best peer')).toMatchObject({ value: 0.5, met: true });
    expect(met(runs, 'S1 p99 lateness / best peer')).toMatchObject({ value: 0.3333, met: true });
  });

  it('do not compare with a peer that misbehaved', () => {
    const runs = [
      run('bullmq', { latenessMs: spread(1, 1), misbehaved: ['lost 3 jobs'] }),
      run('zrem-loop', { latenessMs: spread(900, 990) }),
      run('pollkeeper', { latenessMs: spread(2, 20) }),
    ];
    expect(met(runs, 'S1 p50 lateness / best peer')).toMatchObject({ value: 0.0022, met: true });
    expect(met(runs, 'S1 peak memory / BullMQ')).toMatchObject({ value: null, met: null });
  });

  it('that are missed are told with value and bound', () => {
    const runs = [
      run('limit', { scenario: 'S2', readsPerSecond: 2_000 }),
      run('pollkeeper', { scenario: 'S2', readsPerSecond: 1_000 }),
    ];
    expect(targetsMissed(evaluateTargets(figuresWith(runs)))).toEqual([
      'S2 reads/s at 100 / bare limit: 0.5 instead of at least 0.95',
    ]);
  });

  it('count a read too many as wrong, except where a kill makes it so', () => {
    const name = 'jobs lost, early or duplicate reads';
    expect(met([run('pollkeeper', { duplicate: 1 })], name)).toMatchObject({ value: 1, met: false });
    expect(met([run('pollkeeper', { scenario: 'K1', duplicate: 1 })], name)).toMatchObject({ met: true });
    expect(met([run('pollkeeper', { scenario: 'K1', lost: 1 })], name)).toMatchObject({ value: 1, met: false });
  });
});

describe('misbehaviour', () => {
  it('is to lose jobs, to be stopped unfinished, to start late', () => {
    const late = { firstReadLatenessMs: spread(4_000, 5_000) };
    expect(misbehaviourIn(run('zrem-loop', { lost: 2, unfinished: 5, ...late }), fullSize.steady)).toEqual([
      'lost 2 jobs',
      'stopped after 60 s with 3 jobs to go',
      'started late',
    ]);
  });

  it('is not what saturation or a kill bring with them', () => {
    const late = { firstReadLatenessMs: spread(4_000, 5_000) };
    expect(misbehaviourIn(run('bullmq', late), fullSize.saturation)).toEqual([]);
    expect(misbehaviourIn(run('bullmq', { duplicate: 1 }), fullSize.kills)).toEqual([]);
    expect(misbehaviourIn(run('bullmq', { duplicate: 1 }), fullSize.steady)).toEqual(['1 duplicate reads']);
  });
});

describe('Redis’ own counts', () => {
  const stats = [
    '# Commandstats',
    'cmdstat_evalsha:calls=10,usec=1,usec_per_call=1,rejected_calls=0,failed_calls=0',
    'cmdstat_zadd:calls=7,usec=1,usec_per_call=1,rejected_calls=0,failed_calls=0',
    'cmdstat_bzpopmin:calls=3,usec=1,usec_per_call=1,rejected_calls=0,failed_calls=0',
    'cmdstat_config|resetstat:calls=1,usec=1,usec_per_call=1,rejected_calls=0,failed_calls=0',
    'cmdstat_info:calls=5,usec=1,usec_per_call=1,rejected_calls=0,failed_calls=0',
  ].join('\r\n');

  it('leave out what the benchmark itself asked', () => {
    expect([...commandCalls(stats)]).toEqual([
      ['evalsha', 10],
      ['zadd', 7],
      ['bzpopmin', 3],
    ]);
  });

  it('tell round trips from commands inside scripts', () => {
    expect(roundTripsIn(commandCalls(stats))).toBe(13);
    expect(roundTripsIn(new Map([['zadd', 7]]))).toBe(7);
  });
});

describe('what is shown', () => {
  it('has three digits that matter', () => {
    const shown = [0, 0.02777, 0.5, 1.234, 47.26, 1641.4, 12_345, null].map(show);
    expect(shown).toEqual(['0', '0.0278', '0.500', '1.23', '47.3', '1641', '12345', '–']);
  });

  it('is a row for each contender and the ratio to the best peer below', () => {
    const table = scenarioTable([
      run('bullmq', { latenessMs: spread(4, 90) }),
      run('pollkeeper', { latenessMs: spread(2, 30), foreignCores: 0.5, noisy: true }),
    ]);
    expect(table.split('\n')[0]).toBe('S1 steady, 1000 jobs, 100 at a time');
    expect(table).toMatch(/^Pollkeeper \/ best peer +0\.500× +0\.333×/m);
    expect(table).toContain("Pollkeeper: others used 0.5 cores; don't trust its times.");
    expect(scenarioTable([])).toBe('');
  });

  it('is drawn with a bar for each contender, and nothing for what was not measured', () => {
    const svg = drawChart(figuresWith([run('bullmq', {}), run('pollkeeper', {})]));
    expect(svg.match(/<rect /g)).toHaveLength(8);
    expect(svg).toContain('S1 steady: p99 lateness');
    expect(svg).not.toContain('S2 saturation');
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('is drawn for a run without anything too', () => {
    expect(drawChart(figuresWith([]))).not.toMatch(/<rect |NaN|Infinity/);
  });
});

describe('package growth', () => {
  const baseline = { drain: { bundleBytes: 1_000, zipBytes: 300 } };

  it('is told above 15%, zipped or not', () => {
    expect(grownSince(baseline, [{ name: 'drain', bundleBytes: 1_150, zipBytes: 345 }])).toEqual([]);
    expect(grownSince(baseline, [{ name: 'drain', bundleBytes: 1_000, zipBytes: 348 }])).toEqual([
      'drain grew by 16.0%',
    ]);
    expect(grownSince(baseline, [{ name: 'drain', bundleBytes: 1_200, zipBytes: 300 }])).toEqual([
      'drain grew by 20.0%',
    ]);
  });

  it('of a new function is none', () => {
    expect(grownSince(baseline, [{ name: 'deliver', bundleBytes: 9_999, zipBytes: 9_999 }])).toEqual([]);
  });
});

function met(runs: RunFigures[], name: string) {
  return evaluateTargets(figuresWith(runs)).find((target) => target.name === name);
}

function figuresWith(runs: RunFigures[]): BenchFigures {
  const machine = { hz: 100, cores: 2, cpu: 'a & b', node: '20', redis: '7', bullmq: '5' };
  const nothing = { idle: [], life: null, cold: null, growth: null, fanout: null, light: null };
  return { quick: false, machine, seconds: 1, runs, ...nothing };
}

function spread(p50: number, p99: number) {
  return { p50, p95: p99, p99, max: p99, count: 100 };
}

function run(contender: RunFigures['contender'], given: Partial<RunFigures>): RunFigures {
  return {
    scenario: 'S1',
    contender,
    concurrency: 100,
    jobs: 1_000,
    ended: 1_000,
    unfinished: 0,
    reads: 6_000,
    latenessMs: spread(2, 20),
    firstReadLatenessMs: spread(2, 20),
    recoveryMs: { p50: null, p95: null, p99: null, max: null, count: 0 },
    early: 0,
    duplicate: 0,
    cut: 0,
    readsPerSecond: 200,
    lastsSeconds: 30,
    cpuSecondsPer1000Polls: 0.5,
    peakMegabytes: 100,
    redisCommandsPerPoll: 0.03,
    redisRoundTripsPerPoll: 0.005,
    redisCpuSecondsPer1000Polls: 0.1,
    dynamoReadsPerJob: 1,
    dynamoWritesPerJob: 1,
    busyCores: { worker: 0.1, redis: 0, provider: 0, bridge: 0, dynamo: 0 },
    lost: 0,
    foreignCores: 0,
    noisy: false,
    misbehaved: [],
    ...given,
  };
}
