import type { Paused } from './account-state.ts';
import type { AccountOverview, AccountView } from './account-view.ts';
import type { Clock, Queues } from './ports.ts';

/*
 * Stopping and starting an account by hand. The record comes first and the due set second: a Redis that was wiped, or could
 * not be reached, learns from the next sweep that the account is paused.
 */

/** What the record says: `paused` is null when somebody resumed the account. `sinceMs`: ms since 1970, on the API's clock. */
export interface RecordedPause {
  paused: Paused | null;
  sinceMs: number;
}

/** The durable side of pauses. Every call rejects with a JobStoreError and nothing else. */
export interface AccountPauses {
  /** Consistent read; null for an account that was never paused nor resumed. */
  read(account: string): Promise<RecordedPause | null>;
  /** What the record says from now on. Repeating what it says already changes nothing, `sinceMs` neither. */
  write(account: string, paused: Paused | null, atMs: number): Promise<RecordedPause>;
}

interface AppliedPorts {
  pauses: Pick<AccountPauses, 'read'>;
  view: Pick<AccountView, 'setPaused'>;
}

export interface PausePorts extends AppliedPorts {
  pauses: AccountPauses;
  clock: Pick<Clock, 'nowMs'>;
}

export interface RestorePorts extends AppliedPorts {
  view: Pick<AccountView, 'setPaused' | 'overview'>;
}

/** Rejects with a DueSetError when only the record was written: the next sweep tells the due set. */
export async function pauseAccount(ports: PausePorts, account: string, what: Paused): Promise<AccountOverview> {
  return apply(ports, account, await ports.pauses.write(account, what, ports.clock.nowMs()));
}

/** Rejects as `pauseAccount` does. */
export async function resumeAccount(ports: PausePorts & { queues: Queues }, account: string): Promise<AccountOverview> {
  const overview = await apply(ports, account, await ports.pauses.write(account, null, ports.clock.nowMs()));
  // While it was paused nobody had a reason to stay awake for it.
  await ports.queues.get(account)?.waker.wake();
  return overview;
}

/**
 * Makes the due set say what the record says; null when it did already, or the record says nothing. Rejects with a
 * JobStoreError or a DueSetError.
 */
export async function restorePause(ports: RestorePorts, account: string): Promise<AccountOverview | null> {
  // Most accounts were never paused: nothing of Redis is spent on them.
  if ((await ports.pauses.read(account)) === null) return null;
  const { state } = await ports.view.overview(account);
  // Read again, after the set: what was read before may be older than what the set says.
  const recorded = await ports.pauses.read(account);
  if (recorded === null || recorded.paused === (state.paused?.what ?? null)) return null;
  return apply(ports, account, recorded);
}

/** Each further try is somebody else's change between two calls of ours. */
const triesMax = 5;

/**
 * Whoever writes to the due set looks at the record once more after that, and writes again if it says something else by now.
 * So the last write to the set, whoever makes it, is what the record says last.
 */
async function apply({ pauses, view }: AppliedPorts, account: string, first: RecordedPause): Promise<AccountOverview> {
  let recorded = first;
  for (let tries = 1; ; tries++) {
    const overview = await view.setPaused(account, recorded);
    const latest = await pauses.read(account);
    if (latest === null || latest.paused === recorded.paused || tries === triesMax) return overview;
    recorded = latest;
  }
}
