/** A time in ms since 1970 as the API shows it; null where there is none, or it lies further off than a date can. */
export function isoOrNull(atMs: number | null | undefined): string | null {
  return atMs === null || atMs === undefined || !(Math.abs(atMs) <= 8.64e15) ? null : new Date(atMs).toISOString();
}
