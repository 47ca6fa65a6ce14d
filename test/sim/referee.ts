import type { Excuse } from './excuses.ts';
import type { Scheduler } from './scheduler.ts';
import type { Trace } from './trace.ts';

export interface Violation {
  /** The invariant, as a sentence. */
  invariant: string;
  detail: string;
  step: number;
  /** Ms since 1970, true time. */
  atMs: number;
}

/** Hears what the watchers see: notes it, keeps the first broken invariant, counts what was excused and why. */
export class Referee {
  readonly trace: Trace;
  readonly excused = new Map<Excuse, number>();
  /** How often what has happened: to see that a run comes to where the danger is. */
  readonly seen = new Map<string, number>();
  readonly #scheduler: Scheduler;
  #violation: Violation | null = null;

  constructor(scheduler: Scheduler, trace: Trace) {
    this.#scheduler = scheduler;
    this.trace = trace;
  }

  get violation(): Violation | null {
    return this.#violation;
  }

  saw(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  note(text: string): void {
    this.trace.note(this.#scheduler.steps, this.#scheduler.nowMs, text);
  }

  /** Never throws: the caller may stand inside the product, which would catch it. The run ends after this step. */
  broken(invariant: string, detail: string): void {
    this.note(`BROKEN: ${invariant}: ${detail}`);
    this.#violation ??= { invariant, detail, step: this.#scheduler.steps, atMs: this.#scheduler.nowMs };
  }

  /** An invariant is broken, but with an excuse. */
  excuse(name: Excuse, detail: string): void {
    this.note(`${name}: ${detail}`);
    this.excused.set(name, (this.excused.get(name) ?? 0) + 1);
  }
}
