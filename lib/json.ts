export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** True for a plain JSON object: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * How deeply a JSON value nests: 0 for a scalar, 1 for a flat list or object. Walks without recursion and stops
 * counting at `limit + 1`, so a hostile body costs no stack.
 */
export function depthOf(value: unknown, limit: number): number {
  let level: unknown[] = [value];
  for (let depth = 0; ; depth++) {
    const next = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    if (!level.some((item) => typeof item === 'object' && item !== null) || depth > limit) return depth;
    level = next;
  }
}

/**
 * One text for every spelling of the same JSON value: keys sorted by code unit, no white space. The order of a list
 * and the difference between 1 and "1" are kept. The value must nest less than a few hundred levels (see depthOf).
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`);
  return `{${members.join(',')}}`;
}
