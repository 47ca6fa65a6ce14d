import type { DrainKill } from './drains.ts';
import type { LostClaim } from './lease-book.ts';

/*
 * How soon a killed drain's jobs are read again. It is counted from the kill to the provider's next call about the job,
 * and anew from each setback that came before that call: the drain that had claimed it meanwhile was killed too, or the
 * reply to its claim was dropped, so that nobody had it. Jobs that an emptied Redis lost in between are counted apart:
 * the sweep brings those back, and they wait half a minute, because nobody knows when they may be read.
 */

export interface RecoveryRequest {
  kills: readonly DrainKill[];
  lostClaims: readonly LostClaim[];
  wipesAtMs: readonly number[];
  /** By job: when the provider was called about it, in order. */
  callsAtMs: ReadonlyMap<string, readonly number[]>;
}

export interface Recovery {
  /** Jobs that killed drains had in hand, one a kill. */
  inHand: number;
  /** Of these, those that were read again without a wiped Redis in between. */
  measured: number;
  maxSeconds: number;
  meanSeconds: number;
  /** The longest, from its first kill whatever came after. */
  maxFromFirstKillSeconds: number;
  wiped: number;
  maxWipedSeconds: number;
  /** Not called about any more: the end was written before the kill. */
  ended: number;
  /** The longest: which job, and when it was killed. */
  worst: { id: string; killedAtMs: number } | null;
}

interface Wait {
  id: string;
  killedAtMs: number;
  calledAtMs: number;
}

export function recoveryOf(request: RecoveryRequest): Recovery {
  const waits: Wait[] = [];
  let ended = 0;
  for (const { atMs, inHand } of request.kills) {
    for (const id of inHand) {
      const calledAtMs = request.callsAtMs.get(id)?.find((callAtMs) => callAtMs > atMs);
      if (calledAtMs === undefined) ended++;
      else waits.push({ id, killedAtMs: atMs, calledAtMs });
    }
  }
  const isWiped = ({ killedAtMs, calledAtMs }: Wait) =>
    request.wipesAtMs.some((atMs) => atMs >= killedAtMs && atMs <= calledAtMs);
  const measured = waits.filter((wait) => !isWiped(wait));
  const setbacks = setbacksOf(request);
  const seconds = measured.map((wait) => secondsBetween(lastBefore(setbacks, wait), wait.calledAtMs));
  const max = Math.max(0, ...seconds);
  const worst = measured[seconds.indexOf(max)];
  const wiped = waits.filter(isWiped);
  const sum = seconds.reduce((total, one) => total + one, 0);
  return {
    inHand: waits.length + ended,
    measured: measured.length,
    maxSeconds: max,
    meanSeconds: measured.length === 0 ? 0 : Math.round((sum / measured.length) * 100) / 100,
    maxFromFirstKillSeconds: longest(measured),
    wiped: wiped.length,
    maxWipedSeconds: longest(wiped),
    ended,
    worst: worst === undefined ? null : { id: worst.id, killedAtMs: worst.killedAtMs },
  };
}

function setbacksOf({ kills, lostClaims }: RecoveryRequest): Map<string, number[]> {
  const setbacks = new Map<string, number[]>();
  const add = (id: string, atMs: number) => {
    const list = setbacks.get(id);
    if (list === undefined) setbacks.set(id, [atMs]);
    else list.push(atMs);
  };
  for (const { atMs, inHand } of kills) for (const id of inHand) add(id, atMs);
  for (const { id, atMs } of lostClaims) add(id, atMs);
  return setbacks;
}

function lastBefore(setbacks: ReadonlyMap<string, readonly number[]>, { id, calledAtMs }: Wait): number {
  return Math.max(...(setbacks.get(id) ?? []).filter((atMs) => atMs < calledAtMs));
}

function longest(waits: readonly Wait[]): number {
  return Math.max(0, ...waits.map(({ killedAtMs, calledAtMs }) => secondsBetween(killedAtMs, calledAtMs)));
}

function secondsBetween(fromMs: number, toMs: number): number {
  return Math.round((toMs - fromMs) / 10) / 100;
}
