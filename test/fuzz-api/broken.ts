import * as fc from 'fast-check';
import { oddName, oddValue } from './odd-values.ts';

/* One thing made wrong in a body that was right. */

type Change =
  | { kind: 'replace'; at: number; value: unknown }
  | { kind: 'remove'; at: number }
  | { kind: 'add'; name: string; value: unknown };

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('replace' as const), at: fc.nat(1_000), value: oddValue }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), at: fc.nat(1_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('add' as const), name: oddName, value: oddValue }) },
);

/** A body near one that fits. */
export function nearly(right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(right, fc.array(change, { minLength: 1, maxLength: 2 }))
    .map(([value, changes]) => changes.reduce(apply, value));
}

function apply(value: unknown, what: Change): unknown {
  if (what.kind === 'add') return withMember(value, what.name, what.value);
  const places = placesIn(value);
  const place = places[what.at % places.length] ?? [];
  if (place.length === 0) return what.kind === 'replace' ? what.value : value;
  return changed(value, place, what);
}

function changed(
  value: unknown,
  [head, ...rest]: readonly (string | number)[],
  what: Exclude<Change, { kind: 'add' }>,
): unknown {
  const isLast = rest.length === 0;
  if (Array.isArray(value)) {
    const next =
      isLast && what.kind === 'remove'
        ? []
        : [isLast ? (what as { value: unknown }).value : changed(value[head as number], rest, what)];
    return [...value.slice(0, head as number), ...next, ...value.slice((head as number) + 1)];
  }
  const members = Object.entries(value as object).flatMap(([name, member]) => {
    if (name !== head) return [[name, member]];
    if (!isLast) return [[name, changed(member, rest, what)]];
    return what.kind === 'remove' ? [] : [[name, what.value]];
  });
  return Object.fromEntries(members);
}

/** Also one named `__proto__`: in JSON that is a member like others. */
function withMember(value: unknown, name: string, member: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return member;
  return Object.fromEntries([...Object.entries(value), [name, member]]);
}

/** The way to every part of a value, itself first. Not deeper than a body may nest. */
function placesIn(value: unknown, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null || at.length > 8) return [at];
  const parts = Array.isArray(value) ? value.map((part, index) => [index, part] as const) : Object.entries(value);
  return [at, ...parts.slice(0, 50).flatMap(([name, part]) => placesIn(part, [...at, name]))];
}
