import { messageOf } from './errors.ts';
import type { Log } from './log.ts';
import type { Clock } from './ports.ts';
import type { TokenEntry } from './tokens.ts';

/** The tokens that are good now; null while that can't be told. */
export type CurrentTokens = () => Promise<readonly TokenEntry[] | null>;

/** A token that was taken off the list is refused after so long at the latest. */
const goodForMs = 60_000;
/** After a read that failed, nobody waits for the next one before. */
const retryAfterMs = 2_000;

/**
 * Keeps the list that `read` gives, and reads it again once it is older than a minute, all who wait sharing one read. A
 * list that can't be read again counts for nothing: somebody may have been taken off it. Never rejects.
 */
export function currentTokens(
  read: () => Promise<readonly TokenEntry[]>,
  { clock, log }: { clock: Pick<Clock, 'nowMs'>; log: Log },
): CurrentTokens {
  let kept: { atMs: number; tokens: readonly TokenEntry[] | null } | undefined;
  let reading: Promise<readonly TokenEntry[] | null> | undefined;

  // The age counts from before the read: what it brings may be as old as that.
  const readAt = async (atMs: number) => {
    const tokens = await read().catch((error: unknown) => {
      log.error('tokens_unavailable', { error: messageOf(error) });
      return null;
    });
    kept = { atMs: tokens === null ? clock.nowMs() : atMs, tokens };
    return tokens;
  };

  return () => {
    const nowMs = clock.nowMs();
    // A clock that has stepped back must not keep an old list for longer.
    const ageMs = kept === undefined ? Number.POSITIVE_INFINITY : Math.abs(nowMs - kept.atMs);
    if (kept !== undefined && ageMs < (kept.tokens === null ? retryAfterMs : goodForMs))
      return Promise.resolve(kept.tokens);
    reading ??= readAt(nowMs).finally(() => {
      reading = undefined;
    });
    return reading;
  };
}
