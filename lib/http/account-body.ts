import { effectiveSlots, standingOf } from '../account-standing.ts';
import type { Budget } from '../account-state.ts';
import type { AccountOverview } from '../account-view.ts';
import type { Account } from '../accounts.ts';
import { goneAtMs, type Meter, usedOf } from '../budget-meter.ts';
import { isoOrNull } from './iso.ts';

/** An account as the API shows it: snake_case, ISO 8601 times, null where there is no limit or nothing is known. */
export function accountBody({ id, limits }: Account, overview: AccountOverview) {
  const { nowMs, state, inFlight, waiting } = overview;
  const { state: standing, sinceMs, untilMs } = standingOf(state);
  const hold = state.createsHold;
  return {
    id,
    state: standing,
    since: isoOrNull(sinceMs),
    until: isoOrNull(untilMs),
    creates_hold: hold && { reason: hold.reason, since: isoOrNull(hold.sinceMs), until: isoOrNull(hold.untilMs) },
    slots: {
      max: limits.maxInFlight,
      effective: effectiveSlots(overview, limits.maxInFlight),
      used: inFlight,
      waiting,
    },
    reads: budgetBody(state.reads, limits.readsPerMinute, limits.readsPerDay, nowMs),
    creates: budgetBody(state.creates, limits.createsPerMinute, limits.createsPerDay, nowMs),
    links: { self: `/v1/accounts/${id}`, list: '/v1/accounts' },
  };
}

function budgetBody({ minute, day, told }: Budget, perMinute: number | null, perDay: number | null, nowMs: number) {
  return {
    per_minute: useBody(minute, perMinute),
    per_day: { ...useBody(day, perDay), gone_at: isoOrNull(perDay === null ? null : goneAtMs(day, perDay, nowMs)) },
    provider_says: told && { left: told.left, until: isoOrNull(told.untilMs) },
  };
}

function useBody(meter: Meter, limit: number | null) {
  const used = usedOf(meter);
  return { limit, used, left: limit === null ? null : Math.max(0, limit - used) };
}
