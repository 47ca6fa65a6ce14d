import { DueSetError, JobStoreError } from '../errors.ts';
import { Problem } from './problem.ts';

/** What anything that was thrown is answered with. Only a bug is a 500, and nothing of it is told. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof JobStoreError && !error.broken) {
    const detail = 'The record can not be reached now. A write may have been made all the same; repeat the request.';
    return new Problem(503, 'record_unavailable', detail);
  }
  if (error instanceof DueSetError) {
    return new Problem(503, 'due_set_unavailable', 'The due set can not be reached now; repeat the request.');
  }
  return new Problem(500, 'internal_error', 'The request failed on our side.');
}
