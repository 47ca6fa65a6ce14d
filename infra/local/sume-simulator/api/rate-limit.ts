/** A fixed window that opens with the first request after the one before ran out. */
export type RateWindow = { readonly limit: number; readonly lengthMs: number; openedAtMs: number; used: number };

/** `limit`, `remaining` and `resetSeconds` describe the window that is nearest to its limit. */
export type RateVerdict =
  | { allowed: true; limit: number; remaining: number; resetSeconds: number }
  | { allowed: false; limit: number; remaining: 0; resetSeconds: number };

export function newWindow(limit: number, lengthMs: number): RateWindow {
  return { limit, lengthMs, openedAtMs: Number.NEGATIVE_INFINITY, used: 0 };
}

/** Takes one request out of every window, or out of none when one of them is full. */
export function takeRequest(windows: readonly RateWindow[], nowMs: number): RateVerdict | undefined {
  let tightest: RateWindow | undefined;
  for (const window of windows) {
    if (nowMs - window.openedAtMs >= window.lengthMs) {
      window.openedAtMs = nowMs;
      window.used = 0;
    }
    if (tightest === undefined || isTighter(window, tightest)) tightest = window;
  }
  if (tightest === undefined) return undefined;
  const resetSeconds = Math.max(1, Math.ceil((tightest.openedAtMs + tightest.lengthMs - nowMs) / 1000));
  const { limit } = tightest;
  if (tightest.used >= limit) return { allowed: false, limit, remaining: 0, resetSeconds };
  for (const window of windows) window.used += 1;
  return { allowed: true, limit, remaining: limit - tightest.used, resetSeconds };
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
