/* The meters of budget.lua in memory. */

interface Meter {
  readonly sizeMs: number;
  readonly max: number | null;
  readonly newest: number;
  pacedMs: number;
  readonly counts: number[];
  perMs: number | null;
}

export interface MemoryBudget {
  readonly may: number;
  readonly againAtMs: number;
  /** The field after so many calls; the same one when there is nothing to count. */
  spent(calls: number): string;
}

interface Ask {
  field: string;
  nowMs: number;
  minuteMax: number | null;
  dayMax: number | null;
  told: readonly [number | null, number | null];
  spoken: number;
  perCall: number;
  /** Calls that were made and not counted yet; below 0, counted and not made. */
  extra: number;
}

export function memoryBudget({ field, nowMs, minuteMax, dayMax, told, spoken, perCall, extra }: Ask): MemoryBudget {
  const [minuteText = '', dayText = ''] = field.includes('|') ? field.split('|') : ['', ''];
  const meters = [
    readMeter(minuteText, nowMs, { sizeMs: 2_000, buckets: 32, max: minuteMax, extra }),
    readMeter(dayText, nowMs, { sizeMs: 3_600_000, buckets: 25, max: dayMax, extra }),
  ];
  const [left, tillMs] = told;
  const isTold = left !== null && tillMs !== null && nowMs < tillMs;
  let may = isTold ? Math.floor(left / perCall) : Number.POSITIVE_INFINITY;
  let againAtMs = isTold && may < 1 ? tillMs : 0;
  for (const meter of meters) {
    const own = allowed(meter, nowMs, spoken, perCall);
    may = Math.min(may, own.may);
    if (own.may < 1) againAtMs = Math.max(againAtMs, own.againAtMs);
  }
  const spent = (calls: number) => {
    if ((calls === 0 && extra === 0) || (minuteMax === null && dayMax === null)) return field;
    return meters.map((meter) => written(meter, calls, nowMs)).join('|');
  };
  return { may, againAtMs, spent };
}

function readMeter(
  text: string,
  nowMs: number,
  { sizeMs, buckets, max, extra }: { sizeMs: number; buckets: number; max: number | null; extra: number },
): Meter {
  const given = text
    .split(' ')
    .filter((word) => word !== '')
    .map(Number);
  const newest = Math.floor(nowMs / sizeMs);
  const shift = Math.max(newest - (given[0] ?? 0), 0);
  const counts = Array.from({ length: buckets }, (_, index) => (index >= shift ? (given[2 + index - shift] ?? 0) : 0));
  counts[0] = (counts[0] ?? 0) + Math.max(extra, 0);
  let unmade = Math.max(-extra, 0);
  for (const [index, count] of [...counts.entries()].reverse()) {
    const taken = Math.min(count, unmade);
    counts[index] = count - taken;
    unmade -= taken;
  }
  return { sizeMs, max, newest, pacedMs: given[1] ?? 0, counts, perMs: null };
}

function allowed(meter: Meter, nowMs: number, spoken: number, perCall: number): { may: number; againAtMs: number } {
  if (meter.max === null) return { may: Number.POSITIVE_INFINITY, againAtMs: 0 };
  const left = meter.max - meter.counts.reduce((sum, count) => sum + count, 0) - spoken;
  const each = Math.min(perCall, meter.max);
  if (left < each) return { may: 0, againAtMs: (meter.newest + 1) * meter.sizeMs };
  const buckets = meter.counts.length;
  const oldest = meter.counts.findLastIndex((count) => count > 0) + 1;
  const perMs = left / (meter.sizeMs * Math.max(buckets + 1 - Math.max(oldest, 1), buckets / 16));
  const room = Math.floor(left / each);
  if (left >= meter.max / 2) {
    return { may: Math.min(Math.max(Math.floor(left - meter.max / 2), 1), room), againAtMs: 0 };
  }
  meter.perMs = perMs;
  meter.pacedMs = Math.max(Math.min(meter.pacedMs, nowMs), nowMs - Math.max(2_000, 1 / perMs));
  const may = Math.min(Math.floor((nowMs - meter.pacedMs) * perMs + 1e-6), room);
  return { may, againAtMs: meter.pacedMs + 1 / perMs };
}

function written(meter: Meter, calls: number, nowMs: number): string {
  const [first = 0, ...older] = meter.counts;
  const pacedMs = meter.perMs === null ? nowMs : meter.pacedMs + calls / meter.perMs;
  return [meter.newest, Math.floor(pacedMs), first + calls, ...older].join(' ');
}
