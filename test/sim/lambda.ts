import type { Clock } from '../../lib/ports.ts';
import type { Dice } from './dice.ts';
import type { Scheduler } from './scheduler.ts';

/** Parts of 1: no two clocks run apart faster. Half of what the product allows for, since it is between two of them. */
const driftMax = 0.00004;

/*
 * One process of a function, with clocks of its own. It runs, it may stall (a pause in which nothing of it runs), it is
 * frozen when its run has ended, and thawed for the next one; or it is dead, and nothing of it ever runs again.
 */
export class Lambda {
  readonly kind: 'api' | 'drain' | 'sweep' | 'deliver';
  /** The kind with a number. */
  readonly name: string;
  readonly clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #drift: number;
  readonly #bootedAtMs: number;
  #skewMs: number;
  #phase: 'running' | 'frozen' | 'dead' = 'running';
  #stalledUntilMs = 0;
  readonly #held: (() => unknown)[] = [];
  /** How late its timers fire, ms; rolled for each. */
  readonly #lateMs: () => number;

  constructor(kind: Lambda['kind'], name: string, scheduler: Scheduler, dice: Dice, skewMs: number) {
    this.kind = kind;
    this.name = name;
    this.#scheduler = scheduler;
    this.#skewMs = skewMs;
    this.#drift = dice.between(-driftMax, driftMax);
    // Any start will do, so it is one that is mistaken for no time of day.
    this.#bootedAtMs = scheduler.nowMs - dice.between(0, 1e6);
    this.#lateMs = () => dice.roll() ** 4 * 8;
    this.clock = {
      nowMs: () => Math.floor(scheduler.nowMs + this.#skewMs),
      monotonicMs: () => (scheduler.nowMs - this.#bootedAtMs) * (1 + this.#drift),
      sleep: (delayMs, signal) => this.#sleep(delayMs, signal),
    };
  }

  get isDead(): boolean {
    return this.#phase === 'dead';
  }

  get isRunning(): boolean {
    return this.#phase === 'running';
  }

  /** True if at any time since `sinceMs` nothing of it ran although it lived. */
  pausedSince(sinceMs: number): boolean {
    return this.#phase === 'frozen' || this.#stalledUntilMs > sinceMs;
  }

  /** Runs inside this process: after the delay, or as soon after it as the process runs again; never once it is dead. */
  deliver(delayMs: number, run: () => unknown): void {
    this.#scheduler.after(delayMs, () => this.#enter(run));
  }

  kill(): void {
    this.#phase = 'dead';
    this.#held.length = 0;
  }

  freeze(): void {
    if (this.#phase === 'running') this.#phase = 'frozen';
  }

  /** Everything that came while it was frozen comes now. */
  thaw(): void {
    this.#phase = 'running';
    this.stall(0);
    for (const run of this.#held.splice(0)) this.deliver(this.#lateMs(), run);
  }

  stall(forMs: number): void {
    this.#stalledUntilMs = Math.max(this.#stalledUntilMs, this.#scheduler.nowMs + forMs);
  }

  /** Somebody sets the wall clock. */
  setWallClock(byMs: number): void {
    this.#skewMs += byMs;
  }

  #enter(run: () => unknown): unknown {
    if (this.#phase === 'dead') return;
    if (this.#phase === 'frozen') return this.#held.push(run);
    const pausedMs = this.#stalledUntilMs - this.#scheduler.nowMs;
    return pausedMs > 0 ? this.deliver(pausedMs, run) : run();
  }

  #sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (this.isDead) return;
      if (signal?.aborted) return resolve();
      // Not a step of its own: an abort wakes the sleeper before anything else can come in between.
      signal?.addEventListener('abort', () => resolve(), { once: true });
      this.deliver(Math.max(0, delayMs) / (1 + this.#drift) + this.#lateMs(), resolve);
    });
  }
}
