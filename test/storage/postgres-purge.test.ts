import { expect, it } from 'vitest';
import type { PgPool, Session } from '../../src/storage/postgres/pool.js';
import { createKeyStore } from '../../src/storage/postgres/key-store.js';
import { signer } from '../support/signer.js';

/** How many rows each read of a purge asks for, when the deleted keys have so many bytes each. */
async function rowsPerRead(sizes: readonly bigint[]): Promise<number[]> {
  const reads: number[] = [];
  let isFirstPage = true;
  const query: Session['query'] = <Row>(
    statement: { readonly text: string } | string,
    [parameter]: readonly unknown[] = [],
  ) => {
    const text = typeof statement === 'string' ? statement : statement.text;
    if (text.includes('AS size') && isFirstPage) {
      isFirstPage = false;
      return Promise.resolve(sizes.map((size, n) => ({ deleted: BigInt(n), key_hash: String(n), size })) as Row[]);
    }
    if (Array.isArray(parameter)) reads.push(parameter.length);
    return Promise.resolve<Row[]>([]);
  };
  const connections: PgPool = {
    run: (work) => work({ query, write: query }),
    close: () => Promise.resolve(),
  };
  await createKeyStore(connections, signer).purge(new Date());
  return reads;
}

it('reads deleted keys in parts of at most 100', async () => {
  expect(await rowsPerRead(Array<bigint>(250).fill(10n))).toEqual([100, 100, 50]);
});

it('reads deleted keys in parts of at most 1 MiB, or one key', async () => {
  expect(await rowsPerRead([600_000n, 400_000n, 300_000n, 5_000_000n, 1n])).toEqual([2, 1, 1, 1]);
});
