/* A walk through one shard of the index of what is active, in pages, from somewhere in its middle. */

export interface ShardWalk {
  /** Of the ids. */
  prefix: string;
  /** Counts the runs in which every shard was the first once. */
  round: number;
  read: (after: string | undefined) => Promise<{ ids: string[]; next: string | null }>;
  act: (ids: readonly string[]) => Promise<void>;
  /** It stops before a page when less time than this is left. */
  pageMs: number;
  remainingMs: () => number;
}

/** False when time ran out before the shard's last page. An empty page is not the last one: only an absent key is. */
export async function walkShard({ prefix, round, read, act, pageMs, remainingMs }: ShardWalk): Promise<boolean> {
  const start = startId(prefix, round);
  let after: string | undefined = start;
  for (let wrapped = false; ; ) {
    if (remainingMs() < pageMs) return false;
    const { ids: page, next } = await read(after);
    const ids = wrapped ? page.filter((id) => id <= start) : page;
    await act(ids);
    if (wrapped && (next === null || next >= start)) return true;
    wrapped ||= next === null;
    after = next ?? undefined;
  }
}

/**
 * Where in each shard the nth round of runs begins, so that runs which all end at the same page reach the rest in turn.
 * Steps of the golden section spread over the ids, which are spread evenly themselves: when every run gets through a
 * share f of its first shard, the whole shard has been read after 1.7 / f rounds (a round: as many runs as shards).
 */
function startId(prefix: string, round: number): string {
  const place = (round * goldenSection) % 1;
  return `${prefix}${sortedBase32.charAt(place * 32)}${sortedBase32.charAt((place * 1024) % 32)}`;
}

const goldenSection = (Math.sqrt(5) - 1) / 2;
/** In the order in which DynamoDB sorts. */
const sortedBase32 = '234567abcdefghijklmnopqrstuvwxyz';
