import type { Call, CallsLeft } from './ports.ts';

/*
 * What one drain has to tell its account of calls: an exchange counts one read for a claim and one create for an admission
 * as it makes them; what more there was is told by the next one. And the newest that the provider's headers said.
 */

type Kind = 'reads' | 'creates';

export class CallCount {
  readonly #extra = { reads: 0, creates: 0 };
  #left: { [K in Kind]?: CallsLeft & { atMs: number } } = {};

  /**
   * A step has ended. An exchange has counted a create for it if it was `admitted` by this very claim, else a read.
   * Monotonic ms.
   */
  add(kind: Kind, call: Call, admitted: boolean, nowMs: number): void {
    const { requests = 0, left } = call;
    this.#extra[admitted ? 'creates' : 'reads']--;
    this.#extra[kind] += requests;
    if (left !== undefined) this.#left[kind] = { ...left, atMs: nowMs };
  }

  /** So many that an exchange has counted came to no call. */
  unmade({ reads, creates }: { reads: number; creates: number }): void {
    this.#extra.reads -= reads;
    this.#extra.creates -= creates;
  }

  /** Below 0 when fewer calls were made than exchanges have counted. */
  get extra(): { reads: number; creates: number } {
    return { ...this.#extra };
  }

  /** What headers have told, less the calls of the kind that are still under way or in hand. */
  told(inHand: { reads: number; creates: number }, nowMs: number): { reads?: CallsLeft; creates?: CallsLeft } {
    const told: { reads?: CallsLeft; creates?: CallsLeft } = {};
    for (const kind of ['reads', 'creates'] as const) {
      const left = this.#left[kind];
      if (left === undefined) continue;
      // One that counts no more takes the place of an older one all the same.
      told[kind] = { left: Math.max(0, left.left - inHand[kind]), forMs: Math.max(0, left.atMs + left.forMs - nowMs) };
    }
    return told;
  }

  /**
   * An exchange that told this has failed, perhaps only its reply: what is told again counts twice. So calls that were made
   * are, to be safe, and calls that were not made are not.
   */
  failed(extra: { reads: number; creates: number }): void {
    this.#extra.reads -= Math.min(extra.reads, 0);
    this.#extra.creates -= Math.min(extra.creates, 0);
  }

  /** An exchange has taken what was told. */
  counted(extra: { reads: number; creates: number }): void {
    this.#extra.reads -= extra.reads;
    this.#extra.creates -= extra.creates;
    this.#left = {};
  }
}

/** The call, counted as one request; its client adds those that follow. None is made when its lease was lost before. */
export function counted(call: Call | undefined): Call | undefined {
  if (call !== undefined && call.lost !== true) call.requests = (call.requests ?? 0) + 1;
  return call;
}
