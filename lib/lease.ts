/*
 * A lease's token is its score in the due set: the lease's end in whole ms plus claims/16, as decimal text. The
 * fraction tells a lease from a due time, counts the claims in a row, and survives a renewal.
 */

/** When the lease ends, ms on the due set's clock. */
export function leaseEndOf(token: string): number {
  return Math.floor(Number(token));
}

/** The token of the same claim with its lease ending at `leaseEndMs`. */
export function renewedToken(token: string, leaseEndMs: number): string {
  return String(Math.floor(leaseEndMs) + (Number(token) % 1));
}

/**
 * A lease with less than this left is endangered, ms: renewed at half time and asked for once a tick, it comes to that only
 * when the due set does not answer. Nothing is begun on it, and what runs on it is let go.
 */
export function endangeredBelowMs({ leaseMs, tickMs }: { leaseMs: number; tickMs: number }): number {
  return leaseMs / 2 - 1.5 * tickMs;
}
