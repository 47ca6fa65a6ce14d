import { invalid, Refusal } from './api/answer.ts';
import type { Call } from './api/call.ts';
import { fingerprint, isValidKey, TooDeepError } from './api/idempotency.ts';
import type { Job } from './job.ts';
import type { UsedKey } from './journal.ts';
import { findKey } from './world.ts';

/**
 * What the request's Idempotency-Key stands for: the job it was used for before, or (`job` absent) a key to remember with the effect.
 * Keys belong to the workspace and are kept for good. A key used for another target or another body is refused with
 * 409 `idempotency_conflict`; a request under way already counts as used, because effects are never interrupted.
 */
export function rememberedJob(call: Call, target: string): { job?: Job; used?: UsedKey } {
  const { idempotencyKey: key, simulator, tenant } = call;
  const print = requestPrint(target, call.body);
  if (key === undefined) return {};
  if (!isValidKey(key)) throw invalid('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
  const known = findKey(simulator.world, tenant.workspace, key);
  if (known === undefined) return { used: { key, fingerprint: print } };
  if (known.fingerprint !== print) {
    throw new Refusal(409, 'idempotency_conflict', 'This Idempotency-Key was used for another request.', {
      idempotency_key: key,
    });
  }
  simulator.seen.idempotentReplays += 1;
  const job = simulator.world.jobs.get(known.jobId);
  return job === undefined ? {} : { job };
}

/** Computed with or without a key: it also refuses bodies too deep to walk. */
function requestPrint(target: string, body: unknown): string {
  try {
    return fingerprint(target, body);
  } catch (error) {
    if (error instanceof TooDeepError) throw invalid('body', `is ${error.message}`);
    throw error;
  }
}
