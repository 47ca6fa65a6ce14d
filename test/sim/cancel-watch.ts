import { isActive, type Job } from '../../lib/job.ts';
import type { Outcome } from '../../lib/outcome.ts';
import type { CancelOutcome } from '../../lib/ports.ts';
import type { ClaimRecord } from './claim-record.ts';
import type { Lambda } from './lambda.ts';
import type { Referee } from './referee.ts';

/** In fair weather: a wait of an hour that was told in bad weather, a sweep and what it spreads. */
const untilToldMs = 7_200_000;
/** After the deadline two reads are up to 48 hours apart. */
const overdueGapMs = 48 * 3_600_000;

/** Sees that a job which its owner wants no more is not sent, or canceled at the provider, and ended by nobody's guess. */
export class CancelWatch {
  readonly #referee: Referee;
  readonly #trueMs: () => number;
  /** Wishes that the provider is still to be told, by job; `pulledAtMs`: since when the set has the job due for it. True time, ms. */
  readonly #owed = new Map<string, { atMs: number; pulledAtMs: number | null; isTried: boolean }>();
  readonly #neverSent = new Set<string>();
  /** By process: jobs whose cancel the provider has taken note of, and those whose create it turned away. */
  readonly #heard = new Map<Lambda, { told: Set<string>; turnedAway: Set<string> }>();
  #calmSinceMs = Number.POSITIVE_INFINITY;

  constructor(referee: Referee, trueMs: () => number) {
    this.#referee = referee;
    this.#trueMs = trueMs;
  }

  calm(): void {
    this.#calmSinceMs = this.#trueMs();
  }

  /** A call of the product begins, or arrives at the provider. */
  calls(route: 'create' | 'read' | 'cancel', job: Job): void {
    if (route === 'create' && this.#neverSent.has(job.id)) this.#referee.broken(notSent, job.id);
    // A cancel that fails takes turns with reads from then on.
    const owed = this.#owed.get(job.id);
    if (route === 'cancel' && owed !== undefined) owed.isTried = true;
  }

  /** A read begins on a live lease. */
  reads(id: string, claim: ClaimRecord | undefined): void {
    const { pulledAtMs = null, isTried = false } = this.#owed.get(id) ?? {};
    if (isTried || pulledAtMs === null || claim === undefined || claim.claimedAtMs <= pulledAtMs) return;
    this.#referee.broken('a job that was made due to be canceled is canceled first', id);
  }

  /** The job, which was due later, is due now because its owner wants it no more. */
  pulled(id: string): void {
    const owed = this.#owed.get(id);
    if (owed !== undefined) owed.pulledAtMs ??= this.#trueMs();
  }

  /** Redis was wiped or rolled back: nothing is due for a wish any more. */
  rolledBack(): void {
    for (const owed of this.#owed.values()) owed.pulledAtMs = null;
  }

  hear(by: Lambda, id: string, outcome: Outcome | CancelOutcome): void {
    const heard = this.#heard.get(by) ?? { told: new Set(), turnedAway: new Set() };
    this.#heard.set(by, heard);
    if (outcome.kind === 'told') heard.told.add(id);
    if (outcome.kind === 'no_slot' || outcome.kind === 'denied') heard.turnedAway.add(id);
  }

  /** A record was written. */
  changed(by: Lambda, before: Job, after: Job): void {
    const { id } = after;
    if (by.kind === 'api' && before.state !== after.state) {
      const isUnsent = before.state === 'waiting' && after.state === 'canceled';
      if (!isUnsent) this.#referee.broken(notGuessed, `${id}: ${before.state} became ${after.state}`);
      this.#referee.saw('canceled unsent');
      this.#neverSent.add(id);
    }
    const isNew = before.cancelAskedAtMs === undefined && after.cancelAskedAtMs !== undefined;
    if (isNew) this.#owed.set(id, { atMs: this.#trueMs(), pulledAtMs: null, isTried: false });
    if (!isActive(after.state)) this.#owed.delete(id);
    if (before.cancelSentAtMs !== undefined || after.cancelSentAtMs === undefined) return;
    this.#owed.delete(id);
    if (!this.#heard.get(by)?.told.has(id)) this.#referee.broken(told, `${id} by ${by.name}`);
    this.#referee.saw('cancel told');
  }

  /** Whether a job may be canceled on our own account: it waited, or was turned away while its owner wanted it no more. */
  mayCancel(by: Lambda, before: Job, after: Job): boolean {
    if (after.history.at(-1)?.reason !== 'canceled_by_owner') return false;
    if (by.kind === 'api') return before.state === 'waiting';
    const isUnsent = before.state === 'submitting' && before.cancelAskedAtMs !== undefined;
    if (isUnsent) this.#neverSent.add(after.id);
    return isUnsent && this.#heard.get(by)?.turnedAway.has(after.id) === true;
  }

  /** At any moment. */
  check(jobs: ReadonlyMap<string, Job>): void {
    const nowMs = this.#trueMs();
    for (const [id, { atMs }] of this.#owed) {
      const job = jobs.get(id);
      if (job?.providerJobId === undefined) continue;
      const gapMs = job.state === 'overdue' ? overdueGapMs : 0;
      if (nowMs > Math.max(atMs, this.#calmSinceMs) + untilToldMs + gapMs) this.#referee.broken(told, `${id} never is`);
    }
  }
}

const notSent = 'a job that was canceled unsent is never sent';
const notGuessed = 'a cancel ends only what waits';
const told = 'the provider is told of a cancel, and nobody says so before it is';
