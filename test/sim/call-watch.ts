import { pollMaxMs, retryAfterMaxMs } from '../../lib/due.ts';
import { isActive, type Job } from '../../lib/job.ts';
import type { Outcome } from '../../lib/outcome.ts';
import type { CancelOutcome } from '../../lib/ports.ts';
import type { BudgetWatch } from './budget-watch.ts';
import type { CancelWatch } from './cancel-watch.ts';
import type { ClaimRecord } from './claim-record.ts';
import type { DueSetWatch } from './due-set-watch.ts';
import { type Heard, isTime, whyEarly } from './early-read.ts';
import { EndWatch } from './end-watch.ts';
import type { Excuse } from './excuses.ts';
import type { Lambda } from './lambda.ts';
import type { Referee } from './referee.ts';

/** A call to the provider, from its begin until its caller hears of it. */
export interface Flight {
  readonly job: Job;
  readonly by: Lambda;
  readonly begunAtMs: number;
  readonly claim: ClaimRecord | undefined;
  readonly route: 'create' | 'read' | 'cancel';
}

/** Stands where a drain calls the provider: who calls, on what lease, how many at a time, and how soon after being told to wait. */
export class CallWatch {
  readonly #set: DueSetWatch;
  readonly #referee: Referee;
  readonly #clocks: { nowMs: () => number; trueMs: () => number };
  readonly #flights = new Map<string, Flight[]>();
  readonly #heard = new Map<string, Heard>();
  readonly #ends: EndWatch;
  readonly #budget: BudgetWatch;
  readonly #cancels: CancelWatch;

  constructor(
    set: DueSetWatch,
    { budget, cancels }: { budget: BudgetWatch; cancels: CancelWatch },
    referee: Referee,
    clocks: { nowMs: () => number; trueMs: () => number },
  ) {
    this.#set = set;
    this.#budget = budget;
    this.#referee = referee;
    this.#clocks = clocks;
    this.#cancels = cancels;
    this.#ends = new EndWatch(referee, clocks.nowMs, cancels);
  }

  begin(by: Lambda, job: Job, route: Flight['route']): Flight {
    const flight = { job, by, begunAtMs: this.#clocks.trueMs(), claim: this.#set.claimOf(by, job.id), route };
    this.#budget.begin(route === 'create' ? 'creates' : 'reads', flight.claim);
    this.#cancels.calls(route, job);
    const others = this.#flights.get(job.id) ?? [];
    // One that has lost its lease without knowing is judged for that alone: it is another who may call, and when.
    if (this.#isLeased(flight)) {
      for (const other of others) this.#judgeOther(flight, other);
      if (route === 'read') this.#judgeTime(flight);
      if (route === 'read') this.#cancels.reads(job.id, flight.claim);
    }
    this.#flights.set(job.id, [...others.filter((other) => !other.by.isDead), flight]);
    return flight;
  }

  /** The status said that there is a result, and that is fetched: one more read, which takes no time here. */
  fetches(flight: Flight): void {
    this.#budget.begin('reads', flight.claim, true);
  }

  /** `outcome` as its caller heard it; null: it ended without an answer. */
  end(flight: Flight, outcome: Outcome | CancelOutcome | null): void {
    const { id } = flight.job;
    this.#flights.set(
      id,
      (this.#flights.get(id) ?? []).filter((other) => other !== flight),
    );
    if (outcome === null) return;
    this.#cancels.hear(flight.by, id, outcome);
    // Of the render a cancel's answer says nothing.
    if (outcome.kind !== 'told' && flight.route !== 'cancel') this.#ends.hear(flight.by, id, outcome);
    // Heard late, by a drain that stood still: the provider's last word is what it said to the call that began last.
    if ((this.#heard.get(id)?.begunAtMs ?? 0) > flight.begunAtMs) return;
    this.#heard.set(id, {
      begunAtMs: flight.begunAtMs,
      atMs: this.#clocks.trueMs(),
      setAtMs: this.#clocks.nowMs(),
      waitMs: toldWaitMs(outcome),
      claim: flight.claim,
      state: flight.job.state,
      notedAtMs: null,
      unwritten: false,
      rolledBack: false,
      lost: false,
      resubmitted: false,
      pulled: false,
    });
  }

  /** The drain could not write down what it heard. */
  unwritten(by: Lambda, id: string): void {
    const heard = this.#heard.get(id);
    if (heard?.claim?.by === by) heard.unwritten = true;
  }

  /** A record was written; from now on it may tell how long the provider asked not to be read. */
  written(job: Job): void {
    const { id, notBeforeMs = 0 } = job;
    const heard = this.#heard.get(id);
    if (heard === undefined || notBeforeMs < heard.setAtMs + heard.waitMs * 0.999) return;
    heard.notedAtMs ??= this.#clocks.trueMs();
  }

  /** A write has changed a record. */
  changed(by: Lambda, before: Job, after: Job): void {
    if (isActive(before.state) && !isActive(after.state)) this.#ends.judge(by, before, after);
  }

  /** Redis has forgotten the due times that followed from the last answers, and of the `lost` ids it holds none at all. */
  rolledBack(lost: readonly string[]): void {
    this.#budget.lost();
    this.#cancels.rolledBack();
    for (const [id, heard] of this.#heard) {
      heard.rolledBack ||= !lost.includes(id);
      heard.lost ||= lost.includes(id);
    }
  }

  /** Somebody who had found the job unsent puts it into the set. */
  resubmitted(id: string): void {
    const heard = this.#heard.get(id);
    if (heard !== undefined) heard.resubmitted = true;
  }

  /** A request to make the job due for its cancel was carried out. `isOwed`: the provider has not been told of that yet. */
  pulled(id: string, isOwed: boolean): void {
    const heard = this.#heard.get(id);
    if (isOwed) this.#cancels.pulled(id);
    else if (heard !== undefined) heard.pulled = true;
  }

  #isLeased({ by, job, claim }: Flight): boolean {
    if (claim !== undefined && this.#set.isLive(claim)) return true;
    const paused = claim !== undefined && by.pausedSince(claim.claimedAtMs);
    this.#judge(noLease, `${job.id} by ${by.name}`, claim?.voided ? 'voided' : paused ? 'paused' : null);
    return false;
  }

  #judgeOther({ by, job }: Flight, other: Flight): void {
    const paused = other.by.pausedSince(other.begunAtMs);
    const excuse = other.by.isDead ? 'crashed' : paused ? 'paused' : other.claim?.voided ? 'voided' : null;
    this.#judge(oneAtATime, `${job.id} by ${by.name} beside ${other.by.name}`, excuse);
  }

  #judgeTime({ by, job, claim }: Flight): void {
    const heard = this.#heard.get(job.id);
    const nowMs = this.#clocks.trueMs();
    if (heard === undefined || isTime(heard, job, nowMs, this.#clocks.nowMs())) return;
    const told = `told to wait ${heard.waitMs} ms, read after ${Math.round(nowMs - heard.atMs)} ms`;
    this.#judge(notEarly, `${job.id} by ${by.name}: ${told}`, whyEarly(heard, claim?.claimedAtMs ?? nowMs));
  }

  #judge(invariant: string, detail: string, excuse: Excuse | null): void {
    if (excuse === null) this.#referee.broken(invariant, detail);
    else this.#referee.excuse(excuse, detail);
  }
}

const noLease = 'no call begins without a live lease';
const oneAtATime = 'one call at a time for each job';
const notEarly = 'no read comes before its time';

/** What the provider asked for, up to what the product promises to keep to. */
function toldWaitMs(outcome: Outcome | CancelOutcome): number {
  switch (outcome.kind) {
    case 'accepted':
    case 'running':
      return Math.min(outcome.hintMs ?? 0, pollMaxMs);
    case 'throttled':
    case 'trouble':
      return Math.min(outcome.retryAfterMs ?? 0, retryAfterMaxMs);
    default:
      return 0;
  }
}
