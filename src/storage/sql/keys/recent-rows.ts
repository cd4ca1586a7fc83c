import type { RowSigner } from '../../../crypto/row-signer.js';
import type { StoredKey } from '../../../keys/key.js';
import { keyFromRow, keyTable, type KeyRow, type StoredKeyRow } from '../../records/key-records.js';
import { createSignedTable, type SignedRow } from '../../records/signed.js';

/** A new row has no use yet. */
type Row = SignedRow<KeyRow> & Partial<Pick<StoredKeyRow, 'last_used'>>;

interface VerifiedRow {
  row: Row;
  key: StoredKey | undefined;
}

/** The definitions of the rows that are kept, in characters of JSON. With few small keys, some thousand of them. */
const maxCharacters = 4 * 1024 * 1024;
/** About what a row has beside its definition. */
const rowCharacters = 500;

/** The signature first: it differs if anything does, unless the row is damaged. */
const columns = keyTable.columnNames.toReversed();

/** See {@link createRecentRows}. */
export type RecentRows = ReturnType<typeof createRecentRows>;

/**
 * Verifies and parses rows of keys. The rows that were verified last are kept, so that a row that is read again need not be
 * verified and parsed again. Each row is read from the database and compared with the kept one in full: a key that was
 * changed, and a row that was damaged, are as they are in the database.
 */
export function createRecentRows(signer: RowSigner) {
  const table = createSignedTable(signer, keyTable);
  const kept = new Map<string, VerifiedRow>();
  let characters = 0;
  let ring = signer.ring();

  function remove(keyHash: string): void {
    const found = kept.get(keyHash);
    if (!found) return;
    characters -= sizeOf(found.row);
    kept.delete(keyHash);
  }

  function keep(row: Row, key: StoredKey | undefined): void {
    remove(row.key_hash);
    kept.set(row.key_hash, { row, key });
    characters += sizeOf(row);
    for (const [oldest] of kept) {
      if (characters <= maxCharacters) break;
      remove(oldest);
    }
  }

  /** A signature is valid as long as its key is in the ring. */
  function followRing(): void {
    const current = signer.ring();
    if (current === ring) return;
    ring = current;
    kept.clear();
    characters = 0;
  }

  return {
    /** Returns the row. @throws {AppError} INTERNAL when it is damaged. */
    verified<Of extends Row>(row: Of): Of {
      followRing();
      const found = kept.get(row.key_hash);
      if (found && isSame(found.row, row)) {
        found.row = row;
        return row;
      }
      if (!table.isAuthentic(row)) throw table.integrityError(`The key ${row.key_hash}`, row);
      keep(row, undefined);
      return row;
    },
    /** Returns the key of a row that was verified. */
    keyOf: (row: Row): StoredKey => {
      const found = kept.get(row.key_hash);
      if (found?.row !== row) return withUse(keyFromRow(row), row);
      return (found.key = withUse(found.key ?? keyFromRow(row), row));
    },
    /** Returns the key of the row that was read last; undefined if it is not kept. */
    recent: (keyHash: string): StoredKey | undefined => kept.get(keyHash)?.key,
    /** Returns the row with another counter, signed. */
    withCounter(row: Row, quota: StoredKey['quota']): Row {
      const next = table.signed({ ...row, quota_used: quota.used, quota_renews: quota.renews ?? null });
      const found = kept.get(row.key_hash);
      if (found?.row === row) keep(next, found.key && { ...found.key, quota });
      return next;
    },
  };
}

/** The key with the last use of its row, which is not signed and changes alone. */
function withUse(key: StoredKey, { last_used: lastUsed = 0n }: Row): StoredKey {
  if ((key.lastUsed ?? 0n) === lastUsed) return key;
  return { ...key, lastUsed: lastUsed === 0n ? undefined : lastUsed };
}

function sizeOf({ definition }: Row): number {
  return definition.length + rowCharacters;
}

function isSame(a: Row, b: Row): boolean {
  return columns.every((column) => isSameValue(a[column], b[column]));
}

function isSameValue(a: unknown, b: unknown): boolean {
  return a === b || (a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0);
}
