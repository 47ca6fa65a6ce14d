import { createHash } from 'node:crypto';
import type { RememberedKey } from './api/idempotency.ts';
import type { Job, JobState } from './job.ts';
import { type CreatedJob, type Journal, type JournalLine, noJournal, type UsedKey } from './journal.ts';
import { admit, advance, moveJob, newWorkspace, startQueued, type Workspace } from './workspace.ts';

/** All workspaces, every job by id, every idempotency key. Changed only by `createJob` and `changeJob`, which write the journal first. */
export type World = {
  readonly seed: string;
  lanes: number;
  journal: Journal;
  readonly workspaces: Map<string, Workspace>;
  readonly jobs: Map<string, Job>;
  /** By workspace and key. */
  readonly keys: Map<string, RememberedKey>;
};

/** Takes up where the journal's lines end: same jobs, same money, same keys; the clock went on meanwhile. */
export function openWorld(options: {
  seed: string | undefined;
  freshSeed: string;
  lanes: number;
  nowMs: number;
  lines: readonly JournalLine[];
  journal: Journal;
}): World {
  const first = options.lines[0];
  const kept = first?.kind === 'opened' ? first.seed : undefined;
  const world: World = {
    seed: options.seed ?? kept ?? options.freshSeed,
    lanes: options.lanes,
    journal: noJournal,
    workspaces: new Map(),
    jobs: new Map(),
    keys: new Map(),
  };
  for (const line of options.lines) replay(world, line);
  setLanes(world, options.lanes, options.nowMs);
  world.journal = options.journal;
  const lanes = Number.isFinite(options.lanes) ? options.lanes : null;
  world.journal.append({ kind: 'opened', atMs: options.nowMs, seed: world.seed, lanes });
  return world;
}

/** The workspace of an API key is named by the key's digest, so that no key is ever written down or shown. */
export function workspaceIdOf(apiKey: string): string {
  return `ws_${createHash('sha256').update(apiKey).digest('hex').slice(0, 16)}`;
}

export function workspaceOf(world: World, apiKey: string): Workspace {
  return workspaceById(world, workspaceIdOf(apiKey));
}

/** Makes a job, and remembers the key it was asked with. */
export function createJob(world: World, created: CreatedJob, used: UsedKey | undefined): Job {
  const atMs = created.createdAtMs;
  world.journal.append({ kind: 'created', atMs, job: created, ...(used && { used }) });
  return addJob(world, created, used);
}

/** Moves a job to another state, and remembers the key it was asked with. */
export function changeJob(world: World, job: Job, state: JobState, nowMs: number, used?: UsedKey): void {
  world.journal.append({ kind: 'moved', atMs: nowMs, jobId: job.id, state, ...(used && { used }) });
  moveJob(workspaceById(world, job.workspace), job, state, world.lanes, nowMs);
  if (used) rememberKey(world, job, used);
}

export function findKey(world: World, workspace: Workspace, key: string): RememberedKey | undefined {
  return world.keys.get(`${workspace.id} ${key}`);
}

/** Moves every workspace to a time, so that counts over all of them are of the same moment. */
export function advanceAll(world: World, nowMs: number): void {
  for (const workspace of world.workspaces.values()) advance(workspace, world.lanes, nowMs);
}

function replay(world: World, line: JournalLine): void {
  if (line.kind === 'opened') {
    setLanes(world, line.lanes ?? Number.POSITIVE_INFINITY, line.atMs);
  } else if (line.kind === 'created') {
    addJob(world, line.job, line.used);
  } else {
    const job = world.jobs.get(line.jobId);
    if (job !== undefined) changeJob(world, job, line.state, line.atMs, line.used);
  }
}

function setLanes(world: World, lanes: number, nowMs: number): void {
  advanceAll(world, nowMs);
  world.lanes = lanes;
  for (const workspace of world.workspaces.values()) startQueued(workspace, lanes, nowMs);
}

function addJob(world: World, created: CreatedJob, used: UsedKey | undefined): Job {
  const job: Job = { ...created, state: 'queued', startedAtMs: null, endsAtMs: null, endedAtMs: null };
  admit(workspaceById(world, job.workspace), job, world.lanes, job.createdAtMs);
  world.jobs.set(job.id, job);
  if (used) rememberKey(world, job, used);
  return job;
}

function rememberKey(world: World, job: Job, used: UsedKey): void {
  world.keys.set(`${job.workspace} ${used.key}`, { fingerprint: used.fingerprint, jobId: job.id });
}

function workspaceById(world: World, id: string): Workspace {
  const known = world.workspaces.get(id);
  if (known !== undefined) return known;
  const workspace = newWorkspace(id);
  world.workspaces.set(id, workspace);
  return workspace;
}
