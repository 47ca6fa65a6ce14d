import { missingForMinMs, missingReadsMin, resultReadsMax } from '../../lib/decide.ts';
import { overdueReadsMs } from '../../lib/due.ts';
import type { Job } from '../../lib/job.ts';
import type { Outcome } from '../../lib/outcome.ts';
import type { CancelWatch } from './cancel-watch.ts';
import type { Lambda } from './lambda.ts';
import type { Referee } from './referee.ts';

/** A drain's idea of Redis' time may be ahead by one slow round trip. */
const slackMs = 2_500;

/** Everything that was heard about one job. */
interface Told {
  readonly byWhom: Map<Lambda, Outcome[]>;
  missing: number;
  /** On the set's clock, ms. */
  missingSinceMs: number;
  withoutResult: number;
}

/** Sees that a job ends as the provider has said, or for its own deadline, and for nothing else. */
export class EndWatch {
  readonly #referee: Referee;
  readonly #setNowMs: () => number;
  readonly #cancels: CancelWatch;
  readonly #told = new Map<string, Told>();

  constructor(referee: Referee, setNowMs: () => number, cancels: CancelWatch) {
    this.#referee = referee;
    this.#cancels = cancels;
    this.#setNowMs = setNowMs;
  }

  hear(by: Lambda, id: string, outcome: Outcome): void {
    const told = this.#told.get(id) ?? { byWhom: new Map(), missing: 0, missingSinceMs: 0, withoutResult: 0 };
    this.#told.set(id, told);
    told.byWhom.set(by, [...(told.byWhom.get(by) ?? []), outcome]);
    if (outcome.kind === 'missing' && told.missing++ === 0) told.missingSinceMs = this.#setNowMs();
    if (outcome.kind === 'completed' && outcome.result === null) told.withoutResult++;
  }

  /** This process has written the job's end. */
  judge(by: Lambda, before: Job, after: Job): void {
    const told = this.#told.get(after.id);
    if (this.#hasCause(after, told, told?.byWhom.get(by) ?? [])) return;
    if (after.state === 'canceled' && this.#cancels.mayCancel(by, before, after)) return;
    this.#referee.broken('a job ends as the provider said, or for its deadline', `${after.id} is ${after.state}`);
  }

  #hasCause(job: Job, told: Told | undefined, heard: readonly Outcome[]): boolean {
    const nowMs = this.#setNowMs() + slackMs;
    const ended = heard.some((outcome) => outcome.kind === 'ended' && outcome.as === job.state);
    switch (job.state) {
      case 'completed':
        return heard.some((outcome) => outcome.kind === 'completed' && outcome.result !== null);
      case 'failed':
        return ended || (told?.withoutResult ?? 0) >= resultReadsMax;
      case 'expired':
        return ended || (job.lastFault?.code === 'deadline_passed' && nowMs >= job.deadlineAtMs);
      case 'rejected':
        return heard.some((outcome) => outcome.kind === 'refused');
      case 'lost':
        return told !== undefined && told.missing >= missingReadsMin && nowMs - told.missingSinceMs >= missingForMinMs;
      case 'given_up':
        return nowMs >= job.deadlineAtMs + (overdueReadsMs.at(-1) ?? 0);
      default:
        return ended;
    }
  }
}
