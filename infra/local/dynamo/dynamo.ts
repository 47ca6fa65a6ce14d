import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

/** Requests that arrived since the start, failed ones included (a failed condition is billed too). */
interface DynamoCounts {
  /** Gets, queries, scans; each key of a BatchGetItem. */
  reads: number;
  /** Puts, updates, deletes; each item of a BatchWriteItem. */
  writes: number;
  /** Those of the writes that were to a job's record, not to what a run of a function notes of many. */
  recordWrites: number;
  /** Calls by operation name, e.g. `{"PutItem": 30}`. */
  byOperation: Record<string, number>;
}

export interface DynamoOptions {
  /** Where the data is kept; in memory if absent. */
  dataDir?: string;
  /** A free one if absent or 0. */
  port?: number;
}

export interface Dynamo {
  url: string;
  port: number;
  counts(): DynamoCounts;
  close(): Promise<void>;
}

interface DynaliteOptions {
  path?: string;
  createTableMs: number;
  deleteTableMs: number;
  updateTableMs: number;
}

const require = createRequire(import.meta.url);
const dynalite: (options: DynaliteOptions) => Server = require('dynalite');
const { Level }: { Level: new (path: string) => { open(): Promise<void>; close(): Promise<void> } } = createRequire(
  require.resolve('dynalite'),
)('level');

const writeOperations = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem']);
const readOperations = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);

/**
 * DynamoDB for this machine: dynalite on 127.0.0.1, its data in LevelDB. `GET /__counts` answers with the counts.
 * Rejects if the port is taken or the data is in use by another process.
 */
export async function startDynamo(options: DynamoOptions = {}): Promise<Dynamo> {
  if (options.dataDir !== undefined) await proveUsable(options.dataDir);
  const server = dynalite({
    ...(options.dataDir === undefined ? {} : { path: options.dataDir }),
    createTableMs: 0,
    deleteTableMs: 0,
    updateTableMs: 0,
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const counts: DynamoCounts = { reads: 0, writes: 0, recordWrites: 0, byOperation: {} };
  countRequests(server, counts);
  return { url, port, counts: () => structuredClone(counts), close: () => closeServer(server) };
}

/**
 * dynalite opens its data behind our back and, if it can't, ends the process at the first call. So the data is opened once
 * before it, in the same way; LevelDB's lock keeps a second process out.
 */
async function proveUsable(dataDir: string): Promise<void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const level = new Level(dataDir);
  try {
    await level.open();
  } catch (error) {
    const cause = (error as { cause?: { code?: string; message?: string } }).cause;
    const reason = cause?.code === 'LEVEL_LOCKED' ? 'another process is using it' : (cause?.message ?? `${error}`);
    throw new Error(`DynamoDB: the data in ${dataDir} can't be opened: ${reason}`);
  }
  await level.close();
}

/** Puts the counting in front of dynalite's own handler. */
function countRequests(server: Server, counts: DynamoCounts): void {
  const [answer] = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  if (answer === undefined) throw new Error('dynalite has no request handler: its version is not the one expected');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'GET' && request.url === '/__counts') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(counts));
      return;
    }
    const operation = operationOf(request);
    if (operation !== undefined) countOnArrival(request, operation, counts);
    answer(request, response);
    // dynalite throws on a broken request, which would end the process when a client is killed in the middle of a call.
    request.removeAllListeners('error');
    request.on('error', () => response.destroy());
  });
}

function operationOf(request: IncomingMessage): string | undefined {
  const target = request.headers['x-amz-target'];
  return typeof target === 'string' ? target.split('.')[1] : undefined;
}

function countOnArrival(request: IncomingMessage, operation: string, counts: DynamoCounts): void {
  const chunks: Buffer[] = [];
  const isBatch = operation === 'BatchWriteItem' || operation === 'BatchGetItem';
  if (isBatch || operation === 'UpdateItem') request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    const items = isBatch ? batchSize(body) : 1;
    counts.byOperation[operation] = (counts.byOperation[operation] ?? 0) + 1;
    if (writeOperations.has(operation)) {
      counts.writes += items;
      if (operation !== 'UpdateItem' || /"id":\{"S":"job_/.test(body)) counts.recordWrites += items;
    }
    if (readOperations.has(operation)) counts.reads += items;
  });
}

/** How many items a batch call names; 1 if its body can't be understood, for the call is billed as one at least. */
function batchSize(body: string): number {
  try {
    const tables = Object.values((JSON.parse(body) as { RequestItems: object }).RequestItems);
    return tables.reduce((sum: number, table: unknown[] | { Keys: unknown[] }) => {
      return sum + (Array.isArray(table) ? table.length : table.Keys.length);
    }, 0);
  } catch {
    return 1;
  }
}

/** Closes the database in order; calls that are still open get a moment, no more. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const hurry = setTimeout(() => server.closeAllConnections(), 500);
  await closed;
  clearTimeout(hurry);
}
