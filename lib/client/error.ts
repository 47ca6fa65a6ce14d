/** What the problem document of an error tells beyond the error's own fields. */
export type ProblemBody = Readonly<Record<string, unknown>>;

interface Details {
  status: number | null;
  code: string;
  retryable: boolean;
  field?: string;
  requestId?: string;
  retryAfterMs?: number;
  idempotencyKey?: string;
  jobId?: string;
  problem?: ProblemBody;
}

/** Whatever kept a call from its answer, except that the caller broke it off. It never holds the token. */
export class PollkeeperError extends Error {
  override readonly name = 'PollkeeperError';
  /** HTTP status of the last answer; null when none came. */
  readonly status: number | null;
  /**
   * The service's own code, e.g. `body_invalid`, or one of the client's: `network_error`, `timeout`, `wait_timeout`,
   * `answer_invalid`, `http_<status>`.
   */
  readonly code: string;
  /** Whether the same call may be answered better later. The client has then already repeated it as often as it may. */
  readonly retryable: boolean;
  /** The header, parameter or body field that is wrong. */
  readonly field?: string;
  /** Of the last answer; names the request in the service's log. */
  readonly requestId?: string;
  /** How long the service asked to wait, ms. */
  readonly retryAfterMs?: number;
  /** Of a submit: with it, the same submit can be repeated without a second job. */
  readonly idempotencyKey?: string;
  /** Of a wait: the job, which goes on without it. */
  readonly jobId?: string;
  /** The whole problem document. */
  readonly problem?: ProblemBody;

  constructor(message: string, details: Details) {
    super(message);
    this.status = details.status;
    this.code = details.code;
    this.retryable = details.retryable;
    if (details.field !== undefined) this.field = details.field;
    if (details.requestId !== undefined) this.requestId = details.requestId;
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
    if (details.idempotencyKey !== undefined) this.idempotencyKey = details.idempotencyKey;
    if (details.jobId !== undefined) this.jobId = details.jobId;
    if (details.problem !== undefined) this.problem = details.problem;
  }

  /** The same error, with what it was about. */
  about(what: { idempotencyKey: string } | { jobId: string }): PollkeeperError {
    return new PollkeeperError(this.message, { ...this, ...what });
  }
}
