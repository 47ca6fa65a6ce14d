import type { JobState } from '../job.ts';

const PROCESSING_SECONDS = 15;
const QUEUED_SECONDS_LONGEST = 30;

/**
 * What the status answer suggests as the wait before the next read: whole seconds, at least 1; null for a final state.
 * A queued job waits longer the further back it stands, up to 30 s. `place` counts from 0.
 */
export function nextPollAfterSeconds(state: JobState, place: number, timeScale: number): number | null {
  if (state === 'processing') return scaledSeconds(PROCESSING_SECONDS, timeScale);
  if (state === 'queued') {
    const seconds = Math.min(QUEUED_SECONDS_LONGEST, PROCESSING_SECONDS + 1 + Math.max(0, place));
    return scaledSeconds(seconds, timeScale);
  }
  return null;
}

/** Seconds of the modelled service as seconds on our clock: rounded up, never below 1. */
export function scaledSeconds(seconds: number, timeScale: number): number {
  return Math.max(1, Math.ceil(seconds / timeScale));
}
