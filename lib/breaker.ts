import { pollDelayMs } from './due.ts';
import type { Outcome } from './outcome.ts';
import type { BreakerState, Call, Clock, Provider, ProviderNews } from './ports.ts';

/*
 * One drain's part in its account's circuit breaker. The state is in the due set, where all drains share it; what opens
 * and closes it is what they hear. A failed job alone waits longer each time anyway: this is for a provider that fails
 * every job.
 */

/** So many failures in a row, with nothing good between them, over so long; or so many at once. */
const failuresMin = 10;
const failingForMinMs = 3_000;
const failuresAtOnce = 50;
/** Before any read has told when to come back: long, as providers go, so that the rate on the way back is low. */
const firstGapMs = 30_000;
/** Of the newest gap in the mean: about the last twenty count. */
const gapWeight = 0.05;

export class Breaker {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #state: BreakerState = { kind: 'closed' };
  #changedAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #failingSinceMs = 0;
  #worked = false;
  #meanGapMs: number | null = null;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#state.kind === 'open';
  }

  /** Between two claims while recovering, ms; 0 otherwise. */
  get gapMs(): number {
    return this.#state.kind === 'recovering' ? this.#state.gapMs : 0;
  }

  /** What the next exchange tells the others. */
  get news(): ProviderNews | undefined {
    const meanGapMs = this.#meanGapMs ?? firstGapMs;
    if (this.isOpen) return this.#worked ? { kind: 'works', meanGapMs } : undefined;
    const longEnough = this.#clock.monotonicMs() - this.#failingSinceMs >= failingForMinMs;
    const fails = this.#failures >= failuresAtOnce || (this.#failures >= failuresMin && longEnough);
    if (fails) return { kind: 'fails', meanGapMs };
    // The first answers tell what the steady rate is, which the one who opened it may not have known.
    return this.#state.kind === 'recovering' && this.#meanGapMs !== null ? { kind: 'recovers', meanGapMs } : undefined;
  }

  /** The state as an exchange has told it. */
  learn(state: BreakerState): void {
    if (state.kind !== this.#state.kind) {
      this.#failures = 0;
      this.#worked = false;
      this.#changedAtMs = this.#clock.monotonicMs();
    }
    this.#state = state;
  }

  /** The provider, listened to. */
  listenTo(provider: Provider): Provider {
    const listen = async (ask: () => Promise<Outcome>, call: Call | undefined, what: keyof Provider) => {
      const askedAtMs = this.#clock.monotonicMs();
      const outcome = await ask();
      if (call?.lost !== true) this.#hear(outcome, what, askedAtMs);
      return outcome;
    };
    return {
      create: (job, call) => listen(() => provider.create(job, call), call, 'create'),
      read: (job, call) => listen(() => provider.read(job, call), call, 'read'),
    };
  }

  #hear(outcome: Outcome, what: keyof Provider, askedAtMs: number): void {
    // A call from before the breaker last changed says nothing about how the provider is since. A create that is denied
    // may only be out of credit: neither a failure nor a sign that the provider works.
    if (askedAtMs < this.#changedAtMs || (what === 'create' && outcome.kind === 'denied')) return;
    if (outcome.kind === 'trouble' || outcome.kind === 'denied') {
      this.#failures++;
      if (this.#failures === 1) this.#failingSinceMs = this.#clock.monotonicMs();
      return;
    }
    this.#failures = 0;
    this.#worked ||= this.isOpen;
    if (outcome.kind === 'running') this.#learnGap(pollDelayMs(outcome.hintMs, 0.5));
  }

  #learnGap(gapMs: number): void {
    this.#meanGapMs ??= gapMs;
    this.#meanGapMs += (gapMs - this.#meanGapMs) * gapWeight;
  }
}
