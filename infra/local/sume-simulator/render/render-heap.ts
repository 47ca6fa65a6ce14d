import type { Job } from '../job.ts';

/** A render in a lane. The entry is stale once the job has left that lane or its end was moved. */
export type Render = { job: Job; endsAtMs: number };

function endsBefore(left: Render, right: Render): boolean {
  if (left.endsAtMs !== right.endsAtMs) return left.endsAtMs < right.endsAtMs;
  return left.job.number < right.job.number;
}

/** Adds to a binary heap ordered by end; equal ends go in the order of creation. */
export function pushRender(heap: Render[], render: Render): void {
  let index = heap.length;
  heap.push(render);
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !endsBefore(render, parent)) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = render;
}

/** Takes the render that ends first. */
export function popRender(heap: Render[]): Render | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let below = 2 * index + 1;
    let child = heap[below];
    if (child === undefined) break;
    const sibling = heap[below + 1];
    if (sibling !== undefined && endsBefore(sibling, child)) {
      below += 1;
      child = sibling;
    }
    if (!endsBefore(child, last)) break;
    heap[index] = child;
    index = below;
  }
  heap[index] = last;
  return first;
}
