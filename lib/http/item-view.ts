import type { AdoptResult } from '../adopt.ts';
import type { ItemResult } from '../submit-batch.ts';
import { jobSummary } from './job-view.ts';
import { Problem, problemBody } from './problem.ts';
import { itemProblem } from './submit-problem.ts';

/** What became of the items of one request, in their order; `accepted` counts those that are new. */
export function itemsView(results: readonly (ItemResult | AdoptResult | Problem)[]) {
  const accepted = results.filter(
    (result) => 'kind' in result && result.kind === 'accepted' && !result.replayed,
  ).length;
  const replayed = results.filter((result) => 'kind' in result && result.kind === 'accepted' && result.replayed).length;
  return { items: results.map(itemView), accepted, replayed, refused: results.length - accepted - replayed };
}

function itemView(result: ItemResult | AdoptResult | Problem, index: number) {
  if (!(result instanceof Problem) && result.kind === 'accepted') {
    return { index, status: 202, replayed: result.replayed, job: jobSummary(result.job) };
  }
  const problem = result instanceof Problem ? result : itemProblem(result);
  return { index, status: problem.status, problem: problemBody(problem) };
}
