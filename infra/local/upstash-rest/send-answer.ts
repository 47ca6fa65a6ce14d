import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { writeError } from './write-reply.ts';

export type Answer = { status: number; type: string; body: string | Buffer };

/** A text goes as it is, anything else as JSON. */
export function jsonAnswer(status: number, body: unknown): Answer {
  return { status, type: 'application/json', body: typeof body === 'string' ? body : JSON.stringify(body ?? null) };
}

export function failure(status: number, message: string): Answer {
  return { status, type: 'application/json', body: writeError(message) };
}

/** `syncToken` moves forward with the writes; the client sends it back with its next request. */
export function sendAnswer(response: ServerResponse, answer: Answer, syncToken: string): void {
  if (response.headersSent || response.destroyed) return;
  const headers: Record<string, string | number> = {
    'content-type': answer.type,
    'content-length': Buffer.byteLength(answer.body),
    'upstash-sync-token': syncToken,
  };
  if (answer.status === 405) headers.allow = 'HEAD, GET, POST, PUT';
  response.writeHead(answer.status, headers).end(answer.body);
}

/** Answers what Node could not read as HTTP, as a `clientError` listener. */
export function refuseBrokenHttp(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  const body = writeError('ERR the request is not readable as HTTP');
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  socket.end(`${head}\r\nconnection: close\r\n\r\n${body}`);
}
