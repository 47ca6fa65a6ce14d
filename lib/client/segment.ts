/** An id or a name as a part of a path. Throws a TypeError for one that would make it another path. */
export function segment(id: string): string {
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id)) throw new TypeError(`"${id}" is no id.`);
  return encodeURIComponent(id);
}
