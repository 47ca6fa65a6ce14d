/**
 * How long a provider asks to wait, in ms; null when its headers do not say. Reads `Retry-After` in both forms and,
 * without it, `RateLimit-Reset` (seconds) or its X- form. A date is measured against the answer's own `Date` header,
 * so that our clock does not matter; one already past asks for no wait (0). Without a `Date` a date tells nothing.
 * Source: RFC 9110, 10.2.3.
 */
export function retryAfterMs(headers: Record<string, string>): number | null {
  const value = headers['retry-after']?.trim();
  if (value !== undefined && value !== '') {
    const given = seconds(value) ?? untilDate(value, headers.date);
    if (given !== null) return given;
  }
  return seconds(headers['ratelimit-reset']?.trim()) ?? seconds(headers['x-ratelimit-reset']?.trim());
}

function seconds(value: string | undefined): number | null {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value) ? Math.ceil(Number(value) * 1000) : null;
}

function untilDate(value: string, serverDate: string | undefined): number | null {
  const waitMs = Date.parse(value) - Date.parse(serverDate ?? '');
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs);
}
