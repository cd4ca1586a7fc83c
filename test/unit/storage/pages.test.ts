import { describe, expect, it } from 'vitest';
import { batchesBySize, readPages } from '../../../src/storage/sql/pages.js';

const items = (...sizes: readonly bigint[]) => sizes.map((size) => ({ size }));
const sizesOf = (sizes: readonly bigint[], maxBytes: number) =>
  [...batchesBySize(items(...sizes), maxBytes)].map((batch) => batch.map(({ size }) => Number(size)));

describe('batchesBySize', () => {
  it.each<[string, bigint[], number[][]]>([
    ['returns no batch of no items', [], []],
    ['fills a batch up to the maximum', [4n, 6n, 1n], [[4, 6], [1]]],
    ['starts a batch with the item that exceeds the maximum', [4n, 7n, 3n], [[4], [7, 3]]],
    ['returns an item above the maximum alone', [11n, 1n, 12n, 1n], [[11], [1], [12], [1]]],
  ])('%s', (_, sizes, batches) => {
    expect(sizesOf(sizes, 10)).toStrictEqual(batches);
  });
});

describe('readPages', () => {
  /** Reads pages of three of the numbers from 1 on, and notes after which row each read begins. */
  async function read(count: number, pageSize?: number) {
    const reads: (number | undefined)[] = [];
    const pages: (readonly number[])[] = [];
    const readAfter = (last: number | undefined) => {
      reads.push(last);
      const rest = Array.from({ length: count }, (_, index) => index + 1).slice(last ?? 0);
      return Promise.resolve(rest.slice(0, 3));
    };
    for await (const page of readPages(readAfter, pageSize)) pages.push(page);
    return { reads, pages };
  }

  it('yields pages until one is empty if their size is not known', async () => {
    expect(await read(5)).toStrictEqual({
      reads: [undefined, 3, 5],
      pages: [
        [1, 2, 3],
        [4, 5],
      ],
    });
    expect(await read(0)).toStrictEqual({ reads: [undefined], pages: [] });
  });

  it('reads nothing after a page that is not full', async () => {
    expect((await read(5, 3)).reads).toStrictEqual([undefined, 3]);
    expect((await read(6, 3)).reads).toStrictEqual([undefined, 3, 6]);
  });

  it('runs other work between two pages', async () => {
    let hasRun = false;
    const seen: boolean[] = [];
    const readAfter = (last: number | undefined) => {
      seen.push(hasRun);
      if (last === undefined) setImmediate(() => (hasRun = true));
      return Promise.resolve(last === undefined ? [1] : []);
    };
    for await (const page of readPages(readAfter)) expect(page).toStrictEqual([1]);
    expect(seen).toStrictEqual([false, true]);
  });
});
