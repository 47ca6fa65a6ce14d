import type { RedeliverJobResult } from '../redeliver.ts';
import { Problem } from './problem.ts';

/** What is answered when nothing is sent again. */
export function redeliverProblem(result: Exclude<RedeliverJobResult, { kind: 'due' }>): Problem {
  switch (result.kind) {
    case 'no_event':
      return new Problem(409, 'no_event', 'There is no news of this job yet.', 'id');
    case 'nobody':
      return new Problem(409, 'nobody_listens', 'No endpoint is to hear of the newest event of this job.', 'id');
    case 'endpoint_disabled': {
      const detail = 'The endpoint is disabled. Enable it first: PATCH it with {"state":"enabled"}.';
      return new Problem(409, 'endpoint_disabled', detail, 'id', { endpoint_id: result.endpointId });
    }
    case 'endpoint_removed':
      return new Problem(409, 'endpoint_removed', 'The endpoint was removed.', 'id', {
        endpoint_id: result.endpointId,
      });
    case 'raced':
      return requestRaced();
  }
}

export function requestRaced(): Problem {
  return new Problem(409, 'request_raced', 'Others kept changing it at the same moment. Repeat the request.');
}
