import { isObject, type Json } from '../json.ts';
import { type Bins, binCount, type Generation, noBins, type RenderSamples, type RenderTimes } from '../render-times.ts';
import { type Item, number } from './item-fields.ts';

/*
 * Render times as an item and back. Each bin of the current generation is a number of its own, absent for 0, so that many
 * drains can add to it at once; the previous generation is JSON text. It has no attribute that an index is made of.
 */

/** What an update does: the attributes that it adds to, sets, sets where they are not yet, and removes. */
export interface Change {
  add: Record<string, number>;
  set: Item;
  setOnce: Item;
  remove: string[];
}

const bins = { seen: (bin: number) => `seen_${bin}`, found: (bin: number) => `found_${bin}` };

export function addition({ seen, found, delayed, late, atMs }: RenderSamples): Change {
  const add: Record<string, number> = { delayed_jobs: delayed, late_jobs: late };
  for (const bin of noBins.keys()) {
    add[bins.seen(bin)] = seen[bin] ?? 0;
    add[bins.found(bin)] = found[bin] ?? 0;
  }
  const counted = Object.entries(add).filter(([, count]) => count > 0);
  const times =
    atMs === null ? {} : { set: { last_at_ms: number(atMs.last) }, setOnce: { first_at_ms: number(atMs.first) } };
  return { set: {}, setOnce: {}, ...times, add: Object.fromEntries(counted), remove: [] };
}

/** Everything as it is to be from now on. */
export function replacement(times: RenderTimes): Change {
  const { current, previous, lastAtMs, delayed, late } = times;
  const wanted: Record<string, Item[string] | null> = {
    delayed_jobs: positive(delayed),
    late_jobs: positive(late),
    last_at_ms: positive(lastAtMs),
    first_at_ms: positive(current.firstAtMs ?? 0),
    previous_generation: previous === null ? null : { S: JSON.stringify(sparse(previous)) },
  };
  for (const bin of noBins.keys()) {
    wanted[bins.seen(bin)] = positive(current.seen[bin] ?? 0);
    wanted[bins.found(bin)] = positive(current.found[bin] ?? 0);
  }
  const set: Item = {};
  const remove: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    if (value === null) remove.push(name);
    else set[name] = value;
  }
  return { add: {}, set, setOnce: {}, remove };
}

/** The update's expression and its values. No name of ours is a word of DynamoDB's own. */
export function expressionOf({ add, set, setOnce, remove }: Change): { expression: string; values: Item } {
  const sets = [
    ...Object.keys(set).map((name) => `${name} = :${name}`),
    ...Object.keys(setOnce).map((name) => `${name} = if_not_exists(${name}, :${name})`),
  ];
  const clauses = [
    ['ADD', Object.keys(add).map((name) => `${name} :${name}`)],
    ['SET', sets],
    ['REMOVE', remove],
  ] as const;
  const expression = clauses
    .flatMap(([word, parts]) => (parts.length === 0 ? [] : `${word} ${parts.join(', ')}`))
    .join(' ');
  const amounts = Object.entries(add).map(([name, count]) => [name, number(count)] as const);
  const named = [...amounts, ...Object.entries({ ...set, ...setOnce })].map(([name, value]) => [`:${name}`, value]);
  return { expression, values: Object.fromEntries(named) };
}

/** An attribute that makes no sense counts as absent: nothing depends on it. */
export function timesOf(item: Item): RenderTimes {
  const count = (name: string) => countOf(Number(item[name]?.N ?? 0));
  const firstAtMs = count('first_at_ms');
  return {
    current: {
      seen: noBins.map((_, bin) => count(bins.seen(bin))),
      found: noBins.map((_, bin) => count(bins.found(bin))),
      firstAtMs: firstAtMs === 0 ? null : firstAtMs,
    },
    previous: previousOf(item.previous_generation?.S),
    lastAtMs: count('last_at_ms'),
    delayed: count('delayed_jobs'),
    late: count('late_jobs'),
  };
}

function sparse({ seen, found, firstAtMs }: Generation) {
  const filled = (counts: Bins) => Object.fromEntries([...counts.entries()].filter(([, count]) => count > 0));
  return { seen: filled(seen), found: filled(found), first_at_ms: firstAtMs };
}

function previousOf(text: string | undefined): Generation | null {
  if (text === undefined) return null;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(read)) return null;
  const firstAtMs = countOf(read.first_at_ms);
  return { seen: dense(read.seen), found: dense(read.found), firstAtMs: firstAtMs === 0 ? null : firstAtMs };
}

function dense(counts: Json | undefined): Bins {
  return Array.from({ length: binCount }, (_, bin) => (isObject(counts) ? countOf(counts[String(bin)]) : 0));
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
}

function positive(value: number): Item[string] | null {
  return value > 0 ? number(value) : null;
}
