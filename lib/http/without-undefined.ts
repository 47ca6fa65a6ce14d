/** What it says of an optional field that may be there as `undefined`, said by the field's absence. */
type Exact<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** The object without the fields whose value is undefined. */
export function withoutUndefined<T extends object>(given: T): Exact<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Exact<T>;
}
