import type { AccountState } from './account-state.ts';
import type { AccountOverview } from './account-view.ts';

/* What an account's state amounts to, for those who watch it. Pure; times in ms on the due set's clock. */

/**
 * `paused`, `draining`: somebody said so. `denied`: the provider refuses the key; `failing`: it fails; for both `untilMs`
 * is the next try. `held`: it asked to be left alone until then.
 */
export interface Standing {
  state: 'active' | 'paused' | 'draining' | 'denied' | 'failing' | 'held';
  sinceMs: number | null;
  untilMs: number | null;
}

export interface AccountFault {
  code: 'denied' | 'failing' | 'held' | 'no_credit';
  /** Null where it is not known. */
  sinceMs: number | null;
}

const ofBreaker = { open: 'failing', denied: 'denied', held: 'held', recovering: null } as const;

export function standingOf({ paused, breaker }: AccountState): Standing {
  if (paused !== null) {
    return { state: paused.what === 'all' ? 'paused' : 'draining', sinceMs: paused.sinceMs, untilMs: null };
  }
  const code = breaker === null ? null : ofBreaker[breaker.kind];
  return { state: code ?? 'active', sinceMs: null, untilMs: code === null ? null : (breaker?.atMs ?? null) };
}

/** What keeps the account from working though nobody stopped it. */
export function faultsOf({ breaker, createsHold }: AccountState): AccountFault[] {
  const faults: AccountFault[] = [];
  const code = breaker === null ? null : ofBreaker[breaker.kind];
  if (code !== null) faults.push({ code, sinceMs: null });
  if (createsHold !== null && createsHold.reason !== 'no_slot' && createsHold.reason !== code) {
    faults.push({ code: createsHold.reason, sinceMs: createsHold.sinceMs });
  }
  return faults;
}

/**
 * How many jobs may be at the provider now: the configured limit, or fewer for a while after it had no room; null without
 * either. As slots.lua has it.
 */
export function effectiveSlots({ state, nowMs, inFlight }: AccountOverview, max: number | null): number | null {
  if (state.slotCap === null) return max;
  const { cap, sinceMs } = state.slotCap;
  const climbed = cap + (1 + cap / 20) * Math.floor(Math.max(nowMs - sinceMs, 0) / climbEveryMs);
  return climbed < (max ?? 4 * inFlight + 100) ? Math.floor(climbed) : max;
}

const climbEveryMs = 10_000;
