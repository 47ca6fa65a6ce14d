import { pollDelayMs, retryAfterMaxMs } from './due.ts';
import type { Job } from './job.ts';
import type { Outcome } from './outcome.ts';
import type { BreakerState, Call, CancelOutcome, Clock, Provider, ProviderNews } from './ports.ts';

/*
 * One drain's part in its account's circuit breaker. The state is in the due set, where all drains share it; what opens
 * and closes it is what they hear. A failed job alone waits longer each time anyway: this is for a provider that fails
 * every job.
 */

/** So many failures in a row, with nothing good between them, over so long; or so many at once. */
const failuresMin = 10;
const failingForMinMs = 3_000;
const failuresAtOnce = 50;
/** A 429 that asks for at least this much holds the whole account; a shorter wait holds the one job, and is a failure. */
const holdMinMs = 5_000;
/** Reads refused for the key, in a row. */
const deniedMin = 3;
/** Before any read has told when to come back: long, as providers go, so that the rate on the way back is low. */
const firstGapMs = 30_000;
/** Of the newest gap in the mean: about the last twenty count. */
const gapWeight = 0.05;

type Heard = Outcome | CancelOutcome;

export class Breaker {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #state: BreakerState = { kind: 'closed' };
  #changedAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #denied = 0;
  /** When the told wait ends, on the monotonic clock; null while none is to be told to the others. */
  #heldUntilMs: number | null = null;
  #failingSinceMs = 0;
  #worked = false;
  #meanGapMs: number | null = null;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Nothing but probes goes through. */
  get isOpen(): boolean {
    return this.#state.kind !== 'closed' && this.#state.kind !== 'recovering';
  }

  /** It will be held as soon as an exchange has told the others; nothing is to begin until then. */
  get isShutting(): boolean {
    return this.#heldUntilMs !== null;
  }

  /** Between two claims while recovering, ms; 0 otherwise. */
  get gapMs(): number {
    return this.#state.kind === 'recovering' ? this.#state.gapMs : 0;
  }

  /** What the next exchange tells the others. */
  get news(): ProviderNews | undefined {
    const meanGapMs = this.#meanGapMs ?? firstGapMs;
    if (this.#heldUntilMs !== null) {
      const waitMs = Math.max(1, this.#heldUntilMs - this.#clock.monotonicMs());
      return { kind: 'held', meanGapMs, waitMs };
    }
    if (this.#denied >= deniedMin && this.#state.kind !== 'denied') return { kind: 'denied', meanGapMs };
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
      this.#denied = 0;
      this.#worked = false;
      this.#changedAtMs = this.#clock.monotonicMs();
    }
    this.#state = state;
  }

  /** The next exchange has told the others what `news` said. */
  told(news: ProviderNews | undefined): void {
    if (news?.kind === 'held') this.#heldUntilMs = null;
  }

  /** The provider, listened to. */
  listenTo(provider: Provider): Provider {
    type Asked = keyof Provider;
    const listen = async <O extends Heard>(ask: () => Promise<O>, job: Job, call: Call | undefined, what: Asked) => {
      const askedAtMs = this.#clock.monotonicMs();
      const outcome = await ask();
      if (call?.lost !== true) this.#hear(outcome, job, what, askedAtMs);
      return outcome;
    };
    const { cancel } = provider;
    return {
      create: (job, call) => listen(() => provider.create(job, call), job, call, 'create'),
      read: (job, call) => listen(() => provider.read(job, call), job, call, 'read'),
      ...(cancel && { cancel: (job, call) => listen(() => cancel.call(provider, job, call), job, call, 'cancel') }),
    };
  }

  #hear(outcome: Heard, { lastFault }: Job, what: keyof Provider, askedAtMs: number): void {
    // A call from before the breaker last changed says nothing about how the provider is since. A create that is denied
    // may only be out of credit, a cancel only lack that right: neither a failure nor a sign that the provider works.
    if (askedAtMs < this.#changedAtMs || (what !== 'read' && outcome.kind === 'denied')) return;
    if (outcome.kind === 'throttled' && (outcome.retryAfterMs ?? 0) >= holdMinMs) {
      this.#holdFor(outcome.retryAfterMs ?? 0);
      return;
    }
    // Refused already when it was last read, a minute ago and in another run: with one job there are no three in a row.
    if (outcome.kind === 'denied') this.#denied += lastFault?.code === outcome.fault.code ? deniedMin : 1;
    if (outcome.kind === 'trouble' || outcome.kind === 'denied' || outcome.kind === 'throttled') {
      this.#failures++;
      if (this.#failures === 1) this.#failingSinceMs = this.#clock.monotonicMs();
      return;
    }
    this.#failures = 0;
    this.#denied = 0;
    this.#worked ||= this.isOpen;
    if (outcome.kind === 'running') this.#learnGap(pollDelayMs(outcome.hintMs, 0.5));
  }

  #holdFor(waitMs: number): void {
    const untilMs = this.#clock.monotonicMs() + Math.min(waitMs, retryAfterMaxMs);
    this.#heldUntilMs = Math.max(this.#heldUntilMs ?? 0, untilMs);
  }

  #learnGap(gapMs: number): void {
    this.#meanGapMs ??= gapMs;
    this.#meanGapMs += (gapMs - this.#meanGapMs) * gapWeight;
  }
}
