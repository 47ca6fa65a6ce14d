import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Answer, Refusal, refusalAnswer } from '../api/answer.ts';
import type { Fault } from './faults.ts';

/** What a struck answer needs to know. `trueAnswer` is what the request would have got. */
type Struck = {
  response: ServerResponse;
  jobId: string;
  requestId: string;
  nowMs: number;
  /** The headers that every answer carries, as a flat list. */
  headers: readonly string[];
  trueAnswer: Answer;
};

const MEGABYTE = 1_048_576;
const HUGE_BYTES = 50 * MEGABYTE;
const BOMB_BYTES = 64 * MEGABYTE;
const CHUNK = Buffer.alloc(65_536, ' ');
const DRIP_BYTES_PER_SECOND = 20;
const DRIP_INTERVAL_MS = 50;
const JSON_TYPE = ['Content-Type', 'application/json'];
const zip = promisify(gzip);

/** Carries out a fault on the wire. */
export function strikeAnswer(fault: StruckFault, struck: Struck): void {
  const strike = STRIKES[fault.kind] as (struck: Struck, fault: StruckFault) => void;
  strike(struck, fault);
}

export type StruckFault = Exclude<Fault, { kind: 'delay' }>;
type StruckKind = StruckFault['kind'];

const STRIKES: { [Kind in StruckKind]: (struck: Struck, fault: Extract<Fault, { kind: Kind }>) => void } = {
  error: sendError,
  answer: (struck, { status, body, headers }) =>
    send(struck, status ?? 200, body, headers ? Object.entries(headers).flat() : JSON_TYPE),
  hang: () => {},
  'slow-body': (struck, { bytesPerSecond }) => drip(struck, bytesPerSecond ?? DRIP_BYTES_PER_SECOND),
  'stalled-body': (struck) => {
    start(struck);
    struck.response.write(half(struck.trueAnswer.body));
  },
  'huge-body': (struck, { bytes }) => flood(struck, bytes ?? HUGE_BYTES),
  'endless-body': (struck) => flood(struck, Number.POSITIVE_INFINITY),
  'gzip-bomb': (struck, { bytes }) => sendBomb(struck, bytes ?? BOMB_BYTES),
  'malformed-json': (struck) =>
    send(struck, 200, `{"id": "${struck.jobId}", "status": processing, terminal: nope`, JSON_TYPE),
  'cut-off-json': (struck) => send(struck, struck.trueAnswer.status, half(struck.trueAnswer.body), JSON_TYPE),
  'cut-off-connection': (struck) => {
    start(struck);
    struck.response.write(half(struck.trueAnswer.body), () => struck.response.destroy());
  },
  'empty-body': (struck, { status }) => send(struck, status ?? 200, '', JSON_TYPE),
  'wrong-id': (struck, { id }) => sendWrongId(struck, id ?? 'job_of_somebody_else'),
  redirect: (struck, { location, status }) => send(struck, status ?? 302, '', ['Location', location]),
  'reset-before-effect': reset,
  'reset-after-effect': reset,
};

function reset({ response }: Struck): void {
  response.socket?.resetAndDestroy();
}

function sendError(struck: Struck, fault: Extract<Fault, { kind: 'error' }>): void {
  const headers = retryAfter(fault, struck.nowMs);
  if (fault.html) {
    const page = `<html><head><title>${fault.status}</title></head><body><h1>${fault.status}</h1></body></html>\n`;
    send(struck, fault.status, page, ['Content-Type', 'text/html', ...headers]);
    return;
  }
  const code = fault.code ?? codeOf(fault.status);
  const refusal = new Refusal(fault.status, code, fault.message ?? 'Asked for by a fault rule.', {}, [
    ...JSON_TYPE,
    ...headers,
  ]);
  const answer = refusalAnswer(refusal, struck.requestId);
  send(struck, answer.status, answer.body, refusal.headers);
}

function retryAfter(fault: Extract<Fault, { kind: 'error' }>, nowMs: number): string[] {
  if (fault.retryAfter === undefined) return [];
  if (fault.retryAfterForm !== 'http-date') return ['Retry-After', String(fault.retryAfter)];
  return ['Retry-After', new Date(nowMs + fault.retryAfter * 1000).toUTCString()];
}

function codeOf(status: number): string {
  switch (status) {
    case 401:
      return 'invalid_api_key';
    case 402:
      return 'insufficient_credits';
    case 403:
      return 'forbidden';
    case 404:
      return 'job_not_found';
    case 429:
      return 'rate_limit_exceeded';
    case 503:
      return 'service_unavailable';
    default:
      return status >= 500 ? 'internal_error' : 'invalid_request';
  }
}

function sendWrongId(struck: Struck, wrongId: string): void {
  const { status, body } = struck.trueAnswer;
  const id = struck.jobId || /"(?:id|request_id)":"(job_[^"]+)"/.exec(body)?.[1];
  send(struck, status, id ? body.replaceAll(id, wrongId) : body, JSON_TYPE);
}

async function sendBomb(struck: Struck, bytes: number): Promise<void> {
  const packed = await zip(Buffer.alloc(bytes, ' '), { level: 9 });
  send(struck, 200, packed, [...JSON_TYPE, 'Content-Encoding', 'gzip']);
}

function send(struck: Struck, status: number, body: string | Buffer, headers: readonly string[]): void {
  const length = ['Content-Length', String(Buffer.byteLength(body))];
  struck.response.writeHead(status, [...struck.headers, ...headers, ...length]).end(body);
}

/** Sends the headers of the true answer, its length among them. */
function start({ response, headers, trueAnswer }: Struck): void {
  const length = String(Buffer.byteLength(trueAnswer.body));
  response.writeHead(trueAnswer.status, [...headers, ...JSON_TYPE, 'Content-Length', length]);
  response.flushHeaders();
}

function drip(struck: Struck, bytesPerSecond: number): void {
  const { response, trueAnswer } = struck;
  const bytes = Buffer.from(trueAnswer.body);
  const step = Math.max(1, Math.round((bytesPerSecond * DRIP_INTERVAL_MS) / 1000));
  const intervalMs = (step * 1000) / bytesPerSecond;
  let sent = 0;
  start(struck);
  const timer = setInterval(() => {
    response.write(bytes.subarray(sent, sent + step));
    sent += step;
    if (sent < bytes.length) return;
    clearInterval(timer);
    response.end();
  }, intervalMs);
  response.on('close', () => clearInterval(timer));
}

/** Spaces after an opening brace: valid JSON so far, for as long as the reader cares to read. */
function flood(struck: Struck, bytes: number): void {
  const { response } = struck;
  response.writeHead(200, [...struck.headers, ...JSON_TYPE]);
  response.write('{');
  let sent = 1;
  const pour = (): void => {
    while (sent < bytes && !response.destroyed) {
      sent += CHUNK.length;
      if (!response.write(CHUNK)) return void response.once('drain', pour);
    }
    response.end('}');
  };
  pour();
}

function half(body: string): string {
  return body.slice(0, Math.floor(body.length / 2));
}
