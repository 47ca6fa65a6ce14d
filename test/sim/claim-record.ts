import type { Lambda } from './lambda.ts';

/** One claim, from the exchange that made it to the one that settles it, under whatever token. */
export interface ClaimRecord {
  readonly id: string;
  readonly by: Lambda;
  /** True time, ms. */
  readonly claimedAtMs: number;
  /** It waited in line, and is to be sent. */
  readonly isAdmitted: boolean;
  token: number;
  wins: number;
  /** What it was settled to, ms on the set's clock; null while it is not. */
  settledToMs: number | null;
  /** Redis lost it: nobody told its drain. */
  voided: boolean;
}
