import { DueSetError } from '../errors.ts';
import type { BreakerState, Claim, ExchangeReply } from '../ports.ts';

/** What exchange.lua returned; reply.lua says what is in it. Throws a DueSetError for anything else. */
export function readExchange(reply: unknown): ExchangeReply {
  if (!Array.isArray(reply) || reply.length !== 6) {
    throw new DueSetError(
      'refused',
      `Expected six values from the exchange script, got ${JSON.stringify(reply)?.slice(0, 100)}.`,
    );
  }
  const [nowMs, nextDue, role] = texts(reply.slice(0, 3));
  if (!isRole(role)) throw new DueSetError('refused', 'The exchange script told no role.');
  if (!Number.isFinite(Number(nowMs))) throw new DueSetError('refused', 'The exchange script told no time.');
  const claimed = texts(reply[3]);
  const claims: Claim[] = [];
  for (let i = 0; i + 4 < claimed.length; i += 5) {
    const [id = '', dueAtMs, token = '', count, rank = ''] = claimed.slice(i, i + 5);
    claims.push({ id, dueAtMs: Number(dueAtMs), token, claims: Number(count), ...(rank === '' ? {} : { rank }) });
  }
  return {
    nowMs: Number(nowMs),
    claimed: claims,
    stale: texts(reply[4]),
    role,
    nextDueAtMs: nextDue === '' ? null : Number(nextDue),
    breaker: readBreaker(String(reply[5])),
  };
}

function isRole(text: string | undefined): text is ExchangeReply['role'] {
  return text !== undefined && /^(first|further .*|helper|leave|covered)$/.test(text);
}

function readBreaker(text: string): BreakerState {
  if (text === '') return { kind: 'closed' };
  if (text === 'open' || text === 'held' || text === 'denied') return { kind: text };
  return { kind: 'recovering', gapMs: Number(text) };
}

/** An empty Lua table comes back as an empty list, or from some JSON encoders as `{}`. */
export function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.map(String) : [];
}
