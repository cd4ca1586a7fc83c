import { AppError } from '../../../lib/errors.js';
import { parseJSON } from '../../../lib/json.js';
import { definitionFromJSON } from '../../../keys/definition/from-json.js';
import type { Definition } from '../../../keys/definition/normalize.js';
import type { KeyRevision } from '../../../keys/key.js';
import type { HistoryRange } from '../../../keys/key-query.js';
import type { ReadBudget } from '../../../keys/read-budget.js';
import type { RowSigner } from '../../../crypto/row-signer.js';
import { type KeyRow, revisionFromRow, revisionTable, type StoredRevisionRow } from '../../records/key-records.js';
import { createSignedTable, isSameRow, type SignedRow } from '../../records/signed.js';
import { mapInSlices, type TimeSlices } from '../../time-slices.js';
import { isUnbroken, partsOf, sizeOf, spanItem, spanOf, type SizedVersion, type Span } from './history-entries.js';
import { createHistoryBatches, historyStatements, type HistoryRow } from './history-batches.js';
import type { SqlSession } from '../session.js';

const maxAttempts = 5;

/** Reads histories in short reads. `findRow` returns the verified row of a key. */
export function createHistory(
  session: SqlSession,
  signer: RowSigner,
  findRow: (keyHash: string) => Promise<SignedRow<KeyRow> | undefined>,
  slices: TimeSlices,
) {
  const { all } = session;
  const { entries: entriesOf, sizes } = historyStatements(session.dialect);
  const table = createSignedTable(signer, revisionTable);
  const spanText = (keyHash: string, { first, newest }: Span) => JSON.stringify([spanItem(keyHash, { first, newest })]);

  /** Undefined entries when one is missing, damaged, or of another key under the same hash. */
  async function readParts(
    row: KeyRow,
    span: Span,
    found: readonly SizedVersion[],
    reads: ReadBudget | undefined,
  ): Promise<{ readonly entries?: readonly StoredRevisionRow[]; readonly broken: readonly StoredRevisionRow[] }> {
    const entries: StoredRevisionRow[] = [];
    for (const part of partsOf(span, found)) {
      reads?.requireTime();
      const rows = await all<HistoryRow>(entriesOf, [spanText(row.key_hash, part)]);
      // Verified in a time slice: the signature of an entry covers its definition.
      const slice = slices.next();
      if (slice) await slice;
      const isOfKey = rows.every(({ key_identity }) => Buffer.compare(key_identity, row.identity) === 0);
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
  ): Promise<readonly StoredRevisionRow[]> {
    let before: SignedRow<KeyRow> | undefined;
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const row = await findRow(keyHash);
      const span = spanFor(row);
      if (!row || span.newest < span.first) return [];
      const isUnchanged = before !== undefined && isSameRow(before, row);
      const found = reads ? await all<SizedVersion>(sizes, [spanText(row.key_hash, span)]) : [];
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
      let newest: string | undefined;
      // The definition of a version is in the entry of the next one, that of the newest in the key.
      const [row] = await read(keyHash, (key) => {
        const current = Number(key?.version ?? 0n);
        newest = version === current ? key?.definition : undefined;
        const isEarlier = version >= 1 && version < current;
        return isEarlier ? { first: version + 1, newest: version + 1 } : { first: 1, newest: 0 };
      });
      const definition = newest ?? row?.before ?? undefined;
      if (definition === undefined) return undefined;
      // One operation may read several versions, whose reads end together. Without time left only: it would begin them all.
      const slice = slices.next();
      if (slice) await slice;
      return definitionFromJSON(parseJSON(definition));
    },
  };
}
