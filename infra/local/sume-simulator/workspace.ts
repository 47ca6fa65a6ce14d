import { isTerminal, type Job, type JobState, usageStatus } from './job.ts';
import { popRender, pushRender, type Render } from './render/render-heap.ts';

/**
 * Everything of one API key: its jobs, its lanes and its queue.
 *
 *   admit ──▶ queued ──(a lane frees up, first in first out)──▶ processing ──(renderMs later)──▶ its fate
 *                └───────────── cancel, or forced ─────────────────┘
 *
 * Nothing here runs on a timer. `advance` moves the workspace to a time, and a lane's next render starts at the very
 * millisecond at which the one before ended, however late somebody looks. So the state is a function of the commands and the clock.
 */
export type Workspace = {
  readonly id: string;
  readonly jobs: Job[];
  readonly queue: Job[];
  readonly renders: Render[];
  processingCount: number;
  reservedMicros: number;
  capturedMicros: number;
};

export function newWorkspace(id: string): Workspace {
  return { id, jobs: [], queue: [], renders: [], processingCount: 0, reservedMicros: 0, capturedMicros: 0 };
}

/** Takes over a new job: into a free lane, else to the end of the queue. The caller has checked that there is room. */
export function admit(workspace: Workspace, job: Job, lanes: number, nowMs: number): void {
  advance(workspace, lanes, nowMs);
  workspace.jobs.push(job);
  workspace.reservedMicros += job.priceMicros;
  workspace.queue.push(job);
  startQueued(workspace, lanes, nowMs);
}

/** Ends every render whose time has come and starts the queued ones in the lanes that became free. */
export function advance(workspace: Workspace, lanes: number, nowMs: number): void {
  for (let first = workspace.renders[0]; first !== undefined && first.endsAtMs <= nowMs; first = workspace.renders[0]) {
    popRender(workspace.renders);
    const { job, endsAtMs } = first;
    if (job.state !== 'processing' || job.endsAtMs !== endsAtMs) continue;
    workspace.processingCount -= 1;
    enter(workspace, job, job.fate, endsAtMs);
    startQueued(workspace, lanes, endsAtMs);
  }
}

/** Moves a job to a state now, whatever it was doing. Terminal jobs can be moved too: that is for tests only. */
export function moveJob(workspace: Workspace, job: Job, state: JobState, lanes: number, nowMs: number): void {
  advance(workspace, lanes, nowMs);
  if (job.state === 'processing') workspace.processingCount -= 1;
  const place = workspace.queue.indexOf(job);
  if (place >= 0) workspace.queue.splice(place, 1);
  if (state === 'processing') {
    start(workspace, job, nowMs);
  } else {
    if (state === 'queued') workspace.queue.push(job);
    enter(workspace, job, state, nowMs);
  }
  startQueued(workspace, lanes, nowMs);
}

/** Place in the queue from 0, or -1 for a job that is not queued. */
export function queuePlace(workspace: Workspace, job: Job): number {
  return job.state === 'queued' ? workspace.queue.indexOf(job) : -1;
}

/** When the next lane becomes free, in Unix milliseconds; undefined when nothing renders. */
export function nextLaneAtMs(workspace: Workspace): number | undefined {
  const ends = workspace.renders.flatMap(({ job, endsAtMs }) =>
    job.state === 'processing' && job.endsAtMs === endsAtMs ? [endsAtMs] : [],
  );
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** Starts waiting jobs, first in first out, as long as a lane is free. */
export function startQueued(workspace: Workspace, lanes: number, nowMs: number): void {
  while (workspace.processingCount < lanes) {
    const job = workspace.queue.shift();
    if (job === undefined) return;
    start(workspace, job, nowMs);
  }
}

function start(workspace: Workspace, job: Job, nowMs: number): void {
  enter(workspace, job, 'processing', nowMs);
  job.startedAtMs = nowMs;
  job.endsAtMs = nowMs + job.renderMs;
  workspace.processingCount += 1;
  pushRender(workspace.renders, { job, endsAtMs: job.endsAtMs });
}

function enter(workspace: Workspace, job: Job, state: JobState, nowMs: number): void {
  moveMoney(workspace, job, -1);
  job.state = state;
  job.endedAtMs = isTerminal(state) ? nowMs : null;
  if (state === 'queued') {
    job.startedAtMs = null;
    job.endsAtMs = null;
  }
  moveMoney(workspace, job, 1);
}

function moveMoney(workspace: Workspace, job: Job, sign: 1 | -1): void {
  const usage = usageStatus(job.state);
  if (usage === 'reserved') workspace.reservedMicros += sign * job.priceMicros;
  if (usage === 'captured') workspace.capturedMicros += sign * job.priceMicros;
}
