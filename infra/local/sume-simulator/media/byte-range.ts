/** First and last byte, both included. */
type ByteRange = { first: number; last: number };

/** Reads a Range header for a file of `size` bytes. Anything but one range of bytes is ignored, as the rules for ranges allow. */
export function readByteRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  const from = match?.[1] ?? '';
  const to = match?.[2] ?? '';
  if (from === '' && to === '') return 'whole';
  if (from === '') {
    const count = Math.min(Number(to), size);
    return count === 0 ? 'unsatisfiable' : { first: size - count, last: size - 1 };
  }
  const first = Number(from);
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < first) return 'whole';
  return first >= size ? 'unsatisfiable' : { first, last };
}
