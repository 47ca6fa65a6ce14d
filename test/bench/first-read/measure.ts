import { percentile } from '../percentiles.ts';
import { type Known, poll } from './poll.ts';
import { dayMs, type Faster, firstMs, renders } from './renders.ts';

export interface Figures {
  jobs: number;
  /** Status reads of all jobs over the completed ones. */
  readsPerCompleted: number;
  /** From the end at the provider until we know it. */
  newsP50Ms: number;
  newsP95Ms: number;
  newsP99Ms: number;
  newsMaxMs: number;
}

export interface Sides {
  off: Figures;
  on: Figures;
}

export interface Shift extends Sides {
  /** So many times as fast from half time on. */
  times: number;
  /** From that moment until the last late end in any hundred ends whose p95 was later than all news with the setting off; 0: there was none. */
  backAfterMs: number;
  /** Ends whose news came later meanwhile than any does with the setting off. */
  lateJobs: number;
}

export interface Measured {
  seed: string;
  jobs: number;
  days: number;
  all: Sides;
  /** Its second half, when more was known from the start. */
  secondHalf: Sides;
  byKind: ({ kind: string } & Sides)[];
  shifts: Shift[];
  readsFell: boolean;
  newsNotLater: boolean;
}

/**
 * Of the p95. Where between two reads an end falls is chance, and with the setting on the reads fall at other moments: with
 * 2,000 jobs that alone moves the p95 by about 1 %, either way.
 */
export const toleranceShare = 0.02;

/** The same renders read to their end with the setting off and on, and again with renders that are faster from half time on. */
export async function measure(seed: string, jobs: number, days: number): Promise<Measured> {
  const halfMs = firstMs + (days * dayMs) / 2;
  const steady = renders(seed, jobs, days);
  const off = await poll(steady, false);
  const on = await poll(steady, true);
  const all = sides(off, on);
  const kinds = [...new Set(steady.map(kindOf))].sort();
  return {
    seed,
    jobs,
    days,
    all,
    secondHalf: sides(off, on, ({ render }) => render.sentAtMs >= halfMs),
    byKind: kinds.map((kind) => ({ kind, ...sides(off, on, ({ render }) => kindOf(render) === kind) })),
    shifts: await Promise.all(shiftTimes.map((times) => measureShift(seed, jobs, days, { fromMs: halfMs, times }))),
    readsFell: all.on.readsPerCompleted < all.off.readsPerCompleted,
    newsNotLater: isAsEarly(all.on.newsP95Ms, all.off.newsP95Ms),
  };
}

const shiftTimes = [2, 5];
/** Ends that one stretch of news is made of. */
const stretchEnds = 100;

async function measureShift(seed: string, jobs: number, days: number, faster: Faster): Promise<Shift> {
  const { fromMs, times } = faster;
  const shifted = renders(seed, jobs, days, faster);
  const after = ({ render }: Known) => render.sentAtMs >= fromMs;
  const off = (await poll(shifted, false)).filter(after);
  const on = (await poll(shifted, true)).filter(after);
  const { off: before, on: since } = sides(off, on);
  const isLate = ({ newsMs }: Known) => newsMs > before.newsMaxMs;
  let backAtMs = fromMs;
  for (let end = stretchEnds; end <= on.length; end++) {
    const stretch = on.slice(end - stretchEnds, end);
    // A stretch is small, so that chance moves its p95; but never past the latest news of all.
    if (percentile(newsOf(stretch), 0.95) > before.newsMaxMs)
      backAtMs = stretch.findLast(isLate)?.foundAtMs ?? backAtMs;
  }
  const lateJobs = on.filter(isLate).length;
  return { times, off: before, on: since, backAfterMs: backAtMs - fromMs, lateJobs };
}

function isAsEarly(onMs: number, offMs: number): boolean {
  return onMs <= offMs * (1 + toleranceShare);
}

function sides(off: readonly Known[], on: readonly Known[], which: (known: Known) => boolean = () => true): Sides {
  return { off: figures(off.filter(which)), on: figures(on.filter(which)) };
}

function figures(known: readonly Known[]): Figures {
  const news = newsOf(known);
  const reads = known.reduce((sum, { reads }) => sum + reads, 0);
  const completed = known.filter(({ render }) => !render.fails).length;
  const at = (share: number) => (news.length === 0 ? 0 : Math.round(percentile(news, share)));
  return {
    jobs: known.length,
    readsPerCompleted: completed === 0 ? 0 : Math.round((reads / completed) * 100) / 100,
    newsP50Ms: at(0.5),
    newsP95Ms: at(0.95),
    newsP99Ms: at(0.99),
    newsMaxMs: at(1),
  };
}

function newsOf(known: readonly Known[]): Float64Array {
  return Float64Array.from(known, ({ newsMs }) => newsMs).sort();
}

function kindOf({ input }: Known['render']): string {
  return `${input.model}, ${input.duration} s, ${input.resolution}`;
}
