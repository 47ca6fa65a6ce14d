import { type Spread, spreadOf } from './percentiles.ts';

/*
 * What the provider's side sees of one run: who reads what, and when. All times are ms on the server's monotonic clock.
 *
 * A job is due when it is first to be read, and then when the wait that its last whole answer suggested is over. A read
 * whose connection broke before the answer was written leaves the due time where it was.
 */

export interface WatchPlan {
  /** When each job is due first, by number. */
  dueAtMs: ArrayLike<number>;
  /** Whole answers that end a job. */
  polls: number;
  hintMs: number;
}

export interface WatchReport {
  jobs: number;
  ended: number;
  reads: number;
  /** Ends not reached: neither told to anyone nor to come, when the run was stopped. */
  unfinished: number;
  /** Arrival after the hint's end; first reads are not among them. */
  latenessMs: Spread;
  firstReadLatenessMs: Spread;
  early: number;
  /** Reads while another of the same job was under way, or after its end was told. */
  duplicate: number;
  /** Answers that could not be written: the reader was gone. */
  cut: number;
  /** From the first to the last arrival. */
  readsPerSecond: number;
  /** From the first to the last arrival, s. */
  lastsSeconds: number;
  /** For each job that waited through a kill: from the later of its due time and the kill to its next read. */
  recoveryMs: Spread;
}

interface ReadLog {
  dueAtMs: number;
  answeredAtMs: number;
  answers: number;
  underWay: number;
  hinted: boolean;
}

export class ReadWatch {
  readonly #plan: WatchPlan;
  readonly #logs: ReadLog[];
  readonly #lateness: number[] = [];
  readonly #firstLateness: number[] = [];
  readonly #recovery: number[] = [];
  readonly #killsAtMs: number[] = [];
  #reads = 0;
  #ended = 0;
  #early = 0;
  #duplicate = 0;
  #cut = 0;
  #firstAtMs = 0;
  #lastAtMs = 0;

  constructor(plan: WatchPlan) {
    this.#plan = plan;
    this.#logs = Array.from(plan.dueAtMs, (dueAtMs) => newLog(dueAtMs));
  }

  get progress(): { reads: number; ended: number; lastAtMs: number } {
    return { reads: this.#reads, ended: this.#ended, lastAtMs: this.#lastAtMs };
  }

  /** One more job, due at once; returns its number. */
  add(nowMs: number): number {
    return this.#logs.push(newLog(nowMs)) - 1;
  }

  killed(nowMs: number): void {
    this.#killsAtMs.push(nowMs);
  }

  /** False when there is no such job. */
  arrived(job: number, nowMs: number): boolean {
    const log = this.#logs[job];
    if (log === undefined) return false;
    if (this.#reads++ === 0) this.#firstAtMs = nowMs;
    this.#lastAtMs = nowMs;
    if (log.underWay > 0 || log.answers >= this.#plan.polls) this.#duplicate++;
    else this.#judge(log, nowMs);
    log.underWay++;
    return true;
  }

  /** A whole answer is about to be written at `nowMs`. */
  answered(job: number, nowMs: number): 'running' | 'ended' {
    const log = this.#logs[job] as ReadLog;
    log.underWay--;
    log.answers++;
    log.hinted = true;
    log.answeredAtMs = nowMs;
    log.dueAtMs = nowMs + this.#plan.hintMs;
    if (log.answers < this.#plan.polls) return 'running';
    if (log.answers === this.#plan.polls) this.#ended++;
    return 'ended';
  }

  /** The connection broke before the answer. */
  cut(job: number): void {
    (this.#logs[job] as ReadLog).underWay--;
    this.#cut++;
  }

  report(): WatchReport {
    const seconds = (this.#lastAtMs - this.#firstAtMs) / 1000;
    return {
      jobs: this.#logs.length,
      ended: this.#ended,
      reads: this.#reads,
      unfinished: this.#logs.length - this.#ended,
      latenessMs: spreadOf(this.#lateness),
      firstReadLatenessMs: spreadOf(this.#firstLateness),
      early: this.#early,
      duplicate: this.#duplicate,
      cut: this.#cut,
      readsPerSecond: seconds > 0 ? Math.round((this.#reads / seconds) * 10) / 10 : 0,
      lastsSeconds: Math.round(seconds * 100) / 100,
      recoveryMs: spreadOf(this.#recovery),
    };
  }

  #judge(log: ReadLog, nowMs: number): void {
    const latenessMs = nowMs - log.dueAtMs;
    if (!log.hinted) {
      this.#firstLateness.push(latenessMs);
    } else {
      this.#lateness.push(latenessMs);
      if (latenessMs < 0) this.#early++;
    }
    const killAtMs = this.#killsAtMs.find((atMs) => atMs >= log.answeredAtMs);
    if (killAtMs !== undefined) this.#recovery.push(Math.max(0, nowMs - Math.max(log.dueAtMs, killAtMs)));
  }
}

function newLog(dueAtMs: number): ReadLog {
  return { dueAtMs, answeredAtMs: Number.NEGATIVE_INFINITY, answers: 0, underWay: 0, hinted: false };
}
