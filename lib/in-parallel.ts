/** Does it for each item, in their order, at most `width` at a time. The results stand in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  act: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  const waiting = items.entries();
  const work = async () => {
    for (const [index, item] of waiting) results[index] = await act(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work));
  return results;
}
