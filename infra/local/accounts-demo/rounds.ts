import type { Admission } from './evidence.ts';

/**
 * For every job of one account, how many rounds it stood first in its owner's line: the jobs of others that were admitted meanwhile,
 * by the number of owners who had a job waiting when it came to stand there, its own among them. In fair turns that is about
 * one; first come first served makes it as many as jobs were there before.
 */
export function roundsIn(admissions: readonly Admission[]): { owner: string; rounds: number }[] {
  const inOrder = [...admissions].sort((a, b) => a.createdAtMs - b.createdAtMs);
  const before = new Map<string, Admission>();
  return inOrder.map((job) => {
    const firstAtMs = Math.max(job.acceptedAtMs, before.get(job.owner)?.createdAtMs ?? Number.NEGATIVE_INFINITY);
    before.set(job.owner, job);
    const ahead = inOrder.filter(
      ({ owner, createdAtMs }) => owner !== job.owner && createdAtMs > firstAtMs && createdAtMs < job.createdAtMs,
    );
    const waiting = inOrder.filter((one) => one.acceptedAtMs <= firstAtMs && one.createdAtMs > firstAtMs);
    const owners = new Set([job.owner, ...waiting.map(({ owner }) => owner)]);
    return { owner: job.owner, rounds: ahead.length / owners.size };
  });
}
