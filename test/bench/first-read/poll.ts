import { decide } from '../../../lib/decide.ts';
import { FirstReads } from '../../../lib/first-read.ts';
import { acceptedJob, enter, type Job } from '../../../lib/job.ts';
import { Dice } from '../../sim/dice.ts';
import { MemoryRenderTimes } from '../../support/memory-render-times.ts';
import { outcomeAt, type Render } from './renders.ts';

/*
 * Reads all renders to their end in virtual time, with the real decisions and the real first reads. As in life, a run of
 * the drain lasts a minute and forgets what it saw; only what it wrote to the store is known to the next one.
 */

/** A render whose end is known. Times in ms. */
export interface Known {
  render: Render;
  reads: number;
  /** From its end at the provider until we know it. */
  newsMs: number;
  foundAtMs: number;
}

const runMs = 60_000;
/** From a due time to the provider's answer; the provider looks half way. */
const callMs = 200;
const deadlineMs = 24 * 3_600_000;

interface Due {
  atMs: number;
  render: Render;
  job: Job;
  reads: number;
}

export async function poll(renders: readonly Render[], adaptiveFirstRead: boolean): Promise<Known[]> {
  const store = new MemoryRenderTimes();
  const open = () => new FirstReads({ store, clock: timeless, log: quiet }, { adaptiveFirstRead });
  const dice = new Dice('poll');
  const due = new DueList(renders);
  const known: Known[] = [];
  let firstReads = open();
  let run = 0;
  for (let next = due.take(); next !== null; next = due.take()) {
    const nowMs = next.atMs + callMs;
    if (run !== Math.floor(next.atMs / runMs)) {
      run = Math.floor(next.atMs / runMs);
      await firstReads.flush();
      firstReads = open();
    }
    const { render, job } = next;
    const isCreate = job.state === 'submitting';
    const heard = outcomeAt(render, nowMs - callMs / 2 - render.sentAtMs);
    const outcome = isCreate ? accepted(render) : heard;
    const decision = decide(job, outcome, nowMs, dice.roll());
    const reads = next.reads + (isCreate ? 0 : 1);
    if (decision.kind === 'end') {
      firstReads.ended(decision.job, nowMs);
      known.push({ render, reads, newsMs: nowMs - render.sentAtMs - render.endsMs, foundAtMs: nowMs });
      continue;
    }
    if (heard.kind === 'running' && !isCreate) firstReads.seenRunning(job, nowMs);
    const after = decision.kind === 'change' ? decision.job : job;
    const atMs = isCreate ? await firstReads.accepted(after, decision.dueAtMs, nowMs) : decision.dueAtMs;
    due.add({ atMs, render, job: after, reads });
  }
  return known;
}

function accepted(render: Render) {
  const answer = outcomeAt({ ...render, endsMs: Number.POSITIVE_INFINITY }, 0);
  return {
    ...(answer as Extract<typeof answer, { kind: 'running' }>),
    kind: 'accepted' as const,
    providerJobId: render.id,
  };
}

function sending({ id, input, sentAtMs }: Render): Job {
  const given = { id, owner: 'acme', account: 'sume', input, fingerprint: '', metadata: {} };
  return enter(acceptedJob({ ...given, deadlineAtMs: sentAtMs + deadlineMs }, sentAtMs), 'submitting', sentAtMs);
}

/** Renders still to be sent, in their order, and the few that are under way. */
class DueList {
  readonly #unsent: Render[];
  readonly #due: Due[] = [];

  constructor(renders: readonly Render[]) {
    this.#unsent = renders.toReversed();
  }

  add(entry: Due): void {
    this.#due.push(entry);
  }

  take(): Due | null {
    let first = 0;
    for (const [place, { atMs }] of this.#due.entries()) if (atMs < (this.#due[first] as Due).atMs) first = place;
    const unsent = this.#unsent.at(-1);
    if (unsent !== undefined && !(this.#due.length > 0 && (this.#due[first] as Due).atMs <= unsent.sentAtMs)) {
      this.#unsent.pop();
      return { atMs: unsent.sentAtMs, render: unsent, job: sending(unsent), reads: 0 };
    }
    return this.#due.splice(first, 1)[0] ?? null;
  }
}

/** The store in memory answers at once: nothing is ever waited for until a time is over. */
const timeless = {
  monotonicMs: () => 0,
  sleep: (_: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => (signal?.aborted ? resolve() : signal?.addEventListener('abort', () => resolve()))),
};

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
