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
  #openSinceMs = 0;
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
    if (this.isOpen) return this.#worked ? { kind: 'works' } : undefined;
    const longEnough = this.#clock.monotonicMs() - this.#failingSinceMs >= failingForMinMs;
    const fails = this.#failures >= failuresAtOnce || (this.#failures >= failuresMin && longEnough);
    return fails ? { kind: 'fails', meanGapMs: this.#meanGapMs ?? firstGapMs } : undefined;
  }

  /** The state as an exchange has told it. */
  learn(state: BreakerState): void {
    if (state.kind === 'open' && !this.isOpen) this.#openSinceMs = this.#clock.monotonicMs();
    if (state.kind !== this.#state.kind) {
      this.#failures = 0;
      this.#worked = false;
    }
    this.#state = state;
  }

  /** The provider, listened to. */
  listenTo(provider: Provider): Provider {
    const listen = async (ask: () => Promise<Outcome>, call: Call | undefined, failures: Outcome['kind'][]) => {
      const askedAtMs = this.#clock.monotonicMs();
      const outcome = await ask();
      if (call?.lost !== true) this.#hear(outcome, failures.includes(outcome.kind), askedAtMs);
      return outcome;
    };
    return {
      // A create that is denied may only be out of credit.
      create: (job, call) => listen(() => provider.create(job, call), call, ['trouble']),
      read: (job, call) => listen(() => provider.read(job, call), call, ['trouble', 'denied']),
    };
  }

  #hear(outcome: Outcome, failed: boolean, askedAtMs: number): void {
    if (failed) {
      this.#failures++;
      if (this.#failures === 1) this.#failingSinceMs = this.#clock.monotonicMs();
      return;
    }
    this.#failures = 0;
    // An answer to a call from before says nothing about how the provider is since.
    if (this.isOpen && askedAtMs >= this.#openSinceMs) this.#worked = true;
    if (outcome.kind === 'running' && outcome.hintMs !== null) {
      this.#meanGapMs ??= outcome.hintMs;
      this.#meanGapMs += (outcome.hintMs - this.#meanGapMs) * gapWeight;
    }
  }
}
