/** Two receivers: `/good` answers at once, `/hang` after so long that nobody waits for it. Whatever else comes is not counted. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { endWithParent } from '../../chaos/processes/end-with-parent.ts';
import type { Ready } from '../../support/node-process.ts';
import type { EventsSeen } from '../messages.ts';

endWithParent();

const hangMs = Number(process.env.HANG_MS);
const delays = new Map<string, number>();
let repeats = 0;
let hanging = 0;

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const arrivedAtMs = Date.now();
  if (request.url === '/hang') {
    hanging++;
    const timer = setTimeout(() => response.end(), hangMs);
    response.once('close', () => clearTimeout(timer));
    request.resume();
    return;
  }
  const id = String(request.headers['webhook-id']);
  const { timestamp } = JSON.parse(await text(request)) as { timestamp: string };
  if (request.url !== '/good') return void response.end();
  if (delays.has(id)) repeats++;
  else delays.set(id, arrivedAtMs - Date.parse(timestamp));
  response.end();
}

const server = createServer((request, response) => {
  receive(request, response).catch((error: unknown) => {
    console.error(error);
    response.destroy();
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('message', () => {
  process.send?.({ delaysMs: [...delays.values()], repeats, hanging } satisfies EventsSeen);
});
const { port } = server.address() as AddressInfo;
process.send?.({ kind: 'ready', url: `http://127.0.0.1:${port}` } satisfies Ready);
