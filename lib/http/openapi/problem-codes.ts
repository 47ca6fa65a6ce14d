/*
 * Every `code` of a problem, with its status and what it means. An operation lists those that it can be answered with; the
 * document has them by status.
 */
export const problemCodes = {
  token_invalid: [401, 'The bearer token is missing or not one of this service.'],
  scope_missing: [403, 'The token does not have the scope that this takes.'],
  rate_limited: [429, 'The owner has made too many requests; wait as `Retry-After` says.'],
  internal_error: [
    500,
    'A bug on our side. Nothing is known of what was written; repeat with the same Idempotency-Key.',
  ],
  record_unavailable: [
    503,
    'The record can not be reached now. A write may have been made all the same; repeat the request.',
  ],
  due_set_unavailable: [503, 'The due set can not be reached now; repeat the request.'],
  tokens_unavailable: [503, 'The tokens can not be read now; repeat the request.'],
  path_invalid: [400, 'The path can not be read.'],
  header_invalid: [400, 'A header has characters that no header can have.'],
  body_not_json: [400, 'The body is not valid JSON.'],
  body_not_text: [400, 'The body is not UTF-8 text.'],
  body_invalid: [400, '`field` of the body is missing or breaks its rule.'],
  body_too_deep: [400, 'The body nests too deeply.'],
  number_inexact: [400, 'A number has more digits than can be kept.'],
  body_too_large: [413, 'The body, or one item, has too many bytes.'],
  idempotency_key_missing: [400, 'The Idempotency-Key header is missing.'],
  idempotency_key_invalid: [400, 'The Idempotency-Key header breaks its rule, or was sent twice.'],
  idempotency_key_reused: [422, 'The key was used before for another request; `job_id` names its job.'],
  webhook_url_refused: [
    400,
    'Webhooks can not be sent to this URL: https, a public address, port 443 or 8443, no credentials.',
  ],
  spending_cap_reached: [
    402,
    'The job would pass the spending cap of its owner; `day_ends_at` is when the day is over.',
  ],
  no_account: [403, 'No account is open to this owner.'],
  account_not_allowed: [403, 'The account does not exist, or is not open to this owner.'],
  not_operator: [403, 'The account is paused and resumed by others.'],
  account_needed: [400, 'The owner may use several accounts: say which.'],
  webhook_disabled: [409, 'The endpoint of this `webhook_url` is disabled.'],
  endpoint_disabled: [409, 'The endpoint is disabled; enable it first.'],
  endpoint_removed: [409, 'The endpoint was removed.'],
  nobody_listens: [409, 'No endpoint listens to this event.'],
  request_raced: [409, 'Others wrote at the same time; repeat the request.'],
  batch_completed: [409, 'The batch has ended: it takes no more jobs.'],
  state_invalid: [400, 'The parameter `state` breaks its rule.'],
  batch_invalid: [400, 'The parameter `batch` breaks its rule.'],
  limit_invalid: [400, 'The parameter `limit` breaks its rule.'],
  wait_invalid: [400, 'The parameter `wait` breaks its rule.'],
  endpoint_id_invalid: [400, 'The parameter `endpoint_id` breaks its rule.'],
  cursor_invalid: [400, 'The cursor was edited, or is of another list.'],
  no_such_job: [404, 'There is no such job, or it is another owner’s.'],
  no_such_batch: [404, 'There is no such batch, or it is another owner’s.'],
  no_such_endpoint: [404, 'There is no such endpoint, or it is another owner’s.'],
  no_such_delivery: [404, 'There is no such delivery, or it is another owner’s.'],
  no_such_account: [404, 'There is no such account, or it is not visible to this owner.'],
  job_ended: [409, 'The job has ended.'],
  job_unconfirmed: [409, 'The provider never confirmed the job, and sending it again might bill it twice.'],
  no_event: [409, 'There is no event of this job yet.'],
  too_many_endpoints: [409, 'The owner has as many endpoints as there may be.'],
  endpoint_of_jobs: [409, 'The endpoint came with jobs: they say where it leads and what it hears.'],
  too_many_secrets: [409, 'Too many earlier secrets still sign.'],
  signature_invalid: [401, 'The signature is missing, wrong or too old.'],
} as const satisfies Record<string, readonly [status: number, meaning: string]>;

export type ProblemCode = keyof typeof problemCodes;

/** What every request may meet. */
export const anyProblems = [
  'path_invalid',
  'header_invalid',
  'body_not_text',
  'internal_error',
] as const satisfies readonly ProblemCode[];

/** What every request with a token may meet. */
export const tokenProblems = [
  ...anyProblems,
  'token_invalid',
  'scope_missing',
  'rate_limited',
  'record_unavailable',
  'due_set_unavailable',
  'tokens_unavailable',
] as const satisfies readonly ProblemCode[];

/** What every request with a body may meet besides. */
export const bodyProblems = [
  'body_not_json',
  'body_invalid',
  'body_too_deep',
  'number_inexact',
  'body_too_large',
] as const satisfies readonly ProblemCode[];
