import type { WebhookEvent } from './answers.ts';
import { readHeader, verifyWebhook, type WebhookRequest } from './verify-webhook.ts';

/**
 * The event that a webhook brings; null unless it verifies (see `verifyWebhook`) and is an event. Never throws. An event of a
 * type that is newer than this client comes through as well: let a `switch` over `type` ignore what it does not know.
 */
export async function readWebhook(request: WebhookRequest): Promise<WebhookEvent | null> {
  if (!(await verifyWebhook(request))) return null;
  const { payload, headers } = request;
  const message = parse(typeof payload === 'string' ? payload : new TextDecoder().decode(payload));
  if (typeof message !== 'object' || message === null) return null;
  const { type, timestamp, data } = message as Partial<WebhookEvent>;
  if (typeof type !== 'string' || typeof timestamp !== 'string') return null;
  if (typeof data !== 'object' || data === null) return null;
  return { id: readHeader(headers, 'webhook-id'), type, timestamp, data } as WebhookEvent;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
