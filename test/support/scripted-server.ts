import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/* An HTTP server that does to its callers, byte by byte, what a test tells it to. Raw TCP: it can break any rule. */

export interface Received {
  method: string;
  path: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
  /** Which socket it came over, from 1. */
  connection: number;
}

/** What is done to the caller's socket once a whole request has come. */
export type Answer = (socket: Socket) => void;

export interface ScriptedServer {
  url: string;
  port: number;
  /** Every whole request, oldest first. */
  received: Received[];
  /** Picks the answer to the nth request (from 1); replaced by each test. */
  reply: (request: Received, nth: number) => Answer;
  /** Answers with these in turn, then again and again with the last. */
  script(...answers: Answer[]): void;
  /** Bytes that went out since the start. */
  sent(): number;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1; `port` 0 is a free one. Answers 500 until told otherwise. */
export async function startScriptedServer(port = 0): Promise<ScriptedServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  let sentBefore = 0;
  const listener = createServer((socket) => {
    sockets.add(socket);
    const connection = ++connections;
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sentBefore += socket.bytesWritten;
      sockets.delete(socket);
    });
    readRequests(socket, (request) => {
      server.received.push({ ...request, connection });
      server.reply({ ...request, connection }, server.received.length)(socket);
    });
  });
  listener.listen(port, '127.0.0.1');
  await once(listener, 'listening');
  const bound = (listener.address() as AddressInfo).port;
  const server: ScriptedServer = {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    received: [],
    reply: () => answer(500),
    script(...answers) {
      let next = 0;
      server.received = [];
      server.reply = () => answers[Math.min(next++, answers.length - 1)] ?? answer(500);
    },
    sent: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, sentBefore),
    async close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
  return server;
}

function readRequests(socket: Socket, take: (request: Omit<Received, 'connection'>) => void): void {
  let buffered = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk]);
    for (;;) {
      const headEnd = buffered.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const [first = '', ...lines] = buffered.subarray(0, headEnd).toString('latin1').split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.split(':', 1)[0]?.toLowerCase() ?? '', line.slice(line.indexOf(':') + 1).trim()]),
      );
      const end = headEnd + 4 + Number(headers['content-length'] ?? 0);
      if (buffered.length < end) return;
      const body = buffered.subarray(headEnd + 4, end).toString('utf8');
      buffered = buffered.subarray(end);
      const [method = '', path = ''] = first.split(' ');
      take({ method, path, headers, body });
    }
  });
}

type Headers = Record<string, string | string[]>;

/** The head of an HTTP answer; of a list one line for each value. */
export function head(status: number, headers: Headers = {}): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`));
  return `HTTP/1.1 ${status} Scripted\r\n${lines.join('')}\r\n`;
}

/** A whole, honest answer on a connection that stays open. */
export function answer(status: number, body: string | Buffer = '', headers: Headers = {}): Answer {
  const bytes = Buffer.from(body as string);
  const length: Headers = status === 204 || status === 304 ? {} : { 'content-length': String(bytes.length) };
  return (socket) => void socket.write(Buffer.concat([Buffer.from(head(status, { ...length, ...headers })), bytes]));
}

export function json(value: unknown, status = 200, headers: Headers = {}): Answer {
  return answer(status, JSON.stringify(value), { 'content-type': 'application/json', ...headers });
}

/** Sends bytes as they are, and leaves the connection open. */
export function raw(bytes: string | Buffer): Answer {
  return (socket) => void socket.write(bytes);
}

/** Sends bytes, then closes the connection in order. */
export function rawThenClose(bytes: string | Buffer): Answer {
  return (socket) => void socket.end(bytes);
}

export const hang: Answer = () => {};

export const reset: Answer = (socket) => void socket.resetAndDestroy();

/** Sends `start`, then `part` every `everyMs` for as long as the caller listens. */
export function drip(start: string, part: string, everyMs: number): Answer {
  return (socket) => {
    socket.write(start);
    const timer = setInterval(() => socket.write(part), everyMs);
    socket.on('close', () => clearInterval(timer));
  };
}

/** Sends `start`, then `part` as fast as the caller takes it, `times` times. */
export function flood(start: string, part: Buffer, times = Number.POSITIVE_INFINITY): Answer {
  return (socket) => {
    let left = times;
    const pour = () => {
      while (!socket.destroyed && left-- > 0) if (!socket.write(part)) return;
    };
    socket.on('drain', pour);
    socket.write(start);
    pour();
  };
}
