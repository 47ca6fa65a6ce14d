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
  return seconds(headers['ratelimit-reset']?.trim()) ?? seconds(headers['x-ratelimit-reset']?.trim());
}

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
