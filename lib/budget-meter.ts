/*
 * Reading the account's meters: how much of a budget was used in a rolling window, when there is room again, and when it
 * will be gone. Pure; the due set's scripts write them, one count for each bucket of the window.
 */

/** One budget's use. Times in ms on the due set's clock. */
export interface Meter {
  bucketMs: number;
  /** Use in each bucket of the window, newest first; the first is the bucket that is being filled now. */
  counts: readonly number[];
  /** When the newest bucket began. */
  newestAtMs: number;
  /** When the last of the calls was due, had they come evenly; 0 when nothing was used. */
  pacedAtMs: number;
}

interface Shape {
  bucketMs: number;
  buckets: number;
}

export const minuteMeter: Shape = { bucketMs: 2_000, buckets: 32 };
export const dayMeter: Shape = { bucketMs: 3_600_000, buckets: 25 };

/** As in budget.lua: how far calls may lag behind their times. */
const paceBacklogMs = 2_000;
/** Use within one bucket tells a pace only after so long. */
const paceMinMs = 600_000;

/** From '<index of the newest bucket> <paced at ms> <count> <count of the one before> …'. What can't be read counts as unused. */
export function readMeter(text: string, { bucketMs, buckets }: Shape, nowMs: number): Meter {
  const [index = Number.NaN, pacedAtMs = Number.NaN, ...counted] = text === '' ? [] : text.split(' ').map(Number);
  const newest = Math.floor(nowMs / bucketMs);
  const counts = Array.from({ length: buckets }, () => 0);
  // A newest bucket that lies in the future was written before the clock stepped back: it counts as the one of now.
  const shift = Math.max(0, newest - index);
  for (const [age, count] of counted.entries()) {
    if (count > 0 && Number.isFinite(count) && shift + age < buckets) counts[shift + age] = count;
  }
  return { bucketMs, counts, newestAtMs: newest * bucketMs, pacedAtMs: Number.isFinite(pacedAtMs) ? pacedAtMs : 0 };
}

export function usedOf({ counts }: Meter): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** When the nth call from now on is within the limit, if nobody else makes any: `nowMs`, or when enough has left the window. */
export function roomAtMs(meter: Meter, limit: number, nth: number, nowMs: number): number {
  const windowMs = meter.bucketMs * meter.counts.length;
  const wholeWindows = Math.ceil(nth / limit) - 1;
  let missing = usedOf(meter) + (nth - wholeWindows * limit) - limit;
  let roomMs = nowMs;
  for (let age = meter.counts.length - 1; missing > 0 && age >= 0; age--) {
    missing -= meter.counts[age] ?? 0;
    roomMs = meter.newestAtMs - age * meter.bucketMs + windowMs;
  }
  return roomMs + wholeWindows * windowMs;
}

/**
 * When the nth call from now on may be made: at the earliest if it need not be slowed down, at the latest as the scripts
 * spread the second half of a budget (budget.lua), so that it lasts until the first calls no longer count. Others' calls of
 * that time are not foreseen.
 */
export function callAtMs(meter: Meter, limit: number, nth: number, nowMs: number): [number, number] {
  const windowMs = meter.bucketMs * meter.counts.length;
  const left = Math.max(0, limit - usedOf(meter));
  const earliestMs = roomAtMs(meter, limit, nth, nowMs);
  const paced = nth - Math.max(0, Math.floor(left - limit / 2));
  if (paced <= 0) return [earliestMs, earliestMs];
  const evenlyMs = nowMs + (paced * windowMs) / limit;
  if (left < 1) return [earliestMs, Math.ceil(Math.max(earliestMs, evenlyMs))];
  const gapMs = reliefMs(meter) / Math.min(left, limit / 2);
  const fromMs = Math.min(Math.max(meter.pacedAtMs, nowMs - Math.max(paceBacklogMs, gapMs)), nowMs);
  return [earliestMs, Math.ceil(Math.max(earliestMs, paced === 1 ? 0 : evenlyMs, fromMs + paced * gapMs))];
}

/** How long until the oldest calls no longer count, a sixteenth of the window at least. */
function reliefMs({ bucketMs, counts }: Meter): number {
  const oldest = Math.max(
    counts.findLastIndex((count) => count > 0),
    0,
  );
  return bucketMs * Math.max(counts.length - oldest, counts.length / 16);
}

/**
 * When the budget will be used up if the use goes on as in the newest two buckets, with what leaves the window
 * meanwhile; null when at that pace it lasts. A budget that is used up is gone now.
 */
export function goneAtMs(meter: Meter, limit: number, nowMs: number): number | null {
  const { bucketMs, counts, newestAtMs } = meter;
  let used = usedOf(meter);
  const rate = paceOf(meter, nowMs);
  let atMs = nowMs;
  if (used >= limit) return nowMs;
  if (rate === 0) return null;
  for (let bucket = 0; bucket < counts.length; bucket++) {
    const endMs = newestAtMs + (bucket + 1) * bucketMs;
    const fullMs = atMs + (limit - used) / rate;
    if (fullMs <= endMs) return Math.ceil(fullMs);
    used += rate * (endMs - atMs) - (counts[counts.length - 1 - bucket] ?? 0);
    atMs = endMs;
  }
  return null;
}

/** Per ms. Without any use before the newest bucket it began in that one, so that only its own time counts. */
function paceOf({ bucketMs, counts: [newest = 0, before = 0], newestAtMs }: Meter, nowMs: number): number {
  const intoMs = Math.max(0, nowMs - newestAtMs);
  return before === 0 ? newest / Math.max(intoMs, paceMinMs) : (newest + before) / (intoMs + bucketMs);
}
