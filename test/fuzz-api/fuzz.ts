import * as fc from 'fast-check';
import { AnswerCheck } from './answer-check.ts';
import { type ApiDocument, routesAt } from './document.ts';
import { Findings, type FoundFault } from './findings.ts';
import type { SentRequest } from './gateway-event.ts';
import { KnownThings } from './known.ts';
import { PrintedLines } from './printed-lines.ts';
import { requestsFor } from './requests.ts';
import { secretFaults } from './secret-check.ts';
import { answerInTime, sentRequest } from './send.ts';
import type { Stage } from './stage.ts';

export interface FuzzFigures {
  requests: number;
  seed: number;
  byStatus: Record<string, number>;
  byCode: Record<string, number>;
  /** Routes that were never answered well: the more requests, the fewer. */
  unreached: string[];
  faults: FoundFault[];
  faultCount: number;
  ok: boolean;
}

export interface FuzzSettings {
  requests: number;
  seed: number;
  /** Called now and then. */
  progress(done: number): void;
}

const chunk = 250;

/** Sends the requests, one after the other, and looks at every answer. */
export async function fuzz(stage: Stage, document: ApiDocument, settings: FuzzSettings): Promise<FuzzFigures> {
  const { requests, seed, progress } = settings;
  const findings = new Findings();
  const planned = requestsFor(document);
  const check = new AnswerCheck(document);
  const known = new KnownThings();
  known.learn(stage.firstIds);
  const printed = new PrintedLines();
  printed.start();
  try {
    for (let start = 0; start < requests; start += chunk) {
      // Each chunk has a seed of its own, so that not all requests have to be kept.
      const plans = fc.sample(planned, { seed: (seed + start) % 2 ** 31, numRuns: Math.min(chunk, requests - start) });
      for (const plan of plans) {
        const request = sentRequest(plan, ++findings.requests, known, stage.hookSecret);
        await lookAt(request, { stage, document, check, known, printed, findings });
      }
      progress(findings.requests);
    }
  } finally {
    printed.stop();
  }
  const { byStatus, byCode, faults, faultCount } = findings;
  const unreached = findings.unreached(document.routes);
  return { requests, seed, byStatus, byCode, unreached, faults, faultCount, ok: faultCount === 0 };
}

interface Looking {
  stage: Stage;
  document: ApiDocument;
  check: AnswerCheck;
  known: KnownThings;
  printed: PrintedLines;
  findings: Findings;
}

async function lookAt(request: SentRequest, looking: Looking): Promise<void> {
  const { stage, document, check, known, printed, findings } = looking;
  const answer = await answerInTime(stage, request);
  const writes = await stage.writes();
  if (typeof answer === 'string') return findings.note(answer, request, null);
  const { statusCode: status, body } = answer;
  const value = parse(body);
  const routes = routesAt(document, request.rawPath).filter(({ method }) => method === request.method);
  findings.count(status, value, routes);
  const faults = [
    ...check.faults(request, answer),
    ...(mustNotWrite(request, status, value) ? writeFaults(writes) : []),
    ...secretFaults(request, answer, printed.take(), stage.secrets),
  ];
  for (const fault of faults) findings.note(fault, request, answer);
  if (status < 300) known.learn(value);
}

/** What is refused writes nothing, nor what only reads, nor several submits of which none was taken. */
function mustNotWrite({ method }: SentRequest, status: number, value: unknown): boolean {
  if (status >= 300 || method === 'GET' || method === 'HEAD') return true;
  const { accepted, replayed } = (value ?? {}) as { accepted?: unknown; replayed?: unknown };
  return accepted === 0 && replayed === 0;
}

function writeFaults(writes: readonly string[]): string[] {
  return writes.length === 0 ? [] : [`it has written: ${[...new Set(writes)].slice(0, 5).join(', ')}`];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
