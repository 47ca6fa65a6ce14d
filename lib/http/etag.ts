/**
 * A weak entity tag of a record, by its revision: what the answer says beside the record (what a job waits for, and until
 * when) may be newer. RFC 9110, 8.8.3.
 */
export function etagOf({ revision }: { revision: number }): string {
  return `W/"${revision}"`;
}

/** Whether an If-None-Match header names the tag, by weak comparison. */
export function namesTag(header: string, tag: string): boolean {
  const bare = tag.replace(/^W\//, '');
  return header.split(',').some((named) => ['*', bare].includes(named.trim().replace(/^W\//, '')));
}
