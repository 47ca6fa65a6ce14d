import type { GivenAnswer } from './answer-check.ts';
import type { SentRequest } from './gateway-event.ts';
import { describe } from './send.ts';

export interface FoundFault {
  /** Of the run, from 1. */
  nth: number;
  fault: string;
  request: string;
  /** Null when none came. */
  status: number | null;
  /** The beginning of its body. */
  answer: string;
}

/** What a run has seen. */
export class Findings {
  requests = 0;
  readonly byStatus: Record<string, number> = {};
  /** By the codes of the problems. */
  readonly byCode: Record<string, number> = {};
  /** The first few, each fault once. */
  readonly faults: FoundFault[] = [];
  /** All of them. */
  faultCount = 0;
  /** Of the routes that were answered well at least once: method and path. */
  readonly #reached = new Set<string>();

  count(status: number, value: unknown, routes: readonly { method: string; path: string }[]): void {
    this.byStatus[status] = (this.byStatus[status] ?? 0) + 1;
    const code = (value as { code?: unknown } | null | undefined)?.code;
    if (status >= 400 && typeof code === 'string') this.byCode[code] = (this.byCode[code] ?? 0) + 1;
    if (status < 300) for (const { method, path } of routes) this.#reached.add(`${method} ${path}`);
  }

  note(fault: string, request: SentRequest, answer: GivenAnswer | null): void {
    this.faultCount++;
    if (this.faults.length >= faultsKept || this.faults.some((other) => other.fault === fault)) return;
    const { statusCode: status = null, body = '' } = answer ?? {};
    this.faults.push({ nth: this.requests, fault, request: describe(request), status, answer: body.slice(0, 500) });
  }

  /** Of these routes, those that no request was good for. */
  unreached(routes: readonly { method: string; path: string }[]): string[] {
    return routes.map(({ method, path }) => `${method} ${path}`).filter((route) => !this.#reached.has(route));
  }
}

const faultsKept = 10;
