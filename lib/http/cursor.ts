import { createHash } from 'node:crypto';
import type { ListPosition } from '../ports.ts';
import { Problem } from './problem.ts';

/*
 * A list's cursor: a position, and a digest over it together with the owner and the filter. What is listed is part of the
 * filter, so that no two lists have the same. The digest is no secret
 * and needs to be none: the position is only ever applied inside the caller's own partition. It catches a cursor that
 * was edited, cut, or taken from another list.
 */

const idPattern = /^(job|dlv)_[a-z2-7]{32}$/;

export function writeCursor(position: ListPosition, owner: string, filter: string): string {
  const text = `${position.createdAtMs}.${position.id}`;
  return Buffer.from(`${text}.${digest(text, owner, filter)}`).toString('base64url');
}

/** Throws a Problem (400) for anything that `writeCursor` did not make for this owner and filter. */
export function readCursor(cursor: string, owner: string, filter: string): ListPosition {
  const [createdAtMs = '', id = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split('.');
  const position = { createdAtMs: Number(createdAtMs), id };
  const plausible = /^\d{1,15}$/.test(createdAtMs) && idPattern.test(id);
  // Written again and compared whole: base64 has many spellings of the same bytes.
  if (!plausible || writeCursor(position, owner, filter) !== cursor)
    throw new Problem(400, 'cursor_invalid', 'Use next_cursor as it was given, with the same filter.', 'cursor');
  return position;
}

function digest(text: string, owner: string, filter: string): string {
  return createHash('sha256')
    .update(JSON.stringify([text, owner, filter]))
    .digest('hex')
    .slice(0, 16);
}
