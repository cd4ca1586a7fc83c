import { setImmediate as nextIteration } from 'node:timers/promises';

/**
 * Yields the pages of rows that `readAfter` reads after the last row of the page before. Other work runs between them.
 *
 * @param pageSize - the number of rows below which a page is the last one; by default the last one is followed by an empty one
 */
export async function* readPages<Row>(
  readAfter: (last: Row | undefined) => Promise<readonly Row[]>,
  pageSize = 1,
): AsyncGenerator<readonly Row[], void> {
  for (let rows = await readAfter(undefined); rows.length > 0; rows = await readAfter(rows.at(-1))) {
    yield rows;
    if (rows.length < pageSize) return;
    await nextIteration();
  }
}

/** The number of the row of a key, and the size of its definition in bytes. */
export interface SizedKey {
  readonly id: bigint;
  readonly size: bigint;
}

/** Divides items into batches of at most this size in bytes, in their order. One item may be larger. */
export function* batchesBySize<Item extends { readonly size: bigint }>(
  items: Iterable<Item>,
  maxBytes: number,
): Iterable<[Item, ...Item[]]> {
  let batch: [Item, ...Item[]] | undefined;
  let bytes = 0;
  for (const item of items) {
    bytes += Number(item.size);
    if (batch && bytes > maxBytes) {
      yield batch;
      batch = undefined;
      bytes = Number(item.size);
    }
    if (batch) batch.push(item);
    else batch = [item];
  }
  if (batch) yield batch;
}
