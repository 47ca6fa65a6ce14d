import type { Clock } from '../ports.ts';
import { retryAfterMs } from '../providers/retry-after.ts';
import { type CheckedTarget, checkTarget, type RefusedUrl, resolveLimitMs } from './guard.ts';
import { type PostAnswer, type PostFailure, post } from './post.ts';
import type { Resolve } from './resolve.ts';
import { retryAfterMaxMs, type SendResult, succeeded } from './retry.ts';
import { signatureHeaders } from './sign.ts';
import { snippetOf } from './snippet.ts';
import type { WebhookConfig } from './webhook-config.ts';

/** What one attempt sends, and to whom. */
export interface WebhookMessage {
  url: string;
  eventId: string;
  /** Sent and signed byte by byte as it is. */
  body: string;
  /** Each signs. */
  secrets: readonly string[];
}

export interface SendPorts {
  clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  resolve: Resolve;
  /** PEM of those that may vouch for a receiver, instead of the usual ones; for tests. */
  authorities?: string;
}

/**
 * Why an attempt was no success. `refused_url`, `refused_address` and `unresolved`: the guard let nothing be connected to.
 * `redirect`: never followed. `status`: any other that is not a 2xx. `unsendable`: nothing could be signed or put into a request.
 */
type SendFault =
  | PostFailure['fault']
  | 'refused_url'
  | 'refused_address'
  | 'unresolved'
  | 'redirect'
  | 'status'
  | 'unsendable';

export const userAgent = 'pollkeeper/0.1.0';

/**
 * One attempt, over in `timeoutMs` whatever the receiver does: resolves the host, checks every address, and sends to one of them.
 * The status alone tells success, even if its body never ends. Never rejects, and leaves nothing behind.
 */
export async function sendWebhook(
  message: WebhookMessage,
  settings: WebhookConfig,
  ports: SendPorts,
): Promise<SendResult> {
  const startedAtMs = ports.clock.monotonicMs();
  const tookMs = () => ports.clock.monotonicMs() - startedAtMs;
  const failed = (fault: SendFault): SendResult => ({ ...noAnswer, fault, tookMs: tookMs() });
  try {
    const target = await checkTarget(
      message.url,
      settings,
      ports.resolve,
      Math.min(resolveLimitMs, settings.timeoutMs),
    );
    if (target.kind === 'refused') return failed(faultOfRefusal(target));
    const limitMs = Math.max(1, settings.timeoutMs - tookMs());
    const answer = await post(requestFor(message, target, limitMs, ports));
    if (answer.kind === 'failure') return failed(answer.fault);
    return { ...judged(answer, message, ports.clock.nowMs()), tookMs: tookMs() };
  } catch {
    // A secret that is not base64, or an id that can't be in a header. The error is not told: it may quote what it was given.
    return failed('unsendable');
  }
}

const noAnswer = { status: null, snippet: '', retryAfterMs: null };

function faultOfRefusal({ reason }: RefusedUrl): SendFault {
  if (reason === 'unresolved') return 'unresolved';
  return reason === 'address' ? 'refused_address' : 'refused_url';
}

type AllowedTarget = Extract<CheckedTarget, { kind: 'ok' }>;

function requestFor(message: WebhookMessage, { url, addresses }: AllowedTarget, limitMs: number, ports: SendPorts) {
  const body = Buffer.from(message.body);
  const { eventId, secrets } = message;
  const headers = {
    'content-type': 'application/json',
    'user-agent': userAgent,
    // The snippet is read as it comes.
    'accept-encoding': 'identity',
    ...signatureHeaders({ eventId, body, secrets, atMs: ports.clock.nowMs() }),
  };
  const authorities = ports.authorities === undefined ? {} : { authorities: ports.authorities };
  return { url, addresses, headers, body, limitMs, ...authorities };
}

function judged({ status, headers, body }: PostAnswer, { secrets }: WebhookMessage, nowMs: number) {
  const encoding = headers['content-encoding'] ?? 'identity';
  const snippet = encoding === 'identity' ? snippetOf(body, secrets) : '';
  if (succeeded({ status })) return { status, fault: null, snippet, retryAfterMs: null };
  const fault: SendFault = status >= 300 && status < 400 ? 'redirect' : 'status';
  return { status, fault, snippet, retryAfterMs: askedWaitMs(headers, nowMs) };
}

/** A date is measured against the receiver's own clock, or ours if it does not tell its time. */
function askedWaitMs({ 'retry-after': asked, date }: PostAnswer['headers'], nowMs: number): number | null {
  if (asked === undefined) return null;
  const waitMs = retryAfterMs({ 'retry-after': asked, date: date ?? new Date(nowMs).toUTCString() });
  return waitMs === null ? null : Math.min(waitMs, retryAfterMaxMs);
}
