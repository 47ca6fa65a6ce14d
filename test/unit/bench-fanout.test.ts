import { cpus } from 'node:os';
import { describe, expect, it } from 'vitest';
import { type FanoutFigures, type FanoutRow, rowOf } from '../bench/fanout.ts';
import { fanoutTable } from '../bench/fanout-table.ts';
import type { BenchFigures, RunFigures } from '../bench/figures.ts';
import { startInvokeEndpoint } from '../bench/invoke-endpoint.ts';
import { misbehaviourIn } from '../bench/judge-run.ts';
import { fullSize } from '../bench/plan.ts';
import { evaluateTargets, targetsMissed } from '../bench/targets.ts';

const none = { p50: null, p95: null, p99: null, max: null, count: 0 };
const parts = { worker: 0.1, redis: 0, provider: 0.1, bridge: 0, dynamo: 0 };

describe('a run with several drains', () => {
  const one = rowOf(run({ reads: 2_000, lastsSeconds: 15.2 }), 1, 800, undefined);

  it('is measured to the end of the last answer', () => {
    expect(one).toMatchObject({ readsPerSecond: 125, idealReadsPerSecond: 125, idealRatio: 1, ratioToOne: 1 });
  });

  it('is compared with one drain, and with what the lanes allow', () => {
    const two = rowOf(run({ reads: 2_000, lastsSeconds: 7.2 }), 2, 800, one);
    expect(two).toMatchObject({ readsPerSecond: 250, idealReadsPerSecond: 250, idealRatio: 1, ratioToOne: 2 });
  });

  it('has spent the cores when more than nine tenths of them are busy', () => {
    const busy = (cores: number) =>
      rowOf(run({ busyCores: { ...parts, worker: cores }, foreignCores: 0 }), 4, 800, one).coresSpent;
    expect([busy(0.8 * cpus().length), busy(0.95 * cpus().length)]).toEqual([false, true]);
  });
});

describe('the fan-out’s targets', () => {
  it('ask for nearly as many times the reads as there are drains', () => {
    expect(missed([row(1, 1), row(2, 1.85), row(4, 3.3)])).toEqual([]);
    expect(missed([row(1, 1), row(2, 1.7), row(4, 3.1)])).toEqual([
      'fan-out reads/s of 2 drains / of 1: 1.7 instead of at least 1.8',
      'fan-out reads/s of 4 drains / of 1: 3.1 instead of at least 3.2',
    ]);
  });

  it('do not judge a ratio when the cores were spent or others used them', () => {
    expect(missed([row(1, 1), { ...row(2, 1.1), coresSpent: true }, { ...row(4, 2), noisy: true }])).toEqual([]);
  });

  it('allow no duplicate read, no early one and no lost job, in the late drain’s run either', () => {
    expect(missed([{ ...row(1, 1), duplicate: 1 }], { run: run({ lost: 2 }) })).toEqual([
      'fan-out jobs lost, early or duplicate reads: 3 instead of at most 0',
    ]);
  });

  it('want helpers to be asked for, and to leave calm', () => {
    expect(missed([row(1, 1)], { helpers: [] })).toEqual([
      'fan-out helpers that a late drain asked for: 0 instead of at least 1',
    ]);
    expect(missed([row(1, 1)], { helpers: [{ ...helper, ended: 'stayed', leftAtSeconds: null }] })).toEqual([
      'fan-out helpers that did not leave when the lag was gone: 1 instead of at most 0',
    ]);
  });

  it('are neither met nor missed without a fan-out', () => {
    const fanout = evaluateTargets(figuresWith(null)).filter(({ name }) => name.startsWith('fan-out'));
    expect(fanout.map(({ met }) => met)).toEqual([null, null, null, null, null]);
  });
});

describe('the fan-out’s table', () => {
  it('has a line for each number of drains, and one for each helper', () => {
    const table = fanoutTable(fanoutOf([row(1, 1), { ...row(4, 2), coresSpent: true }], {}));
    expect(table).toMatch(/^1 process +125 +1 /m);
    expect(table).toContain('4 processes: the cores are spent; its ratio says nothing.');
    expect(table).toContain('A late drain: helpers asked for: 1, 500 of 2000 reads by them');
    expect(table).toContain('asked for after 3.12 s, 500 reads, left after 14.1 s (calm)');
    expect(table).not.toMatch(/NaN|undefined/);
  });
});

describe('a late drain', () => {
  it('is not said to start late: its jobs were overdue before it began', () => {
    const late = run({ firstReadLatenessMs: { ...none, p50: 9_000, count: 1 } });
    expect(misbehaviourIn(late, fullSize.fanout.late)).toEqual([]);
    expect(misbehaviourIn(late, fullSize.steady)).toEqual(['started late']);
  });
});

describe('the invoke endpoint', () => {
  it('takes asynchronous invokes only, and hands their events over', async () => {
    const events: string[] = [];
    const endpoint = await startInvokeEndpoint((event) => void events.push(event));
    const invoke = (type: string, body: string) =>
      fetch(`${endpoint.url}/2015-03-31/functions/drain/invocations`, {
        method: 'POST',
        headers: { 'x-amz-invocation-type': type },
        body,
      });
    expect((await invoke('Event', '{"helper":true}')).status).toBe(202);
    expect((await invoke('Event', '')).status).toBe(202);
    expect((await invoke('RequestResponse', '{}')).status).toBe(400);
    endpoint.close();
    expect(events).toEqual(['{"helper":true}', '{}']);
  });
});

const helper: FanoutFigures['late']['helpers'][number] = {
  event: '{"helper":true}',
  askedAtSeconds: 3.12,
  leftAtSeconds: 14.1,
  ended: 'calm',
  steps: 500,
  cpuSeconds: 0.5,
};

function missed(rows: FanoutRow[], late: Partial<FanoutFigures['late']> = {}): string[] {
  return targetsMissed(evaluateTargets(figuresWith(fanoutOf(rows, late))));
}

function fanoutOf(rows: FanoutRow[], late: Partial<FanoutFigures['late']>): FanoutFigures {
  return { answerMs: 800, rows, late: { run: run({}), helpers: [helper], ...late } };
}

function figuresWith(fanout: FanoutFigures | null): BenchFigures {
  const machine = { hz: 100, cores: 2, cpu: '', node: '20', redis: '7', bullmq: '6' };
  const nothing = { runs: [], idle: [], life: null, cold: null, growth: null, light: null };
  return { quick: false, machine, seconds: 1, ...nothing, fanout };
}

function row(processes: number, ratioToOne: number): FanoutRow {
  const ideal = { idealReadsPerSecond: 125 * processes, idealRatio: ratioToOne / processes, coresBusy: 1 };
  return { ...run({ readsPerSecond: 125 * ratioToOne }), processes, ratioToOne, ...ideal, coresSpent: false };
}

function run(given: Partial<RunFigures>): RunFigures {
  return {
    ...{ scenario: 'fanout', contender: 'pollkeeper', concurrency: 100, jobs: 1_000, ended: 1_000, unfinished: 0 },
    ...{ reads: 2_000, readsPerSecond: 125, lastsSeconds: 16, early: 0, duplicate: 0, cut: 0, lost: 0 },
    ...{ latenessMs: none, firstReadLatenessMs: none, recoveryMs: none },
    ...{ cpuSecondsPer1000Polls: 1, peakMegabytes: 100, redisCommandsPerPoll: 0.03, redisRoundTripsPerPoll: 0.005 },
    ...{ redisCpuSecondsPer1000Polls: 0.1, dynamoReadsPerJob: 1, dynamoWritesPerJob: 1, busyCores: parts },
    ...{ foreignCores: 0, noisy: false, misbehaved: [] },
    ...given,
  };
}
