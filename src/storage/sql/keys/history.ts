import { AppError } from '../../../lib/errors.js';
import { parseJSON } from '../../../lib/json.js';
import { definitionFromJSON } from '../../../keys/definition/from-json.js';
import type { Definition } from '../../../keys/definition/normalize.js';
import type { KeyRevision } from '../../../keys/key.js';
import type { HistoryRange } from '../../../keys/key-query.js';
import type { ReadBudget } from '../../../keys/read-budget.js';
import type { RowSigner } from '../../../crypto/row-signer.js';
import type { KeyRow } from '../../records/key.js';
import { revisionFromRow, revisionTable, type RevisionRow } from '../../records/revision.js';
import { createSignedTable, isSameRow, type SignedRow } from '../../records/signed.js';
import { mapInSlices, type TimeSlices } from '../../time-slices.js';
import { entrySize, isUnbroken, partsOf, sizeOf, spanOf, type SizedVersion, type Span } from './history-entries.js';
import { createHistoryBatches } from './history-batches.js';
import { prepared, type SqlSession } from '../session.js';

// Each entry comes with the creation date of its key in the same snapshot: the key may have been purged and added again.
const between = prepared(
  `SELECT a.*, k.date_created AS key_created FROM audit a JOIN keys k ON k.key_hash = a.key_hash
   WHERE a.key_hash = $1 AND a.version_after BETWEEN $2 AND $3 ORDER BY a.version_after`,
);
const sizes = prepared(
  `SELECT version_after AS version, ${entrySize} AS size
   FROM audit WHERE key_hash = $1 AND version_after BETWEEN $2 AND $3 ORDER BY version_after`,
);

const maxAttempts = 5;

/** Reads histories in short reads. `findRow` returns the verified row of a key. */
export function createHistory(
  session: SqlSession,
  signer: RowSigner,
  findRow: (keyHash: string) => Promise<SignedRow<KeyRow> | undefined>,
  slices: TimeSlices,
) {
  const { all } = session;
  const table = createSignedTable(signer, revisionTable);

  /** Undefined entries when one is missing, damaged, or of another key under the same hash. */
  async function readParts(
    row: KeyRow,
    span: Span,
    found: readonly SizedVersion[],
    reads: ReadBudget | undefined,
  ): Promise<{ readonly entries?: readonly RevisionRow[]; readonly broken: readonly SignedRow<RevisionRow>[] }> {
    const entries: RevisionRow[] = [];
    for (const part of partsOf(span, found)) {
      reads?.requireTime();
      const rows = await all<SignedRow<RevisionRow> & { readonly key_created: string }>(between, [
        row.key_hash,
        BigInt(part.first),
        BigInt(part.newest),
      ]);
      // Verified in a time slice: the signature of an entry covers its definition.
      await slices.next();
      const isOfKey = rows.every(({ key_created }) => key_created === row.date_created);
      if (!isOfKey || !isUnbroken(rows, part, table.isAuthentic)) return { broken: rows };
      entries.push(...rows);
    }
    return { entries, broken: [] };
  }

  /**
   * The entries of the span that `spanFor` returns for the key's row. Entries are never changed, and are removed only
   * together with their key: when one is missing although the key is still the same, the history is damaged.
   */
  async function read(
    keyHash: string,
    spanFor: (row: KeyRow | undefined) => Span,
    reads?: ReadBudget,
  ): Promise<readonly RevisionRow[]> {
    let before: SignedRow<KeyRow> | undefined;
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const row = await findRow(keyHash);
      const span = spanFor(row);
      if (!row || span.newest < span.first) return [];
      const isUnchanged = before !== undefined && isSameRow(before, row);
      const versions = [row.key_hash, BigInt(span.first), BigInt(span.newest)];
      const found = reads ? await all<SizedVersion>(sizes, versions) : [];
      if (!before) reads?.take('history entries', found.length, sizeOf(found));
      const { entries, broken } = await readParts(row, span, found, reads);
      if (entries) return entries;
      if (isUnchanged) throw table.integrityError(`The history of ${keyHash}`, ...broken);
      before = row;
    }
    throw new AppError('UNAVAILABLE', 'Storage is busy.', { retryAfterSeconds: 1 });
  }

  /** @throws {AppError} NOT_FOUND as `spanOf` does. */
  async function historyOf(keyHash: string, range: HistoryRange = {}, reads?: ReadBudget): Promise<KeyRevision[]> {
    const rows = await read(keyHash, (row) => spanOf(range, row), reads);
    return mapInSlices(slices, rows, revisionFromRow, reads);
  }

  return {
    historyOf,
    historiesOf: createHistoryBatches({ session, isAuthentic: table.isAuthentic, slices, historyOf }),
    async definitionAt(keyHash: string, version: number): Promise<Definition | undefined> {
      const [row] = await read(keyHash, (key) => {
        const exists = version >= 1 && version <= Number(key?.version ?? 0n);
        return exists ? { first: version, newest: version } : { first: 1, newest: 0 };
      });
      return row && definitionFromJSON(parseJSON(row.definition));
    },
  };
}
