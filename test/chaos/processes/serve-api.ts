/**
 * The packaged API function behind a small gateway of its own, which calls it as API Gateway does after the authorizer.
 * Now and then the gateway loses the answer of a request that was carried out.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { seededRandom } from '../../../infra/local/sume-simulator/simulator.ts';
import type { Ready } from '../../support/node-process.ts';
import type { AnswerLost } from '../messages.ts';
import { endWithParent } from './end-with-parent.ts';

endWithParent();

interface Answer {
  statusCode: number;
  headers?: Record<string, string>;
  body?: string;
}
type Handler = (event: object, context: object) => Promise<Answer>;

const { BUNDLE = '', SEED = '', LOST_SHARE } = process.env;
const random = seededRandom(SEED);
const { handler } = (await import(BUNDLE)) as { handler: Handler };

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { statusCode, headers, body } = await handler(eventOf(request, await text(request)), {});
  if (request.method === 'POST' && random() < Number(LOST_SHARE)) {
    process.send?.({ kind: 'answer-lost' } satisfies AnswerLost);
    response.destroy();
  } else {
    response.writeHead(statusCode, headers).end(body);
  }
}

/** An event of an HTTP API, payload version 2.0. */
function eventOf(request: IncomingMessage, body: string): object {
  const { method = 'GET', url = '/' } = request;
  const [path = '/', query = ''] = url.split('?');
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    headers: request.headers,
    requestContext: {
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'chaos' },
      domainName: 'chaos.local',
      stage: '$default',
      requestId: 'chaos',
      authorizer: { lambda: { owner: 'chaos' } },
    },
    ...(method === 'POST' && { body }),
    isBase64Encoded: false,
  };
}

const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => {
    console.error(error);
    response.destroy();
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
process.send?.({ kind: 'ready', url: `http://127.0.0.1:${port}` } satisfies Ready);
