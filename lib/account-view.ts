import type { RecordedPause } from './account-pause.ts';
import type { AccountState } from './account-state.ts';

/** An account as it stands in its due set. */
export interface AccountOverview {
  /** The due set's own clock, ms since 1970: all times here are on it. */
  nowMs: number;
  state: AccountState;
  /** Jobs that hold a slot: sent, or being sent, and not known to have ended. */
  inFlight: number;
  /** Jobs that wait for a slot. */
  waiting: number;
  /** How long the job that is due the longest has been due and not in hand, ms; 0 when none is. */
  dueLagMs: number;
}

/** Where one job is in its account's due set. */
export interface JobPlace extends AccountOverview {
  /** When it is due, or its lease ends (`leased`), and how many come before it; null when it is not among the due. */
  due: { atMs: number; leased: boolean; ahead: number } | null;
  /** In the line for a slot, from 1; null when it is not in it. */
  place: number | null;
}

/** Looking at accounts, and stopping and starting them, past any drain. Every call rejects with a DueSetError and nothing else. */
export interface AccountView {
  overview(account: string): Promise<AccountOverview>;
  look(account: string, jobId: string): Promise<JobPlace>;
  /**
   * In force from the next tick of any drain; may be repeated. Ending a pause also ends what else holds the account back, a
   * breaker or a hold on creates: the next call is made at once.
   */
  setPaused(account: string, pause: RecordedPause): Promise<AccountOverview>;
}
