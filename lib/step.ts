import type { AdmissionHold } from './admission-hold.ts';
import { type Decision, decide, expireUnsent } from './decide.ts';
import { troubleMaxMs, unnotedWaitMs } from './due.ts';
import { JobStoreError, messageOf } from './errors.ts';
import { enter, type Fault, isActive, type Job, needsCreate } from './job.ts';
import { canonicalJson, type Json } from './json.ts';
import type { Log } from './log.ts';
import type { RunNews } from './news.ts';
import type { Outcome } from './outcome.ts';
import type { Call, JobStore, Provider, Random } from './ports.ts';
import type { RunNotes } from './run-notes.ts';

/*
 * One step of a claimed job: send it, or read its status once; decide; write what changed; say how to settle.
 * The record is always written before the due set: a job leaves the set only once its end is durable.
 */

export interface StepPorts {
  store: Pick<JobStore, 'get' | 'update'>;
  provider: Provider;
  hold: AdmissionHold;
  random: Random;
  log: Log;
  notes: Pick<RunNotes, 'asSent' | 'firstReadAt' | 'nextReadAt' | 'seenRunning' | 'ended'>;
  news: Pick<RunNews, 'address' | 'announce' | 'isUntold'>;
  /** Runs the write when its turn comes; null when the run ended before. */
  inTurn: <T>(write: () => Promise<T>) => Promise<T | null>;
  /** Redis' time at most, ms: due times are made from it. */
  nowMs: () => number;
}

export interface StepResult {
  /** `wait`: it was not sent, and goes back to its place in line. */
  settle: { kind: 'due'; atMs: number } | { kind: 'remove' } | { kind: 'wait' };
  /** The job as it is now stored, for the next read in this drain; null when that is not known. */
  job: Job | null;
  /** The job was put aside without a call. */
  parked?: boolean;
}

/** After a failed write: the verdict was not kept, so it is asked for again. */
const writeRetryMs = 15_000;
/** Until a read can tell what came of a cancel. */
const cancelTakesMs = 2_000;
/** From a read to a cancel that is sent once more. Not sooner than any wait that stands in no record. */
const cancelRetryMs = unnotedWaitMs;
/** After losing a race for the record to another writer. */
const lostRaceTriesMax = 3;

/** `answered` is called as soon as the provider has said its word: what is left is to write it down. */
export async function step(ports: StepPorts, job: Job, call: Call, answered: () => void): Promise<StepResult> {
  try {
    // Somebody died between the record and the announcement.
    if (ports.news.isUntold(job)) await ports.news.announce(job);
    if (needsCreate(job)) return await send(ports, job, call, answered);
    if (cancelIsOwed(job) && !isReadsTurn(job)) return await cancel(ports, job, call, answered);
    const outcome = await ports.provider.read(job, call);
    answered();
    if (call.lost === true) return retryLater(ports);
    return await settled(ports, job, outcome);
  } catch (error) {
    if (!(error instanceof JobStoreError)) return crashed(ports, job, error);
    ports.log.warn('record_unwritten', { jobId: job.id, error: messageOf(error) });
    return retryLater(ports);
  }
}

/** After a write that failed or lost its race: what is stored is read again before the next step. Not before `notBeforeMs`. */
export function retryLater(ports: StepPorts, notBeforeMs = 0): StepResult {
  const { atMs } = dueIn(ports, writeRetryMs);
  return { settle: { kind: 'due', atMs: Math.max(atMs, notBeforeMs) }, job: null };
}

/** A fault of our own in one job's step touches that job only. */
function crashed(ports: StepPorts, job: Job, error: unknown): Promise<StepResult> {
  ports.log.error('step_crashed', { jobId: job.id, error: messageOf(error) });
  return setAside(ports, job, { code: 'internal_error', message: messageOf(error) }, troubleMaxMs);
}

/** Notes the fault on the job and lets it rest; writes nothing else. */
export async function setAside(ports: StepPorts, job: Job, fault: Fault, delayMs: number): Promise<StepResult> {
  const noted = (current: Job): Job => {
    const nowMs = ports.nowMs();
    return { ...current, lastFault: { ...fault, atMs: nowMs }, updatedAtMs: nowMs };
  };
  try {
    const written = await ports.store.update(noted(job));
    const stored = written.kind === 'stale' ? await ports.store.get(job.id) : null;
    if (stored !== null && isActive(stored.state)) await ports.store.update(noted(stored));
  } catch (error) {
    ports.log.warn('record_unwritten', { jobId: job.id, error: messageOf(error) });
  }
  return { settle: dueIn(ports, delayMs), job: null };
}

async function send(ports: StepPorts, job: Job, call: Call, answered: () => void): Promise<StepResult> {
  const late = expireUnsent(job, ports.nowMs());
  if (late !== null) return write(ports, job, late);
  const heldForMs = ports.hold.remainingMs(ports.nowMs());
  if (heldForMs > 0) {
    return { settle: job.state === 'waiting' ? { kind: 'wait' } : dueIn(ports, heldForMs), job };
  }
  // Before the call, so that a cancel knows from now on that the provider may have the job. A job that was found as
  // submitting is written again: an earlier sender that was turned away can't put it back to waiting any more.
  const nowMs = ports.nowMs();
  // How it is sent is decided once: a repeat must be the same request to the letter.
  const mark =
    job.state === 'waiting' ? enter(ports.notes.asSent(job), 'submitting', nowMs) : { ...job, updatedAtMs: nowMs };
  const marked = await ports.store.update(mark);
  if (marked.kind === 'stale') return { settle: dueIn(ports, 0), job: null };
  const sending = marked.job;
  const outcome = await ports.provider.create(sending, call);
  answered();
  if (call.lost === true) return retryLater(ports);
  // Found as submitting, it was sent before by somebody who died or never heard the answer.
  const repeated = job.state === 'submitting';
  return settled(ports, sending, repeated ? asRepeated(outcome) : outcome);
}

function cancelIsOwed({ cancelAskedAtMs, cancelSentAtMs }: Job): boolean {
  return cancelAskedAtMs !== undefined && cancelSentAtMs === undefined;
}

/** A cancel that fails takes turns with reads: the render may end meanwhile, and whether it is lost only reads can tell. */
function isReadsTurn({ lastFault, missingReads, failuresInRow }: Job): boolean {
  return lastFault?.ofCancel === true && missingReads + failuresInRow > 0;
}

/** Tells the provider that the render is not wanted any more. What comes of it is told by the read that follows soon. */
async function cancel(ports: StepPorts, job: Job, call: Call, answered: () => void): Promise<StepResult> {
  const outcome = (await ports.provider.cancel?.(job, call)) ?? { kind: 'told' };
  answered();
  if (call.lost === true) return retryLater(ports);
  if (outcome.kind !== 'told') {
    // Whatever is wrong with the cancel, it says nothing of the render: a 404 is no missing job, a 403 no refused key.
    const retryAfterMs = 'retryAfterMs' in outcome ? outcome.retryAfterMs : null;
    return settled(ports, job, { kind: 'trouble', fault: { ...outcome.fault, ofCancel: true }, retryAfterMs });
  }
  const nowMs = ports.nowMs();
  const written = await ports.store.update({ ...job, cancelSentAtMs: nowMs, updatedAtMs: nowMs });
  // Lost to another writer, it is sent once more: the provider takes a repeat for the same request.
  return { settle: dueIn(ports, cancelTakesMs), job: written.kind === 'updated' ? written.job : null };
}

/** A create's refusal when some other call, whose end this caller does not know, may have brought the job to the provider. */
function asRepeated(outcome: Outcome): Outcome {
  const isRefusal = outcome.kind === 'refused' || outcome.kind === 'no_slot' || outcome.kind === 'denied';
  return isRefusal ? { ...outcome, repeated: true } : outcome;
}

async function settled(ports: StepPorts, job: Job, outcome: Outcome): Promise<StepResult> {
  const nowMs = ports.nowMs();
  const decision = decide(job, outcome, nowMs, ports.random());
  if (outcome.kind === 'trouble' || outcome.kind === 'denied') {
    ports.log.warn('provider_trouble', { jobId: job.id, outcome: outcome.kind, ...outcome.fault });
  }
  if (outcome.kind === 'running') ports.notes.seenRunning(job, nowMs);
  const result = await write(ports, job, decision, outcome);
  const { settle, job: stored } = result;
  if (stored === null || settle.kind !== 'due') return result;
  if (outcome.kind === 'running') {
    const nextAtMs = ports.notes.nextReadAt(stored, settle.atMs, nowMs);
    // The next call is no read then: it need not wait for a seldom one.
    return dueAt(result, cancelIsOwed(stored) ? Math.min(nextAtMs, nowMs + cancelRetryMs) : nextAtMs);
  }
  if (outcome.kind !== 'accepted') return result;
  if (cancelIsOwed(stored)) return dueAt(result, nowMs);
  // Only once it is written down: should the answer be lost, the job is looked at again soon.
  return dueAt(result, await ports.notes.firstReadAt(stored, settle.atMs, nowMs));
}

/** Makes a decision durable. Where that fails, the answer is lost, but not the wait that it told. */
async function write(ports: StepPorts, job: Job, decision: Decision, outcome?: Outcome): Promise<StepResult> {
  const notBeforeMs = decision.kind === 'change' ? toldUntilMs(decision, ports.nowMs()) : 0;
  try {
    return (await writeOrDecideAgain(ports, job, decision, outcome)) ?? retryLater(ports, notBeforeMs);
  } catch (error) {
    if (!(error instanceof JobStoreError)) throw error;
    ports.log.warn('record_unwritten', { jobId: job.id, error: messageOf(error) });
    return retryLater(ports, notBeforeMs);
  }
}

/** Until when the provider may have asked not to be called. Not our own prudence: an overdue job is read once in hours. */
function toldUntilMs({ job, dueAtMs }: Extract<Decision, { kind: 'change' }>, nowMs: number): number {
  return Math.max(job.notBeforeMs ?? 0, Math.min(dueAtMs, nowMs + unnotedWaitMs));
}

/** When somebody else wrote the record first, decides again on what they wrote. Null: not written, to be tried later. */
async function writeOrDecideAgain(
  ports: StepPorts,
  job: Job,
  first: Decision,
  outcome?: Outcome,
): Promise<StepResult | null> {
  let decision = first;
  let current = job;
  for (let tries = 1; ; tries++) {
    if (decision.kind === 'keep') return { settle: { kind: 'due', atMs: decision.dueAtMs }, job: current };
    const addressed = ports.news.address(decision.job);
    // No turn of its own where nothing is to be looked up: thousands of reads a second come through here.
    const next = addressed instanceof Promise ? await addressed : addressed;
    const written = await ports.inTurn(() => ports.store.update(next));
    if (written === null) return null;
    if (written.kind === 'updated') {
      report(ports.log, current, written.job);
      // Before the id leaves the set: should this process die now, the job is claimed again, and announced.
      if (ports.news.isUntold(written.job)) await ports.news.announce(written.job);
      if (decision.kind === 'end') {
        ports.notes.ended(written.job, outcome, ports.nowMs());
        return { settle: { kind: 'remove' }, job: null };
      }
      return { settle: afterChange(written.job, decision.dueAtMs), job: written.job };
    }
    const stored = await ports.store.get(job.id);
    if (stored === null || !isActive(stored.state)) return { settle: { kind: 'remove' }, job: null };
    if (decision.kind === 'change' && isWritten(stored, next)) {
      return { settle: afterChange(stored, decision.dueAtMs), job: stored };
    }
    if (outcome === undefined || tries === lostRaceTriesMax) return null;
    current = stored;
    // Whoever wrote it meanwhile may have sent it too.
    decision = decide(stored, asRepeated(outcome), ports.nowMs(), ports.random());
  }
}

/**
 * True when the record is what was meant to be written, but for what has been noted on its events since: it was not the race
 * that was lost but the reply, and what was heard must not count twice.
 */
function isWritten(stored: Job, meant: Job): boolean {
  const bare = (job: Job) =>
    canonicalJson({ ...job, revision: 0, events: job.events.map(({ id }) => id) } as unknown as Json);
  return stored.revision > meant.revision && bare(stored) === bare(meant);
}

/** A job that was turned away waits in line again; when its turn comes, the account's hold decides, not its own due time. */
function afterChange(job: Job, dueAtMs: number): StepResult['settle'] {
  return job.state === 'waiting' ? { kind: 'wait' } : { kind: 'due', atMs: dueAtMs };
}

function report(log: Log, before: Job, after: Job): void {
  if (before.state === after.state) return;
  log.info('job_changed', { jobId: after.id, from: before.state, to: after.state, providerJobId: after.providerJobId });
}

function dueAt(result: StepResult, atMs: number): StepResult {
  return { ...result, settle: { kind: 'due', atMs } };
}

function dueIn(ports: StepPorts, delayMs: number): { kind: 'due'; atMs: number } {
  const spreadMs = delayMs * ports.random() * 0.1;
  return { kind: 'due', atMs: Math.ceil(ports.nowMs() + delayMs + spreadMs) };
}
