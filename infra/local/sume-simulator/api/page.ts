import { invalid } from './answer.ts';

const LIMIT_MAX = 100;

/** One page of a newest-first list. `numberOf` is an item's place in the order of creation; the cursor hides that of the last item shown. */
export function takePage<Item>(
  items: readonly Item[],
  query: URLSearchParams,
  numberOf: (item: Item) => number,
): { page: Item[]; nextCursor: string | null } {
  const limit = readLimit(query, 20);
  const before = readCursor(query.get('cursor'));
  const page: Item[] = [];
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index];
    if (item === undefined || numberOf(item) >= before) continue;
    if (page.length === limit) {
      const last = page[page.length - 1];
      return { page, nextCursor: last === undefined ? null : writeCursor(numberOf(last)) };
    }
    page.push(item);
  }
  return { page, nextCursor: null };
}

/** `limit` of a query, 1 to 100. Throws a Refusal. */
export function readLimit(query: URLSearchParams, otherwise: number): number {
  const text = query.get('limit');
  if (text === null) return otherwise;
  const limit = Number(text);
  if (!/^\d{1,3}$/.test(text) || limit < 1 || limit > LIMIT_MAX) {
    throw invalid('limit', `must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  return limit;
}

function writeCursor(number: number): string {
  return Buffer.from(`before:${number}`).toString('base64url');
}

function readCursor(cursor: string | null): number {
  if (cursor === null) return Number.POSITIVE_INFINITY;
  const match = /^before:(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (match === null) throw invalid('cursor', 'must be one that this list returned');
  return Number(match[1]);
}
