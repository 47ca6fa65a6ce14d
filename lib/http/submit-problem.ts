import type { AdoptResult } from '../adopt.ts';
import type { Refusal } from '../refusal.ts';
import type { SpendingCapReached } from '../spending-cap.ts';
import type { ItemResult } from '../submit-batch.ts';
import { isoOrNull } from './iso.ts';
import { Problem } from './problem.ts';
import { problemOf } from './problem-of.ts';

type Refused = Exclude<ItemResult | AdoptResult, { kind: 'accepted' }>;

/** What a job that was not taken in is answered with. */
export function itemProblem(result: Refused): Problem {
  switch (result.kind) {
    case 'conflict':
      return keyReused(result.job.id);
    case 'no_account':
      return noAccount(result.wanted);
    case 'capped':
      return aboveCap(result.error);
    case 'failed':
      return problemOf(result.error);
    case 'not_tried': {
      const detail = 'There was no time left for this item. Nothing was written; send it again as it is.';
      return new Problem(503, 'not_tried', detail);
    }
    default:
      return refusalProblem(result);
  }
}

export function keyReused(jobId: string): Problem {
  const detail = 'This Idempotency-Key was used before with another body. Use a new key for a new job.';
  return new Problem(422, 'idempotency_key_reused', detail, 'Idempotency-Key', { job_id: jobId });
}

export function refusalProblem(refusal: Refusal): Problem {
  switch (refusal.kind) {
    case 'batch_completed': {
      const detail = 'This batch has ended, and its end was told: no more jobs can be added. Use a new name.';
      return new Problem(409, 'batch_completed', detail, 'batch');
    }
    case 'webhook_refused':
      return urlRefused(refusal.reason, 'webhook_url');
    case 'webhook_disabled': {
      const detail =
        'The endpoint of this webhook_url is disabled. Enable it first: PATCH it with {"state":"enabled"}.';
      return new Problem(409, 'webhook_disabled', detail, 'webhook_url', { endpoint_id: refusal.endpointId });
    }
  }
}

export function urlRefused(reason: string, field: string): Problem {
  return new Problem(400, 'webhook_url_refused', reason, field);
}

/** The same for an account that does not exist and for one that is somebody else's. */
export function noAccount(wanted: string | undefined): Problem {
  if (wanted === undefined) return new Problem(403, 'no_account', 'No account is open to this owner.');
  const detail = 'This is no account of yours. Leave account out, and the job is placed in one that is.';
  return new Problem(403, 'account_not_allowed', detail, 'account');
}

export function aboveCap({ message, dayEndsAtMs }: SpendingCapReached): Problem {
  return new Problem(402, 'spending_cap_reached', message, undefined, { day_ends_at: isoOrNull(dayEndsAtMs) });
}
