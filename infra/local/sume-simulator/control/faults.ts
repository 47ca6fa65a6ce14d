import type { RouteKind } from '../api/route.ts';

/**
 * What goes wrong. Those marked (true answer) spoil the answer that the request really gets, so its effect takes place;
 * the others answer in its stead, and the effect takes place only when the rule says `afterEffect`.
 */
export type Fault =
  /** An error in the service's envelope, or as a proxy's HTML page. `retryAfter` in seconds, sent as such or as an HTTP date. */
  | {
      kind: 'error';
      status: number;
      code?: string;
      message?: string;
      html?: boolean;
      retryAfter?: number;
      retryAfterForm?: 'seconds' | 'http-date';
    }
  /** Any answer at all. */
  | { kind: 'answer'; status?: number; body: string; headers?: Record<string, string> }
  /** Nothing, until the client gives up. */
  | { kind: 'hang' }
  /** The true answer, `ms` later (true answer). */
  | { kind: 'delay'; ms: number }
  /** A few bytes at a time (true answer). */
  | { kind: 'slow-body'; bytesPerSecond?: number }
  /** Headers and the first half of the body, then nothing (true answer). */
  | { kind: 'stalled-body' }
  /** As many bytes as are read; `bytes` of them for `huge-body`, no end for `endless-body`. */
  | { kind: 'huge-body'; bytes?: number }
  | { kind: 'endless-body' }
  /** Small on the wire, `bytes` when unpacked. */
  | { kind: 'gzip-bomb'; bytes?: number }
  /** Not JSON although it says so. */
  | { kind: 'malformed-json' }
  /** Whole JSON cut in half, with the length of the half (true answer). */
  | { kind: 'cut-off-json' }
  /** The length of the whole, but the connection ends after half of it (true answer). */
  | { kind: 'cut-off-connection' }
  | { kind: 'empty-body'; status?: number }
  /** Another job's id wherever this job's stood (true answer). */
  | { kind: 'wrong-id'; id?: string }
  | { kind: 'redirect'; location: string; status?: number }
  /** The connection is torn down: before anything happens, or with the effect done and the reply lost (true answer). */
  | { kind: 'reset-before-effect' }
  | { kind: 'reset-after-effect' };

export type FaultKind = Fault['kind'];

export type FaultRule = {
  id: string;
  /** Which requests it strikes. */
  route: RouteKind | 'any';
  /** Only those about this job. */
  jobId?: string;
  /** How many it still strikes; null for all that come. */
  left: number | null;
  /** Chance to strike each of them, 0 to 1. */
  probability: number;
  afterEffect: boolean;
  /** How many it has struck. */
  struck: number;
  fault: Fault;
};

const WITH_TRUE_ANSWER: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'delay',
  'slow-body',
  'stalled-body',
  'cut-off-json',
  'cut-off-connection',
  'wrong-id',
  'reset-after-effect',
]);

/** Does the request take effect although it is struck? */
export function hasEffect(rule: FaultRule): boolean {
  return rule.afterEffect || WITH_TRUE_ANSWER.has(rule.fault.kind);
}

/** The first rule that strikes this request, counted down; used-up rules stay in the list to be looked at. */
export function strike(
  rules: readonly FaultRule[],
  request: { kind: RouteKind; jobId: string },
  random: () => number,
): FaultRule | undefined {
  for (const rule of rules) {
    if (rule.left === 0) continue;
    if (rule.route !== 'any' && rule.route !== request.kind) continue;
    if (rule.jobId !== undefined && rule.jobId !== request.jobId) continue;
    if (rule.probability < 1 && random() >= rule.probability) continue;
    if (rule.left !== null) rule.left -= 1;
    rule.struck += 1;
    return rule;
  }
  return undefined;
}
