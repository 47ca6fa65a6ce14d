import { Problem } from './problem.ts';

/** For a request that has nothing to say: no body, or `{}`. Throws a Problem (400) for any other. */
export function readNoBody(text: string): void {
  if (!/^\s*(\{\s*\})?\s*$/.test(text.slice(0, 1_000)) || text.length > 1_000) {
    throw new Problem(400, 'body_invalid', 'This takes no body, or {}.', 'body');
  }
}
