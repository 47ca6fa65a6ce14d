import { dayMeter, type Meter, minuteMeter, readMeter } from './budget-meter.ts';

/*
 * What the due set knows of an account, read from the fields in which its scripts keep it. Pure. A field that can't be
 * read counts as absent, as it does for the scripts. Times in ms on the due set's clock.
 */

/** `all`: nothing is called. `creates`: nothing new is sent, what is at the provider is read to its end. */
export type Paused = 'all' | 'creates';

const createsHoldReasons = ['no_slot', 'denied', 'no_credit'] as const;

export interface AccountState {
  paused: { what: Paused; sinceMs: number } | null;
  /**
   * `open`: the provider fails; `denied`: it refuses the key; for both `atMs` is the next probe. `held`: it asked to be
   * left alone until then. `recovering`: what waited meanwhile is being worked off.
   */
  breaker: { kind: 'open' | 'held' | 'denied' | 'recovering'; atMs: number } | null;
  /** Until when nothing new is sent. After that one job at a time is tried; `sinceMs` is null once that was done. */
  createsHold: { reason: (typeof createsHoldReasons)[number]; sinceMs: number | null; untilMs: number } | null;
  /** How many slots there were when the provider said that it has no more; it grows again after `sinceMs`. */
  slotCap: { cap: number; sinceMs: number } | null;
  reads: Budget;
  creates: Budget;
}

export interface Budget {
  minute: Meter;
  day: Meter;
  /** What the provider itself last said is left, while that holds. */
  told: { left: number; untilMs: number } | null;
}

/** Without a drain for so long, nobody knows any more whether the provider still fails. */
const breakerStaleMs = 3_600_000;

/** `fields` is the account's hash: names to texts. */
export function readAccountState(fields: Readonly<Record<string, string>>, nowMs: number): AccountState {
  const text = (name: string) => fields[name] ?? '';
  const told = text('told').split(' ');
  return {
    paused: readPaused(text('paused')),
    breaker: readBreaker(text('breaker'), nowMs),
    createsHold: readCreatesHold(text('creates_hold'), nowMs),
    slotCap: readSlotCap(text('slots')),
    reads: readBudget(text('reads'), told.slice(0, 2), nowMs),
    creates: readBudget(text('creates'), told.slice(2, 4), nowMs),
  };
}

function readPaused(text: string): AccountState['paused'] {
  const [what, sinceMs] = text.split(' ');
  const known = what === 'all' || what === 'creates';
  return known && isCount(sinceMs) ? { what, sinceMs: Number(sinceMs) } : null;
}

function readBreaker(text: string, nowMs: number): AccountState['breaker'] {
  const [kind, at] = text.split(' ');
  const known = kind === 'open' || kind === 'held' || kind === 'denied' || kind === 'recovering';
  if (!known || !isCount(at)) return null;
  const atMs = Number(at);
  const endedMs = kind === 'held' ? atMs : atMs + breakerStaleMs;
  return nowMs < endedMs ? { kind, atMs } : null;
}

function readCreatesHold(text: string, nowMs: number): AccountState['createsHold'] {
  const [name, until, wait, probes] = text.split(' ');
  const reason = createsHoldReasons.find((known) => known === name);
  if (reason === undefined || !isCount(until) || Number(until) <= nowMs) return null;
  const sinceMs = isCount(wait) && !(Number(probes) > 0) ? Number(until) - Number(wait) : null;
  return { reason, sinceMs, untilMs: Number(until) };
}

function readSlotCap(text: string): AccountState['slotCap'] {
  const [cap, sinceMs, refusedAt] = text.split(' ');
  return isCount(cap) && isCount(sinceMs) && isCount(refusedAt) ? { cap: Number(cap), sinceMs: Number(sinceMs) } : null;
}

function readBudget(meters: string, [left, until]: readonly string[], nowMs: number): Budget {
  const [minute = '', day = ''] = meters.split('|');
  const holds = isCount(left) && isCount(until) && Number(until) > nowMs;
  return {
    minute: readMeter(minute, minuteMeter, nowMs),
    day: readMeter(day, dayMeter, nowMs),
    told: holds ? { left: Number(left), untilMs: Number(until) } : null,
  };
}

/** A number of zero or more, as our scripts write it, and not too large for a time. */
function isCount(text: string | undefined): text is string {
  return text !== undefined && /^\d+(\.\d+)?(e\+?\d+)?$/.test(text) && Number(text) <= 8.64e15;
}
