/* Headers of requests and of answers, as the document has them. */

export const parameterHeaders = {
  'Idempotency-Key': {
    required: true,
    description: 'A value of your own, new for each job and the same on every retry. With or without quotes.',
    schema: { type: 'string', minLength: 1, maxLength: 257 },
    example: 'campaign-814-scene-12',
  },
  'If-None-Match': {
    required: false,
    description: 'The `ETag` of the job as you know it: with `wait`, the answer comes once there is another one.',
    schema: { type: 'string', maxLength: 100 },
  },
  'X-Sume-Event-Id': { required: false, description: 'The id of the event.', schema: { type: 'string' } },
  'X-Sume-Timestamp': { required: false, description: 'Seconds since 1970.', schema: { type: 'string' } },
  'X-Sume-Signature': {
    required: false,
    description: 'The signature of Sume over the time and the body.',
    schema: { type: 'string' },
  },
} as const;

const text = { type: 'string' } as const;

export const headers = {
  'X-Request-Id': { description: 'The id of this request, also in the service’s own log.', schema: text },
  Location: { description: 'The path of what was made.', schema: text },
  'Idempotent-Replayed': {
    description: '`true` when the key and body were sent before: the job is the one made then.',
    schema: { const: 'true' },
  },
  ETag: { description: 'Changes with every change of the job.', schema: text },
  'Retry-After': { description: 'Seconds to wait before the request is repeated.', schema: text },
  RateLimit: { description: 'What is left of the limit, and when there is more.', schema: text },
  'RateLimit-Policy': { description: 'The limit, and its window in seconds.', schema: text },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: text },
} as const;

/** What comes with a problem of this status, beside the request's id. */
export const headersByStatus: Readonly<Record<number, readonly (keyof typeof headers)[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
};

/** What comes with every good answer to a request with a token. */
export const tokenHeaders = ['RateLimit', 'RateLimit-Policy'] as const satisfies readonly (keyof typeof headers)[];
