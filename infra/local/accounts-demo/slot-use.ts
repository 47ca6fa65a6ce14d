import type { Admission } from './evidence.ts';

export interface SlotUse {
  /** Of the slots that could have been used while anything waited, the share that was, by time; null if nothing ever waited. */
  share: number | null;
  /** The most jobs at once, from create to end told, over the whole run. */
  mostInFlight: number;
}

type Change = { atMs: number; waiting: number; inFlight: number };

/** How one account's slots were used from `fromMs` on. Where fewer jobs are left than there are slots, those count. */
export function slotUse(admissions: readonly Admission[], slots: number, fromMs: number): SlotUse {
  let waiting = 0;
  let inFlight = 0;
  let mostInFlight = 0;
  let usedMs = 0;
  let usableMs = 0;
  let sinceMs = fromMs;
  for (const change of changesOf(admissions)) {
    const lengthMs = change.atMs - sinceMs;
    if (lengthMs > 0) {
      const usable = Math.min(slots, waiting + inFlight);
      if (waiting > 0) {
        usedMs += lengthMs * Math.min(usable, inFlight);
        usableMs += lengthMs * usable;
      }
      sinceMs = change.atMs;
    }
    waiting += change.waiting;
    inFlight += change.inFlight;
    mostInFlight = Math.max(mostInFlight, inFlight);
  }
  return { share: usableMs === 0 ? null : usedMs / usableMs, mostInFlight };
}

/** In their order; a slot that becomes free at the same moment is free for the one that comes. */
function changesOf(admissions: readonly Admission[]): Change[] {
  const changes = admissions.flatMap(({ acceptedAtMs, createdAtMs, freeAtMs }): Change[] => [
    { atMs: acceptedAtMs, waiting: 1, inFlight: 0 },
    { atMs: createdAtMs, waiting: -1, inFlight: 1 },
    ...(freeAtMs === Infinity ? [] : [{ atMs: freeAtMs, waiting: 0, inFlight: -1 }]),
  ]);
  return changes.sort((a, b) => a.atMs - b.atMs || a.inFlight - b.inFlight || b.waiting - a.waiting);
}
