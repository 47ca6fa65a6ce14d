import { createHash } from 'node:crypto';
import { pollDefaultMs } from './due.ts';
import type { Job } from './job.ts';

/*
 * What is known of how long the renders of one kind take. Pure. Of each render two ages are counted: that at which it was
 * last seen running, a lower bound of its render time, by which its kind's first reads are delayed; and that at which its
 * end was found, by which an end is predicted. An age is ms since the create was sent.
 */

/** Bin 0 is below a second; the others grow by a fifth each; the last is from 24 hours on. */
export const binCount = 64;
const binsFromMs = 1_000;
const binsToMs = 24 * 3_600_000;

/** Nothing is delayed on the word of fewer samples than this… */
export const samplesMin = 100;
/** …or when they came in less time: a burst of one afternoon says little. Nor does a generation end sooner. */
export const spanMinMs = 3_600_000;
/** A generation of samples ends with so many. It is kept until the next one ends: so what is known is never old. */
export const generationMax = 400;
/** So many renders may end before their first read: what is later by it stays far from the p95 of all news. */
export const earlyShare = 0.02;
/** Of that many delayed first reads… */
export const watchMax = 100;
/** …so many that found the render ended already are no chance any more: renders have become faster. */
export const lateMax = 6;
/** Below that many ends nothing is predicted. */
export const predictMin = 20;

/** How many samples fell into each bin; `binCount` of them. */
export type Bins = readonly number[];

/** Samples of one stretch of time. */
export interface Generation {
  /** Ages at which renders were last seen running; only of those whose first read was not delayed. */
  seen: Bins;
  /** Ages at which ends were found. */
  found: Bins;
  /** When the first of `seen` was taken, ms since 1970; null without any. */
  firstAtMs: number | null;
}

export interface RenderTimes {
  current: Generation;
  previous: Generation | null;
  /** When the last of `seen` was taken, ms since 1970; 0 without any. */
  lastAtMs: number;
  /** Jobs whose first read was delayed and who have ended, since they were last counted anew. */
  delayed: number;
  /** Those of them that had ended by then. */
  late: number;
}

/** What one run of a drain adds. */
export interface RenderSamples {
  seen: Bins;
  found: Bins;
  delayed: number;
  late: number;
  /** When the first and the last of `seen` were taken, ms since 1970; null without any. */
  atMs: { first: number; last: number } | null;
}

/** Render times by kind, shared by all drains. Every call rejects with a JobStoreError and nothing else. */
export interface RenderTimesStore {
  /** Null when nothing is known of the kind. */
  get(kind: string): Promise<RenderTimes | null>;
  /** Adds up with what others add meanwhile. A repeat after a lost reply may count twice. */
  add(kind: string, samples: RenderSamples): Promise<void>;
}

export const noBins: Bins = Array.from({ length: binCount }, () => 0);
export const noRenderTimes: RenderTimes = {
  current: { seen: noBins, found: noBins, firstAtMs: null },
  previous: null,
  lastAtMs: 0,
  delayed: 0,
  late: 0,
};

/** 32 hex digits that are the same for jobs whose renders take about as long: of one provider, model, duration (in whole seconds) and resolution. */
export function renderKind({ provider, input }: Pick<Job, 'provider' | 'input'>): string {
  const { model, duration, resolution } = input;
  const seconds = typeof duration === 'number' ? Math.ceil(duration) : null;
  const words = [model, resolution].map((word) => (typeof word === 'string' ? word : null));
  return createHash('sha256')
    .update(JSON.stringify([provider, seconds, ...words]))
    .digest('hex')
    .slice(0, 32);
}

/**
 * The age, ms, before which the first read of a render is not worth while. Null while not enough is known, and where renders
 * end so early that no read can be saved: then every job tells how long it took, not the control group alone.
 */
export function firstReadMs(times: RenderTimes): number | null {
  const { current, previous, lastAtMs, late } = times;
  if (late >= lateMax) return null;
  const seen = sumOf(current.seen, previous?.seen);
  const count = total(seen);
  const firstAtMs = previous?.firstAtMs ?? current.firstAtMs ?? lastAtMs;
  if (count < samplesMin || lastAtMs - firstAtMs < spanMinMs) return null;
  const firstMs = lowerEdgeMs(binAt(seen, Math.ceil(count * earlyShare)));
  return firstMs > pollDefaultMs ? firstMs : null;
}

/** Between which ages, ms, four of five renders are found ended. Null while not enough is known. */
export function predictedEndMs({ current, previous }: RenderTimes): [fromMs: number, toMs: number] | null {
  const found = sumOf(current.found, previous?.found);
  const count = total(found);
  if (count < predictMin) return null;
  const from = binAt(found, Math.ceil(count * 0.1));
  const to = binAt(found, Math.ceil(count * 0.9));
  return [lowerEdgeMs(from), lowerEdgeMs(to + 1)];
}

/** What is to be kept instead, or null when it is to stay: too much was late, a generation is full, or the late ones are counted anew. */
export function turned(times: RenderTimes): RenderTimes | null {
  const { current, lastAtMs } = times;
  // What was learnt no longer holds; with it gone, nothing is delayed until enough is known again.
  if (times.late >= lateMax) return noRenderTimes;
  const watch = times.delayed >= watchMax ? { delayed: 0, late: 0 } : {};
  const isFull = total(current.seen) >= generationMax && lastAtMs - (current.firstAtMs ?? lastAtMs) >= spanMinMs;
  if (isFull) return { ...times, ...watch, current: noRenderTimes.current, previous: current };
  return times.delayed >= watchMax ? { ...times, ...watch } : null;
}

/** The bin of an age in ms. */
export function binOf(ageMs: number): number {
  if (!(ageMs >= binsFromMs)) return 0;
  const bin = 1 + Math.floor(((binCount - 2) * Math.log(ageMs / binsFromMs)) / Math.log(binsToMs / binsFromMs));
  const bounded = Math.min(bin, binCount - 1);
  // The edges are whole ms: an age that is one of them is in the bin that it begins.
  return bounded < binCount - 1 && ageMs >= lowerEdgeMs(bounded + 1) ? bounded + 1 : bounded;
}

/** Where a bin begins, ms; past the last one, its own beginning. */
export function lowerEdgeMs(bin: number): number {
  if (bin <= 0) return 0;
  return Math.ceil(binsFromMs * (binsToMs / binsFromMs) ** ((Math.min(bin, binCount - 1) - 1) / (binCount - 2)));
}

/** The bin that holds the nth smallest sample, n from 1. */
function binAt(bins: Bins, nth: number): number {
  let below = 0;
  for (const [bin, count] of bins.entries()) {
    below += count;
    if (below >= nth) return bin;
  }
  return binCount - 1;
}

function sumOf(bins: Bins, more: Bins = noBins): Bins {
  return bins.map((count, bin) => count + (more[bin] ?? 0));
}

function total(bins: Bins): number {
  return bins.reduce((sum, count) => sum + count, 0);
}
