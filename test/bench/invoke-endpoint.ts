import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Lambda's API, reduced to asynchronous invokes of whatever function. */
export interface InvokeEndpoint {
  url: string;
  close(): void;
}

/** Answers 202 at once, as Lambda does when it has queued the event, and hands the event and the function's name over. */
export async function startInvokeEndpoint(invoked: (event: string, name: string) => void): Promise<InvokeEndpoint> {
  const server = createServer((request, response) => {
    let event = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      event += chunk;
    });
    request.on('end', () => {
      const isAsynchronous = request.headers['x-amz-invocation-type'] === 'Event';
      const [, name] = /\/functions\/([^/]+)\/invocations$/.exec(request.url ?? '') ?? [];
      const isInvoke = request.method === 'POST' && isAsynchronous && name !== undefined;
      response.writeHead(isInvoke ? 202 : 400).end();
      if (isInvoke) invoked(event === '' ? '{}' : event, name);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
