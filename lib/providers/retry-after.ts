import type { CallsLeft } from '../ports.ts';

/** With more than these left, or a tenth of the limit, there is no reason yet to hold anything back. */
const scarceMin = 10;

/**
 * How many more calls a provider takes, and for how long that holds, by `RateLimit-Remaining` and `RateLimit-Reset`
 * (seconds) or their X- forms; null unless both are there. Far from its end a limit counts for nothing (`forMs` 0): what is
 * left is then only a number, and some servers always send the same one.
 */
export function callsLeft(headers: Record<string, string>): CallsLeft | null {
  const left = (headers['ratelimit-remaining'] ?? headers['x-ratelimit-remaining'])?.trim();
  const forMs = resetMs(headers);
  if (left === undefined || forMs === null || !/^\d{1,15}$/.test(left)) return null;
  const limit = Number((headers['ratelimit-limit'] ?? headers['x-ratelimit-limit'])?.trim());
  const isScarce = Number(left) <= Math.max(scarceMin, limit > 0 ? limit / 10 : 0);
  return { left: Number(left), forMs: isScarce ? forMs : 0 };
}

/**
 * How long a provider asks to wait, in ms; null when its headers do not say. Reads `Retry-After` in both forms and,
 * without it, `RateLimit-Reset` (seconds) or its X- form, but not while the headers say that calls are left: the
 * limit is on every answer, also on those that failed for another reason. A date is measured against the answer's own `Date` header,
 * so that our clock does not matter; one already past asks for no wait (0). Without a `Date` a date tells nothing.
 * Source: RFC 9110, 10.2.3.
 */
export function retryAfterMs(headers: Record<string, string>): number | null {
  const value = headers['retry-after']?.trim();
  if (value !== undefined && value !== '') {
    const given = seconds(value) ?? untilDate(value, headers.date);
    if (given !== null) return given;
  }
  const left = (headers['ratelimit-remaining'] ?? headers['x-ratelimit-remaining'])?.trim();
  if (left !== undefined && left !== '0') return null;
  return resetMs(headers);
}

/** In seconds from now; some send the second itself, counted from 1970, which is measured against the answer's own `Date`. */
function resetMs(headers: Record<string, string>): number | null {
  const givenMs = seconds(headers['ratelimit-reset']?.trim()) ?? seconds(headers['x-ratelimit-reset']?.trim());
  if (givenMs === null || givenMs < epochLikeMs) return givenMs;
  const waitMs = givenMs - httpDate(headers.date ?? '');
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs);
}

/** Nobody asks to wait for so long (thirty years): it is a time since 1970. */
const epochLikeMs = 1e12;

function seconds(value: string | undefined): number | null {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value) ? Math.ceil(Number(value) * 1000) : null;
}

function untilDate(value: string, serverDate: string | undefined): number | null {
  const waitMs = httpDate(value) - httpDate(serverDate ?? '');
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs);
}

/** An HTTP date in any of its three forms, all of them GMT; NaN for anything else (Date.parse takes "-5" for a date). */
function httpDate(text: string): number {
  const dated = /^[A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d/.test(text);
  return dated ? Date.parse(`${text.replace(/ GMT$/, '')} GMT`) : Number.NaN;
}
