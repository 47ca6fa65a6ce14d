/** What a request is answered with. `headers` is a flat list of names and values, without those that every answer carries. */
export type Answer = { status: number; body: string; headers?: string[]; read?: StatusRead };

/** What a status answer told its reader: the suggested wait in seconds, and whether the job is over. */
type StatusRead = { hintSeconds: number | null; terminal: boolean };

/** A refusal in the service's own envelope. `requestId` is put in when it is sent. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown>;
  readonly headers: string[];

  constructor(
    status: number,
    code: string,
    message: string,
    details: Record<string, unknown> = {},
    headers: string[] = [],
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

export function refusalAnswer(refusal: Refusal, requestId: string): Answer {
  const { status, code, message, details, headers } = refusal;
  return { status, headers, body: JSON.stringify({ error: { code, message, details }, request_id: requestId }) };
}

/** A 429 that says how many whole seconds to wait. */
export function tooMany(
  code: string,
  message: string,
  retryAfterSeconds: number,
  details: Record<string, unknown>,
): Refusal {
  const seconds = String(retryAfterSeconds);
  return new Refusal(429, code, message, { ...details, retry_after_seconds: retryAfterSeconds }, [
    'Retry-After',
    seconds,
  ]);
}

/** A 400 that names the field and what is wrong with it. */
export function invalid(field: string, issue: string): Refusal {
  return new Refusal(400, 'invalid_request', `${field} ${issue}.`, { field, issue });
}
