import type { Transport } from './transport.ts';

export interface PageOptions {
  /** Items fetched at a time, 1 to 100; not how many there are in all. */
  limit?: number;
  signal?: AbortSignal;
}

/** Every item of a list, each page fetched when it is needed. */
export async function* walkPages<Item>(
  transport: Transport,
  path: string,
  field: string,
  filter: Readonly<Record<string, string | undefined>>,
  { limit, signal }: PageOptions,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  do {
    const query = { ...filter, limit, cursor };
    const { body } = await transport.send({ method: 'GET', path, query, ...(signal === undefined ? {} : { signal }) });
    const page = body as Readonly<Record<string, unknown>>;
    yield* page[field] as Item[];
    cursor = (page.next_cursor as string | null) ?? undefined;
  } while (cursor !== undefined);
}
