import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { FaultPlan, parseFaults } from './faults.ts';
import { type AskedRequest, commandNames, parseRequest, readTarget, type Target } from './parse-request.ts';
import { readBody } from './read-body.ts';
import { readAccess, readFormat } from './read-head.ts';
import { RedisGoneError } from './redis-link.ts';
import { ErrorReply, type Reply } from './resp.ts';
import { type Access, type AskedCommand, CommandRunner } from './run-commands.ts';
import { type Answer, failure, jsonAnswer, refuseBrokenHttp, sendAnswer } from './send-answer.ts';
import { contentTypes, type ReplyFormat, writeReplies, writeReply } from './write-reply.ts';

export type UpstashRestOptions = {
  /** Port of a plain Redis on 127.0.0.1. It need not be up yet. */
  redisPort: number;
  token: string;
  /** A second token that may only read. */
  readOnlyToken?: string;
  /** Absent or 0: a free port. */
  port?: number;
  /** Largest request body and largest reply to one command. Default 10 MiB, as on the smaller plans. */
  bytesMax?: number;
  /** A Redis silent for this long counts as gone. Default 30,000. */
  replyTimeoutMs?: number;
  /** Source of chance for `dropReplies` below 1. Default `Math.random`. */
  random?: () => number;
  /** Told of each command outside of transactions that was run: a test's own books. */
  onRun?: (run: CommandRun) => void;
};

/** `answered`: false when the reply is dropped on its way back. */
export type CommandRun = { asked: AskedCommand; reply: Reply; answered: boolean };

/** `httpRequests`: all but those to the control paths. `commands`: those sent to Redis (not the ones inside scripts). */
type UpstashRestCounts = { httpRequests: number; commands: number };

export type UpstashRest = {
  url: string;
  port: number;
  counts(): UpstashRestCounts;
  close(): Promise<void>;
};

type Bridge = {
  options: UpstashRestOptions;
  bytesMax: number;
  runner: CommandRunner;
  faults: FaultPlan;
  httpRequests: number;
};

type Outcome = Answer | 'drop' | 'hang';

/**
 * Upstash's REST interface in front of a plain Redis, for work on one machine: the `@upstash/redis` client behaves the same
 * against it. Two control paths are ours and need the full token: `GET /__counts` answers `UpstashRestCounts`,
 * `POST /__faults` takes `Faults` (faults.ts). While Redis is away, requests get 503 (nothing ran) or 500 (it may
 * have run); the bridge finds Redis again by itself. Rejects when the port is taken.
 */
export async function startUpstashRest(options: UpstashRestOptions): Promise<UpstashRest> {
  const bytesMax = options.bytesMax ?? 10 * 1024 * 1024;
  const replyTimeoutMs = options.replyTimeoutMs ?? 30_000;
  const runner = new CommandRunner({ redisPort: options.redisPort, replyTimeoutMs, replyBytesMax: bytesMax });
  const faults = new FaultPlan(options.random ?? Math.random);
  const bridge: Bridge = { options, bytesMax, runner, faults, httpRequests: 0 };
  const server = createServer({ maxHeaderSize: 64 * 1024, keepAliveTimeout: 60_000, requestTimeout: 60_000 });
  server.on('request', (request, response) => void answerRequest(bridge, request, response));
  server.on('clientError', refuseBrokenHttp);
  const port = await listen(server, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    counts: () => countsOf(bridge),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      runner.close();
      await closed;
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      reject(taken ? new Error(`Upstash REST bridge: port ${port} is already in use; choose another`) : error);
    });
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

function countsOf(bridge: Bridge): UpstashRestCounts {
  return { httpRequests: bridge.httpRequests, commands: bridge.runner.sentCount };
}

async function answerRequest(bridge: Bridge, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const outcome = await decideOutcome(bridge, request).catch(failureFor);
  if (outcome === 'drop') response.destroy();
  else if (outcome !== 'hang') sendAnswer(response, outcome, bridge.runner.sentCount.toString(36));
}

function failureFor(error: unknown): Answer {
  if (error instanceof RedisGoneError) return failure(error.sent ? 500 : 503, `ERR ${error.message}`);
  return failure(500, `ERR the bridge failed: ${error instanceof Error ? error.message : error}`);
}

async function decideOutcome(bridge: Bridge, request: IncomingMessage): Promise<Outcome> {
  const target = readTarget(request.url ?? '/');
  const isControl = target.path === '/__counts' || target.path === '/__faults';
  if (!isControl) bridge.httpRequests += 1;
  const method = request.method ?? '';
  if (!['GET', 'HEAD', 'POST', 'PUT'].includes(method)) return failure(405, 'ERR method not allowed');
  const access = readAccess(bridge.options, request, target);
  if (access === undefined || (isControl && access !== 'full')) {
    return failure(401, 'WRONGPASS invalid or missing auth token');
  }
  const read = await readBody(request, bridge.bytesMax);
  if ('tooLarge' in read) {
    return failure(
      413,
      `ERR max request size exceeded. Limit: ${bridge.bytesMax} bytes, Actual: ${read.tooLarge} bytes`,
    );
  }
  if (isControl) return answerControl(bridge, target, read.bytes);
  const format = readFormat(request, target);
  if ('error' in format) return failure(400, format.error);
  const takesBody = method === 'POST' || method === 'PUT';
  const asked = parseRequest(target, takesBody ? read.bytes : Buffer.alloc(0));
  return asked.kind === 'malformed' ? failure(400, asked.error) : runAsked(bridge, asked, access, format.format);
}

function answerControl(bridge: Bridge, target: Target, body: Buffer): Answer {
  if (target.path === '/__counts') return jsonAnswer(200, countsOf(bridge));
  try {
    bridge.faults.replace(parseFaults(body.toString('utf8')));
    return jsonAnswer(200, { result: 'OK' });
  } catch (error) {
    return failure(400, `ERR ${error instanceof Error ? error.message : error}`);
  }
}

async function runAsked(bridge: Bridge, asked: AskedRequest, access: Access, format: ReplyFormat): Promise<Outcome> {
  const fault = bridge.faults.next(commandNames(asked));
  if (fault.delayMs > 0) await delay(fault.delayMs);
  switch (fault.act.kind) {
    case 'hang':
      return 'hang';
    case 'fail':
      return jsonAnswer(fault.act.status, fault.act.body);
    case 'drop':
      await execute(bridge, asked, access, format, false);
      return 'drop';
    case 'none':
      return execute(bridge, asked, access, format, true);
  }
}

async function execute(
  { runner, options }: Bridge,
  asked: AskedRequest,
  access: Access,
  format: ReplyFormat,
  answered: boolean,
): Promise<Answer> {
  const type = contentTypes[format];
  if (asked.kind === 'transaction') {
    const replies = await runner.transaction(asked.commands, access);
    if (replies instanceof ErrorReply) return failure(400, replies.message);
    return { status: 200, type, body: writeReplies(replies, format) };
  }
  const replies = await runner.pipeline(asked.commands, access);
  asked.commands.forEach((one, index) => {
    options.onRun?.({ asked: one, reply: replies[index] ?? null, answered });
  });
  if (asked.kind === 'pipeline') return { status: 200, type, body: writeReplies(replies, format) };
  const reply = replies[0] ?? null;
  return { status: reply instanceof ErrorReply ? 400 : 200, type, body: writeReply(reply, format) };
}
