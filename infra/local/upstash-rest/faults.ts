/**
 * Faults on demand, for tests. A set of faults replaces the one before; `{}` ends them all.
 *
 * - `match`: only requests that hold a command of this name (`evalsha`, any case). Absent: all requests.
 * - `hang`: the next n requests are not run and never answered; the connection stays open.
 * - `failWith`: requests are not run and get this status and body (a string is sent as it is, anything else as JSON);
 *   the next `times` of them, all when absent.
 * - `dropReplies`: requests ARE run, then the connection is cut instead of an answer. A whole number: the next n;
 *   a number between 0 and 1: with that probability, until the faults are replaced.
 * - `delayMs`: requests wait this long before they are run. Goes with any of the above.
 *
 * Where several apply to a request, the first in this order happens.
 */
export type Faults = {
  match?: string;
  hang?: number;
  failWith?: { status: number; body: unknown; times?: number };
  dropReplies?: number;
  delayMs?: number;
};

/** What happens to one request. */
export type Fault = {
  delayMs: number;
  act: { kind: 'none' } | { kind: 'hang' } | { kind: 'drop' } | { kind: 'fail'; status: number; body: unknown };
};

const noFault: Fault = { delayMs: 0, act: { kind: 'none' } };

export class FaultPlan {
  readonly #random: () => number;
  #faults: Faults | undefined;

  /** `random` gives numbers from 0 up to 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  replace(faults: Faults): void {
    this.#faults = Object.keys(faults).length === 0 ? undefined : structuredClone(faults);
  }

  /** `commandNames` in capitals. Counts down what has a count. */
  next(commandNames: readonly string[]): Fault {
    const faults = this.#faults;
    if (faults === undefined) return noFault;
    if (faults.match !== undefined && !commandNames.includes(faults.match.toUpperCase())) return noFault;
    return { delayMs: faults.delayMs ?? 0, act: this.#act(faults) };
  }

  #act(faults: Faults): Fault['act'] {
    if (faults.hang !== undefined && faults.hang > 0) {
      faults.hang -= 1;
      return { kind: 'hang' };
    }
    const fail = faults.failWith;
    if (fail !== undefined && (fail.times === undefined || fail.times > 0)) {
      if (fail.times !== undefined) fail.times -= 1;
      return { kind: 'fail', status: fail.status, body: fail.body };
    }
    return this.#drops(faults) ? { kind: 'drop' } : { kind: 'none' };
  }

  #drops(faults: Faults): boolean {
    const drop = faults.dropReplies ?? 0;
    if (drop > 0 && drop < 1) return this.#random() < drop;
    if (drop < 1) return false;
    faults.dropReplies = drop - 1;
    return true;
  }
}

/** Checks what came over HTTP. Throws an error whose message names the field and what it must be. */
export function parseFaults(text: string): Faults {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('faults must be an object');
  const { match, hang, failWith, dropReplies, delayMs, ...unknown } = value as Record<string, unknown>;
  const strange = Object.keys(unknown)[0];
  if (strange !== undefined) throw new Error(`${strange} is not a fault: match, hang, failWith, dropReplies, delayMs`);
  if (match !== undefined && typeof match !== 'string') throw new Error('match must be the name of a command');
  if (hang !== undefined && !isCount(hang)) throw new Error('hang must be a whole number of requests');
  const isProbability = typeof dropReplies === 'number' && dropReplies > 0 && dropReplies < 1;
  if (dropReplies !== undefined && !isCount(dropReplies) && !isProbability) {
    throw new Error('dropReplies must be a whole number of requests, or a probability between 0 and 1');
  }
  if (delayMs !== undefined && !isCount(delayMs)) throw new Error('delayMs must be a whole number of milliseconds');
  if (failWith !== undefined) checkFailure(failWith);
  return value as Faults;
}

function checkFailure(failWith: unknown): void {
  const { status, times } = (failWith ?? {}) as Record<string, unknown>;
  if (!isCount(status) || status < 200 || status > 599) throw new Error('failWith.status must be between 200 and 599');
  if (times !== undefined && !isCount(times)) throw new Error('failWith.times must be a whole number of requests');
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
