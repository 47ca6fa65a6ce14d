import { retryAfterDelayMs } from './due.ts';

/**
 * After a create that the provider did not admit, this run of the drain sends no create until the provider's own wait
 * is over: the next would be refused too, and each refusal costs a call.
 */
export class AdmissionHold {
  #untilMs = 0;

  /** `retryAfterMs` as the provider gave it, null when it did not. */
  set(nowMs: number, retryAfterMs: number | null): void {
    this.#untilMs = Math.max(this.#untilMs, nowMs + retryAfterDelayMs(retryAfterMs, 0));
  }

  /** Ms until creates may be sent again; 0 when they may. */
  remainingMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs);
  }
}
