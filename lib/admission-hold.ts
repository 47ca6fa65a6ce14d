import { retryAfterMaxMs } from './due.ts';

/**
 * After a create that the provider refused for the account as a whole, this run of the drain sends no further one for a
 * while: the next would be refused too, and each refusal costs a call. What all drains do about it is in slots.lua and admit.lua.
 */
export class AdmissionHold {
  #untilMs = 0;

  set(nowMs: number, waitMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, nowMs + Math.min(Math.max(waitMs, leastMs), retryAfterMaxMs));
  }

  /** Ms until creates may be sent again; 0 when they may. */
  remainingMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs);
  }
}

/** Long enough for an exchange to put back what was admitted with the refused one. */
const leastMs = 1_000;
