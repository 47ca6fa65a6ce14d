/**
 * How requests are counted. `fixed`: from the first request after the window before ran out, so that twice the limit may fall
 * into one window's length. `sliding`: back from each request, so that no stretch of that length ever has more than the limit.
 */
export type WindowKind = 'fixed' | 'sliding';

export type RateWindow = {
  readonly limit: number;
  readonly lengthMs: number;
  /** Of a sliding window: when the oldest request in it came. Minus infinity before the first one. */
  openedAtMs: number;
  used: number;
  /** Only of a sliding window: when those in it came, oldest first. */
  readonly times: number[] | undefined;
};

/**
 * `limit`, `remaining` and `resetSeconds` describe the window that is nearest to its limit. It has room again after
 * `resetSeconds`: all of it when it is fixed, one place at least when it slides.
 */
export type RateVerdict =
  | { allowed: true; limit: number; remaining: number; resetSeconds: number }
  | { allowed: false; limit: number; remaining: 0; resetSeconds: number };

export function newWindow(limit: number, lengthMs: number, kind: WindowKind = 'fixed'): RateWindow {
  const times = kind === 'sliding' ? [] : undefined;
  return { limit, lengthMs, openedAtMs: Number.NEGATIVE_INFINITY, used: 0, times };
}

/** Takes one request out of every window, or out of none when one of them is full. */
export function takeRequest(windows: readonly RateWindow[], nowMs: number): RateVerdict | undefined {
  let tightest: RateWindow | undefined;
  for (const window of windows) {
    moveOn(window, nowMs);
    if (tightest === undefined || isTighter(window, tightest)) tightest = window;
  }
  if (tightest === undefined) return undefined;
  const resetSeconds = Math.max(1, Math.ceil((tightest.openedAtMs + tightest.lengthMs - nowMs) / 1000));
  const { limit } = tightest;
  if (tightest.used >= limit) return { allowed: false, limit, remaining: 0, resetSeconds };
  for (const window of windows) {
    window.used += 1;
    window.times?.push(nowMs);
  }
  return { allowed: true, limit, remaining: limit - tightest.used, resetSeconds };
}

function moveOn(window: RateWindow, nowMs: number): void {
  const { times, lengthMs } = window;
  if (times !== undefined) {
    while (times[0] !== undefined && nowMs - times[0] >= lengthMs) times.shift();
    window.used = times.length;
    window.openedAtMs = times[0] ?? nowMs;
  } else if (nowMs - window.openedAtMs >= lengthMs) {
    window.openedAtMs = nowMs;
    window.used = 0;
  }
}

/** Of two full windows the one that opens again later counts: waiting for the other would only be refused once more. */
function isTighter(window: RateWindow, other: RateWindow): boolean {
  const left = window.limit - window.used;
  const otherLeft = other.limit - other.used;
  if (left !== otherLeft) return left < otherLeft;
  return left <= 0 && window.openedAtMs + window.lengthMs > other.openedAtMs + other.lengthMs;
}

/** The six header lines of an answer, as a flat list of names and values. */
export function rateHeaders(verdict: RateVerdict): string[] {
  const limit = String(verdict.limit);
  const remaining = String(verdict.remaining);
  const reset = String(verdict.resetSeconds);
  return [
    'RateLimit-Limit',
    limit,
    'RateLimit-Remaining',
    remaining,
    'RateLimit-Reset',
    reset,
    'X-RateLimit-Limit',
    limit,
    'X-RateLimit-Remaining',
    remaining,
    'X-RateLimit-Reset',
    reset,
  ];
}
