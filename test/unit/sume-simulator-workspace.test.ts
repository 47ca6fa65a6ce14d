import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../infra/local/sume-simulator/job.ts';
import { isTerminal } from '../../infra/local/sume-simulator/job.ts';
import { admit, advance, moveJob, newWorkspace, queuePlace } from '../../infra/local/sume-simulator/workspace.ts';

const LANES = 4;

function makeJob(number: number, renderMs: number, createdAtMs: number): Job {
  return {
    id: `job_${number}`,
    workspace: 'ws_1',
    number,
    model: 'seedance-2-mini',
    durationSeconds: 8,
    resolution: '720p',
    input: {},
    priceMicros: 1_512_000,
    createdAtMs,
    fate: 'completed',
    renderMs,
    state: 'queued',
    startedAtMs: null,
    endsAtMs: null,
    endedAtMs: null,
  };
}

describe('a workspace of the Sume simulator', () => {
  it('starts a queued job at the very millisecond at which a lane becomes free, however late anybody looks', () => {
    const workspace = newWorkspace('ws_1');
    const jobs = [5_000, 3_000, 9_000, 7_000, 1_000, 1_000].map((renderMs, number) => makeJob(number, renderMs, 0));
    for (const job of jobs) admit(workspace, job, LANES, 0);
    expect(jobs.map((job) => job.state).slice(3)).toEqual(['processing', 'queued', 'queued']);
    expect(jobs.map((job) => queuePlace(workspace, job)).slice(4)).toEqual([0, 1]);

    advance(workspace, LANES, 1_000_000);
    expect(jobs.map((job) => job.startedAtMs)).toEqual([0, 0, 0, 0, 3_000, 4_000]);
    expect(jobs.map((job) => job.endedAtMs)).toEqual([5_000, 3_000, 9_000, 7_000, 4_000, 5_000]);
    expect(workspace.capturedMicros).toBe(6 * 1_512_000);
    expect(workspace.reservedMicros).toBe(0);
  });

  it('keeps its lanes, its queue order and its money straight through any sequence of creates, moves and waits', () => {
    const command = fc.oneof(
      fc.record({ act: fc.constant('create' as const), renderMs: fc.integer({ min: 0, max: 5_000 }) }),
      fc.record({ act: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 4_000 }) }),
      fc.record({
        act: fc.constant('move' as const),
        pick: fc.nat(),
        state: fc.constantFrom('canceled' as const, 'failed' as const, 'completed' as const, 'expired' as const),
      }),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const workspace = newWorkspace('ws_1');
        let nowMs = 0;
        for (const step of commands) {
          if (step.act === 'wait') nowMs += step.ms;
          if (step.act === 'create')
            admit(workspace, makeJob(workspace.jobs.length, step.renderMs, nowMs), LANES, nowMs);
          const job = step.act === 'move' ? workspace.jobs[step.pick % workspace.jobs.length] : undefined;
          if (job && step.act === 'move') moveJob(workspace, job, step.state, LANES, nowMs);
          advance(workspace, LANES, nowMs);

          const processing = workspace.jobs.filter((one) => one.state === 'processing');
          const queued = workspace.jobs.filter((one) => one.state === 'queued');
          expect(workspace.processingCount).toBe(processing.length);
          expect(processing.length).toBeLessThanOrEqual(LANES);
          expect(queued.length > 0 ? processing.length : LANES).toBe(LANES);
          expect(workspace.queue).toEqual(queued);
          expect(workspace.reservedMicros).toBe(1_512_000 * (processing.length + queued.length));
          const completed = workspace.jobs.filter((one) => one.state === 'completed').length;
          expect(workspace.capturedMicros).toBe(1_512_000 * completed);
          for (const one of workspace.jobs) expect(one.endedAtMs !== null).toBe(isTerminal(one.state));
        }
      }),
      { numRuns: 200 },
    );
  });
});
