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
import { createHistoryBatches } from './history-batches.js';
import type { Dialect } from '../dialect.js';
import { entrySize, rowTexts, walk } from '../rows.js';
import { prepared, type SqlSession } from '../session.js';

// Each entry comes with the identity of its key in the same snapshot: the key may have been purged and added again.
const statements = (dialect: Dialect) => {
  const { entryColumns } = rowTexts(dialect);
  const walked = walk(dialect, dialect.historySpans('$1'));
  return {
    between: prepared(
      `${walked} SELECT ${entryColumns}, k.identity AS key_identity
       FROM walk w CROSS JOIN history h CROSS JOIN keys k
       WHERE w.version BETWEEN w.first AND w.newest AND h.id = w.id AND k.id = w.key ORDER BY w.version`,
    ),
    sizes: prepared(
      `${walked} SELECT w.version, ${entrySize} AS size FROM walk w CROSS JOIN history h
       WHERE w.version BETWEEN w.first AND w.newest AND h.id = w.id ORDER BY w.version`,
    ),
  };
};

const maxAttempts = 5;

/** Reads histories in short reads. `findRow` returns the verified row of a key. */
export function createHistory(
  session: SqlSession,
  signer: RowSigner,
  findRow: (keyHash: string) => Promise<SignedRow<KeyRow> | undefined>,
  slices: TimeSlices,
) {
  const { all } = session;
  const { between, sizes } = statements(session.dialect);
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
      const rows = await all<StoredRevisionRow & { readonly key_identity: Uint8Array }>(between, [
        spanText(row.key_hash, part),
      ]);
      // Verified in a time slice: the signature of an entry covers its definition.
      await slices.next();
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
      return definition === undefined ? undefined : definitionFromJSON(parseJSON(definition));
    },
  };
}
