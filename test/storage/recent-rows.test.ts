import { describe, expect, it } from 'vitest';
import { createMemoryKeyRing, type KeyRing } from '../../src/crypto/key-ring.js';
import { createRowSigner } from '../../src/crypto/row-signer.js';
import { keyTable, keyToRow, type KeyRow } from '../../src/storage/records/key-records.js';
import { createSignedTable, type SignedRow } from '../../src/storage/records/signed.js';
import { createRecentRows } from '../../src/storage/sql/keys/recent-rows.js';
import { aKey } from '../support/factories.js';

const now = new Date('2026-01-31T12:00:00Z');

function setUp() {
  const state: { ring: KeyRing } = { ring: createMemoryKeyRing(now) };
  let verified = 0;
  const own = createRowSigner(() => state.ring);
  const signer = {
    ...own,
    isAuthentic: (...of: Parameters<typeof own.isAuthentic>) => {
      verified += 1;
      return own.isAuthentic(...of);
    },
  };
  const { signed } = createSignedTable(signer, keyTable);
  const rowOf = (keyHash: string, tags: string[] = []) =>
    signed(keyToRow(aKey('a', { keyHash, definition: { alias: 'one', tags, quotaMax: 10n } }), Buffer.alloc(32)));
  return { state, rowOf, recent: createRecentRows(signer), verified: () => verified };
}

/** The row as another read of it returns it. */
function again(row: SignedRow<KeyRow>, changes: Partial<SignedRow<KeyRow>> = {}): SignedRow<KeyRow> {
  const copies = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? Buffer.from(value) : value,
  ]);
  return { ...(Object.fromEntries(copies) as SignedRow<KeyRow>), ...changes };
}

describe('a row that was verified', () => {
  it('is verified and parsed once for as long as it is the same', () => {
    const { recent, rowOf, verified } = setUp();
    const row = rowOf('a1');
    const key = recent.keyOf(recent.verified(row));
    const second = again(row);
    expect(recent.verified(second)).toBe(second);
    expect(recent.keyOf(second)).toBe(key);
    expect(verified()).toBe(1);
  });

  it('is verified again, and rejected, if any of its columns is another', () => {
    const { recent, rowOf } = setUp();
    const row = rowOf('a1');
    recent.verified(row);
    for (const column of keyTable.columnNames.filter((name) => name !== 'key_hash')) {
      const value = row[column];
      const other =
        typeof value === 'bigint' ? value + 1n : typeof value === 'string' ? `${value} ` : Buffer.from('other');
      expect(() => recent.verified(again(row, { [column]: other })), column).toThrow('The key a1 ');
    }
    expect(recent.verified(again(row))).toStrictEqual(again(row));
  });

  it('is the new one after a change', () => {
    const { recent, rowOf } = setUp();
    recent.keyOf(recent.verified(rowOf('a1', ['old'])));
    const changed = recent.verified(rowOf('a1', ['new']));
    expect(recent.keyOf(changed).definition.tags).toStrictEqual(['new']);
  });

  it('need not be verified after a count, and has the counter of that', () => {
    const { recent, rowOf, verified } = setUp();
    const row = recent.verified(rowOf('a1'));
    recent.keyOf(row);
    const next = recent.withCounter(row, { used: 7n, renews: 1_800_000_000n });
    const read = recent.verified(again(next));
    expect(verified()).toBe(1);
    expect(recent.keyOf(read)).toMatchObject({
      definition: { quotaMax: 10n },
      quota: { used: 7n, renews: 1_800_000_000n },
    });
    // The write may have failed.
    const before = recent.verified(again(row));
    expect(recent.keyOf(before).quota.used).toBe(0n);
  });

  it('is rejected once the key of its signature is not in the ring any more', () => {
    const { state, recent, rowOf } = setUp();
    const row = recent.verified(rowOf('a1'));
    state.ring = { ...createMemoryKeyRing(now), ids: ['other'], primaryID: 'other' };
    expect(() => recent.verified(again(row))).toThrow('failed its integrity check');
  });

  it('is forgotten when newer ones need the space', () => {
    const { recent, rowOf, verified } = setUp();
    const first = recent.verified(rowOf('a1'));
    for (let n = 0; n < 5; n += 1) recent.verified(rowOf(`b${n}`, ['x'.repeat(1024 * 1024)]));
    recent.verified(again(first));
    expect(verified()).toBe(7);
    // It is among the newest now.
    recent.verified(again(first));
    expect(verified()).toBe(7);
  });
});
