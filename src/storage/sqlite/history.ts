import type { Database } from 'better-sqlite3';
import { parseJSON } from '../../lib/json.js';
import type { Definition } from '../../keys/definition/normalize.js';
import { definitionFromJSON } from '../../keys/definition/from-json.js';
import type { ReadBudget } from '../../keys/read-budget.js';
import type { KeyRevision } from '../../keys/key.js';
import type { HistoryRange } from '../../keys/key-query.js';
import type { Authenticity } from '../records/authenticity.js';
import { revisionColumns, revisionLayouts, revisionFromRow, type RevisionRow } from '../records/revision.js';
import {
  isUnbroken,
  lastLinked,
  partsOf,
  purgedMeanwhile,
  sizeOf,
  spanOf,
  type SizedVersion,
  type Span,
} from '../sql/history-entries.js';
import type { KeyRow } from '../records/key.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import { mapInSlices } from '../time-slices.js';
import type { WriteGate } from './write-gate.js';

/** The history of keys. What is asked for a key takes its row, which has been found authentic. */
export function createHistory(
  database: Database,
  authenticity: Authenticity,
  { read, slices }: Pick<WriteGate, 'read' | 'slices'>,
) {
  const table = createSignedTable<RevisionRow>(authenticity, 'audit', revisionLayouts);
  const names = [...revisionColumns, 'mac'];
  const insert = database.prepare<[SignedRow<RevisionRow>]>(
    `INSERT INTO audit (${names.join(', ')}) VALUES (${names.map((column) => `@${column}`).join(', ')})`,
  );
  const between = database.prepare<[string, number, number], SignedRow<RevisionRow>>(
    'SELECT * FROM audit WHERE key_hash = ? AND version_after BETWEEN ? AND ? ORDER BY version_after',
  );
  const sizes = database.prepare<[string, number, number], SizedVersion>(
    `SELECT version_after AS version, octet_length(definition) + octet_length(changes) AS size FROM audit
     WHERE key_hash = ? AND version_after BETWEEN ? AND ? ORDER BY version_after`,
  );
  const isThere = database.prepare<[string, string], object>(
    'SELECT 1 FROM keys WHERE key_hash = ? AND date_created = ?',
  );
  // The owner never changes, so that the first entry tells it, however long the history is.
  const any = database.prepare<[string, string | null], object>(
    `SELECT 1 FROM (SELECT org_id FROM audit WHERE key_hash = ? ORDER BY version_after LIMIT 1)
     WHERE org_id = coalesce(?, org_id)`,
  );
  const forget = database.prepare<[string]>('DELETE FROM audit WHERE key_hash = ?');
  const withoutKey = database.prepare<[], { key_hash: string }>(
    'SELECT DISTINCT key_hash FROM audit WHERE key_hash NOT IN (SELECT key_hash FROM keys)',
  );

  /** The entries that led to the versions from one to another, both included; throws where one is not there or not ours. */
  function entries(keyHash: string, { first, newest }: Span): RevisionRow[] {
    if (newest < first) return [];
    const rows = between.all(keyHash, first, newest);
    if (!isUnbroken(rows, { first, newest }, table.isAuthentic))
      throw table.integrityError(`The history of ${keyHash}`, ...rows);
    return rows;
  }

  return {
    signed: table.signed,
    add(row: SignedRow<RevisionRow>): void {
      insert.run(row);
    },
    /** Whether there is a history of a key with this hash, of the organisation if one is given, whether the key exists or not. */
    has: (keyHash: string, orgID: string | null): boolean => any.get(keyHash, orgID) !== undefined,
    /**
     * The entries of a range of the key whose row `find` returns, in short reads, because an entry never changes.
     *
     * @throws {AppError} NOT_FOUND as `spanOf` does, and when the key is purged between two reads.
     */
    async read(find: () => KeyRow | undefined, range: HistoryRange, reads?: ReadBudget): Promise<KeyRevision[]> {
      const { row, span, found } = await read(
        () =>
          database.transaction(() => {
            const key = find();
            const wanted = spanOf(range, key);
            const sized = key && wanted.first <= wanted.newest;
            return {
              row: key,
              span: wanted,
              found: sized ? sizes.all(key.key_hash, wanted.first, wanted.newest) : [],
            };
          })(),
        reads,
      );
      if (!row) return [];
      reads?.take('history entries', found.length, sizeOf(found));
      const all: KeyRevision[] = [];
      for (const part of partsOf(span, found)) {
        const readPart = () => {
          if (!isThere.get(row.key_hash, row.date_created)) throw purgedMeanwhile();
          return entries(row.key_hash, part);
        };
        const rows = await read(() => database.transaction(readPart)(), reads);
        all.push(...(await mapInSlices(slices, rows, revisionFromRow, reads)));
      }
      return all;
    },
    definitionAt({ key_hash, version: current }: KeyRow, version: number): Definition | undefined {
      if (version < 1 || version > Number(current)) return undefined;
      const [row] = entries(key_hash, { first: version, newest: version });
      return row && definitionFromJSON(parseJSON(row.definition));
    },
    /** Whether every entry is ours, none is missing, and the key is what the newest says. */
    isWhole(key: KeyRow): boolean {
      const newest = lastLinked(key, between.iterate(key.key_hash, 0, Number.MAX_SAFE_INTEGER), table.isAuthentic);
      return newest !== undefined && newest.definition === key.definition;
    },
    forget(keyHash: string): void {
      forget.run(keyHash);
    },
    /** Hashes of keys that a history speaks of and that are not there. */
    withoutKey: (): string[] => withoutKey.all().map(({ key_hash }) => key_hash),
  };
}
