import { describe, expect, it } from 'vitest';
import { percentile, spreadOf } from '../bench/percentiles.ts';
import { ReadWatch } from '../bench/read-watch.ts';

describe('percentiles', () => {
  it('are by nearest rank, so every one of them was really measured', () => {
    const ten = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    expect([0, 0.5, 0.95, 0.99, 1].map((share) => percentile(ten, share))).toEqual([1, 5, 10, 10, 10]);
    expect(percentile([7], 0.5)).toBe(7);
  });

  it('of an unsorted list take numbers as numbers, and of an empty one say nothing', () => {
    expect(spreadOf([100, 9, -3])).toEqual({ p50: 9, p95: 100, p99: 100, max: 100, count: 3 });
    expect(spreadOf([])).toEqual({ p50: null, p95: null, p99: null, max: null, count: 0 });
  });
});

describe('what the provider’s side sees', () => {
  const plan = { dueAtMs: [1_000, 2_000], polls: 2, hintMs: 5_000 };

  it('a read is late or early by the hint that the last whole answer gave', () => {
    const watch = new ReadWatch(plan);
    read(watch, 0, 1_004, 1_050);
    watch.arrived(0, 6_060);
    const report = watch.report();
    expect(report.firstReadLatenessMs.max).toBe(4);
    expect(report.latenessMs).toMatchObject({ max: 10, count: 1 });
    expect(report.early).toBe(0);
  });

  it('a read before the hint is early, and one before the first due time is not', () => {
    const watch = new ReadWatch(plan);
    read(watch, 0, 900, 950);
    watch.arrived(0, 5_949.5);
    expect(watch.report()).toMatchObject({ early: 1 });
  });

  it('a second read while one is under way is a duplicate, and so is one after the end', () => {
    const watch = new ReadWatch(plan);
    watch.arrived(0, 1_000);
    watch.arrived(0, 1_001);
    expect(watch.answered(0, 1_050)).toBe('running');
    expect(watch.answered(0, 1_051)).toBe('ended');
    expect(watch.report().duplicate).toBe(1);
    expect(read(watch, 0, 9_000, 9_050)).toBe('ended');
    expect(watch.report()).toMatchObject({ duplicate: 2, ended: 1, unfinished: 1, reads: 3 });
  });

  it('a broken connection leaves the job due as it was and lets the next read be the only one', () => {
    const watch = new ReadWatch(plan);
    read(watch, 0, 1_000, 1_050);
    watch.arrived(0, 6_050);
    watch.cut(0);
    watch.arrived(0, 6_100);
    const report = watch.report();
    expect(report).toMatchObject({ cut: 1, duplicate: 0, early: 0 });
    expect(report.latenessMs.max).toBe(50);
  });

  it('recovery is counted from the kill for what was due then, and from the due time for what fell due later', () => {
    const watch = new ReadWatch({ ...plan, polls: 3 });
    read(watch, 0, 1_000, 1_050);
    read(watch, 1, 2_000, 2_050);
    watch.arrived(0, 6_050);
    watch.killed(6_080);
    watch.cut(0);
    read(watch, 0, 16_080, 16_130);
    read(watch, 1, 9_050, 9_100);
    expect(watch.report().recoveryMs).toMatchObject({ max: 10_000, p50: 2_000, count: 2 });
  });

  it('a job that was answered since the last kill is not recovering from it', () => {
    const watch = new ReadWatch({ ...plan, polls: 3 });
    watch.killed(900);
    read(watch, 0, 1_000, 1_050);
    read(watch, 0, 6_500, 6_550);
    expect(watch.report().recoveryMs).toMatchObject({ count: 1, max: 0 });
  });

  it('knows no job beyond its plan until one is created', () => {
    const watch = new ReadWatch({ ...plan, dueAtMs: [] });
    expect(watch.arrived(0, 1)).toBe(false);
    expect(watch.add(1)).toBe(0);
    expect(watch.arrived(0, 2)).toBe(true);
    expect(watch.report()).toMatchObject({ reads: 1, jobs: 1 });
  });
});

function read(watch: ReadWatch, job: number, arrivedAtMs: number, answeredAtMs: number): 'running' | 'ended' {
  watch.arrived(job, arrivedAtMs);
  return watch.answered(job, answeredAtMs);
}
