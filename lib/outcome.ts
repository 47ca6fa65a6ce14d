import type { Fault, JobResult, Usage } from './job.ts';

/** Where a running render stands: still in the provider's queue, or being rendered. */
export type Phase = 'queued' | 'processing';

/**
 * What one call to the provider came to. Every answer, good or mangled, becomes exactly one of these; the transport
 * never throws past the provider's client. `hintMs` and `retryAfterMs` are null when the provider did not say.
 */
export type Outcome =
  /** Create: the provider has the job, now or already before (a replay). */
  | { kind: 'accepted'; providerJobId: string; phase: Phase; word?: string; hintMs: number | null; usage?: Usage }
  /** Create: no for good (a 4xx that a repeat cannot cure). `repeated` as below. */
  | { kind: 'refused'; fault: Fault; repeated?: boolean }
  /** Create: no slot at the provider now. `repeated`: an earlier call, whose end nobody knows, may have brought the job there. */
  | { kind: 'no_slot'; retryAfterMs: number | null; fault: Fault; repeated?: boolean }
  /** Read: not ended yet. */
  | { kind: 'running'; phase: Phase; word?: string; hintMs: number | null; usage?: Usage }
  /** Read: ended. `completed` carries its result, or null when the provider had none to give. */
  | { kind: 'completed'; word: string; result: JobResult | null; usage?: Usage }
  | { kind: 'ended'; as: 'failed' | 'canceled' | 'expired'; word: string; fault?: Fault; usage?: Usage }
  /** Read: the provider does not know the job (404). */
  | { kind: 'missing'; fault: Fault }
  /** Read: too many reads (429). */
  | { kind: 'throttled'; retryAfterMs: number | null; fault: Fault }
  /** The account's key (401, 403) or credit (402: `noCredit`) was refused: says nothing about the job. `repeated` as above. */
  | { kind: 'denied'; fault: Fault; noCredit?: true; repeated?: boolean }
  /** No verdict: transport error, 5xx, time-out, an answer that makes no sense. */
  | { kind: 'trouble'; fault: Fault; retryAfterMs: number | null };
