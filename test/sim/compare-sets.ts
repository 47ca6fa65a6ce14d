import type { Claim } from '../../lib/ports.ts';
import type { DueSetState } from './memory-sets.ts';
import type { Referee } from './referee.ts';

export type Sets = Pick<DueSetState, 'scores' | 'waiting'>;

/** The sets hold what they must: each claimed id under its token, all others as they were before or were settled to. */
export function compareSets(
  referee: Referee,
  expected: Sets,
  { scores, waiting }: Sets,
  claimed: ReadonlyMap<string, Claim>,
): void {
  for (const id of new Set([...expected.waiting.keys(), ...waiting.keys()])) {
    const [rank, wanted] = [waiting.get(id), expected.waiting.get(id)];
    if (rank !== wanted) referee.broken('who waits keeps its place', `${id} has rank ${rank}, not ${wanted}`);
  }
  for (const id of new Set([...expected.scores.keys(), ...scores.keys()])) {
    const claim = claimed.get(id);
    const wanted = claim === undefined ? expected.scores.get(id) : Number(claim.token);
    if (scores.get(id) === wanted) continue;
    const what = claim === undefined ? 'what is not settled under its token stays as it is' : 'a claim is leased';
    referee.broken(what, `${id} has score ${scores.get(id)}, not ${wanted}`);
  }
}
