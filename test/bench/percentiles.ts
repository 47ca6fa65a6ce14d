/** Of a list of ms; all null for an empty one. */
export interface Spread {
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
  count: number;
}

/** By nearest rank: `percentile(sorted, 0.5)` of 1…10 is 5. `sorted` ascends and holds at least one number. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const place = Math.min(sorted.length, Math.max(1, Math.ceil(share * sorted.length)));
  return sorted[place - 1] as number;
}

export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) return { p50: null, p95: null, p99: null, max: null, count: 0 };
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => Math.round(percentile(sorted, share) * 100) / 100;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1), count: sorted.length };
}

export function median(values: readonly number[]): number {
  return percentile(Float64Array.from(values).sort(), 0.5);
}
