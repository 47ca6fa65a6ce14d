import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FaultRule } from '../control/faults.ts';
import { type ReadLog, readAnswered, readEnded, readSpoiled } from '../control/observations.ts';
import { type StruckFault, strikeAnswer } from '../control/strike-answer.ts';
import type { Simulator } from '../simulator.ts';
import { type Answer, type Refusal, refusalAnswer } from './answer.ts';
import { type RateVerdict, rateHeaders } from './rate-limit.ts';
import type { RouteKind } from './route.ts';

/** One request and the way back to its sender. */
export type Exchange = {
  readonly simulator: Simulator;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Undefined when there is no such route. */
  readonly kind: RouteKind | undefined;
  readonly jobId: string;
  readonly query: string;
  /** Where a status read is written down. */
  readonly log: ReadLog | undefined;
  /** Undefined before the gate, and for routes that need no key. */
  verdict: RateVerdict | undefined;
};

/** Sends the answer, at once or after the usual delay, whole or struck by a fault. */
export function deliver(exchange: Exchange, answer: Answer, rule?: FaultRule): void {
  const { response, log } = exchange;
  const fault = rule?.fault;
  const delayMs = answerDelayMs(exchange.simulator) + (fault?.kind === 'delay' ? fault.ms : 0);
  if (delayMs === 0 && fault === undefined) {
    sendAnswer(exchange, answer);
    readEnded(log);
    return;
  }
  let underWay = log;
  const end = () => {
    readEnded(underWay);
    underWay = undefined;
  };
  response.once('close', end);
  const send = () => {
    if (response.destroyed) return;
    if (fault === undefined || fault.kind === 'delay') {
      sendAnswer(exchange, answer);
      end();
    } else {
      // A reset ends the read here and now: its reader may be back before the closed socket is heard of.
      if (fault.kind === 'reset-before-effect' || fault.kind === 'reset-after-effect') end();
      sendStruck(exchange, answer, fault);
    }
  };
  if (delayMs === 0) send();
  else setTimeout(send, delayMs).unref();
}

export function refuse(exchange: Exchange, refusal: Refusal): void {
  deliver(exchange, refusalAnswer(refusal, exchange.requestId));
}

/** The lines that every answer carries, as a flat list of names and values. */
export function commonHeaders(exchange: Exchange): string[] {
  const verdict = exchange.verdict ?? untouchedVerdict(exchange.simulator);
  const headers = ['X-Request-Id', exchange.requestId];
  return verdict === undefined ? headers : headers.concat(rateHeaders(verdict));
}

function sendAnswer(exchange: Exchange, answer: Answer): void {
  const { response, simulator, log } = exchange;
  const headers = commonHeaders(exchange);
  headers.push('Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(answer.body)));
  if (answer.headers) headers.push(...answer.headers);
  count429(exchange, answer.status);
  response.writeHead(answer.status, headers);
  if (log && answer.read) {
    const { monotonicMs, nowMs } = simulator.settings;
    readAnswered(log, answer.read, { monotonicMs: monotonicMs(), nowMs: nowMs() });
  } else if (log) {
    readSpoiled(log);
  }
  response.end(answer.body);
}

function sendStruck(exchange: Exchange, trueAnswer: Answer, fault: StruckFault): void {
  if (exchange.log) readSpoiled(exchange.log);
  if (fault.kind === 'error' || fault.kind === 'answer') count429(exchange, fault.status ?? 200);
  strikeAnswer(fault, {
    response: exchange.response,
    jobId: exchange.jobId,
    requestId: exchange.requestId,
    nowMs: exchange.simulator.settings.nowMs(),
    headers: commonHeaders(exchange),
    trueAnswer,
  });
}

function count429(exchange: Exchange, status: number): void {
  if (status !== 429) return;
  const { kind } = exchange;
  exchange.simulator.seen.refused429[kind === 'create' || kind === 'status' ? kind : 'other'] += 1;
}

/** What a caller without a key is told: the read limit, untouched. Nothing when limits are off. */
function untouchedVerdict(simulator: Simulator): RateVerdict | undefined {
  const limit = simulator.settings.limits.readsPerMinute;
  if (!Number.isFinite(limit)) return undefined;
  const resetSeconds = Math.max(1, Math.ceil(60 / simulator.settings.timeScale));
  return { allowed: true, limit, remaining: limit, resetSeconds };
}

function answerDelayMs({ settings, random }: Simulator): number {
  const { mean, spread } = settings.answerDelayMs;
  if (mean === 0 && spread === 0) return 0;
  return Math.max(0, mean + (random() * 2 - 1) * spread);
}
