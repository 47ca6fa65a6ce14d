import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

/*
 * Somebody else's receiver: it knows its secret and the package of Standard Webhooks, and uses nothing of ours.
 */

export interface Arrival {
  path: string;
  /** `webhook-id`. */
  id: string;
  body: string;
  event: { type: string; timestamp: string; data: { id: string; [field: string]: unknown } };
}

/** `silence`: no answer at all, until the sender gives up. */
export type Manner = 'ok' | 'error' | 'hang_up' | 'silence';

export interface WebhookReceiver {
  url: string;
  /** Those that verified, in the order in which they came. */
  arrivals: readonly Arrival[];
  /** Why the others did not. */
  refused: readonly string[];
  /** What is sent to this path is signed with this secret. */
  trust(path: string, secret: string): void;
  close(): Promise<void>;
}

/** `answer` says how each arrival is answered, after it has been taken in. */
export async function startWebhookReceiver(answer: (arrival: Arrival) => Promise<Manner>): Promise<WebhookReceiver> {
  const secrets = new Map<string, string>();
  const arrivals: Arrival[] = [];
  const refused: string[] = [];

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const body = await text(request);
    // Throws for a signature that does not fit the body, or a time that is not now.
    const event = new Webhook(secrets.get(path) ?? '').verify(body, request.headers as Record<string, string>);
    const arrival = { path, id: String(request.headers['webhook-id']), body, event: event as Arrival['event'] };
    arrivals.push(arrival);
    const manner = await answer(arrival);
    if (manner === 'hang_up') response.destroy();
    else if (manner !== 'silence') response.writeHead(manner === 'ok' ? 204 : 500).end();
  }

  const server = createServer((request, response) => {
    receive(request, response).catch((error: unknown) => {
      // The sender was killed before its request was whole.
      if (request.readableAborted) return;
      refused.push(`${request.url}: ${error}`);
      response.writeHead(400).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    refused,
    trust: (path, secret) => void secrets.set(path, secret),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
