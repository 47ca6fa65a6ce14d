import { createHash } from 'node:crypto';
import { RESOLUTIONS } from '../api/price.ts';

const MEDIAN_SECONDS = 60;
const REFERENCE_DURATION_SECONDS = 8;
/** Longer clips take longer, but less than in proportion. */
const DURATION_EXPONENT = 0.6;
/** Width of the lognormal spread: about one render in twenty takes more than twice the median. */
const SIGMA = 0.45;
const SHORTEST_SECONDS = 20;
const LONGEST_SECONDS = 240;

/** A number of seconds in the range, every one as likely as another. */
export function evenly({ least, most }: { least: number; most: number }, random: number): number {
  return least + random * (most - least);
}

type Clip = { durationSeconds: number; resolution: string };

/** Numbers in [0, 1) that depend on nothing but the seed and the job id. */
export function jobRandoms(seed: string, jobId: string): { render: [number, number]; fate: number; failure: number } {
  const digest = createHash('sha256').update(`${seed}\n${jobId}`).digest();
  const at = (index: number) => digest.readUInt32BE(index * 4) / 2 ** 32;
  return { render: [at(0), at(1)], fate: at(2), failure: at(3) };
}

/** Render time in seconds of real time (before any time scale), between 20 and 240. Two uniform numbers in, Box–Muller inside. */
export function renderSeconds(clip: Clip, [first, second]: [number, number]): number {
  const normal = Math.sqrt(-2 * Math.log(1 - first)) * Math.cos(2 * Math.PI * second);
  const duration = (clip.durationSeconds / REFERENCE_DURATION_SECONDS) ** DURATION_EXPONENT;
  const resolution = RESOLUTIONS.get(clip.resolution)?.renderTime ?? 1;
  const seconds = MEDIAN_SECONDS * duration * resolution * Math.exp(SIGMA * normal);
  return Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, seconds));
}
