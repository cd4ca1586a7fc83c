import type { Database } from 'better-sqlite3';
import { parseJSON } from '../../json.js';
import type { Definition } from '../../keys/normal-form.js';
import { definitionFromJSON } from '../../keys/stored-form.js';
import type { AuditEntry } from '../../keys/store.js';
import type { Authenticity } from '../authenticity.js';
import { auditColumns, auditEntryOf, auditRowOf, linkOf, type AuditRow } from './audit-row.js';
import type { KeyRow } from './key-row.js';
import { createSignedTable, damaged, type Signed } from './signed-table.js';

export interface Range {
  readonly after?: number;
  readonly before?: number;
  readonly last?: boolean;
  readonly limit?: number;
}

/** The history of keys. What is asked for a key takes its row, which has been found authentic. */
export function createHistory(database: Database, authenticity: Authenticity) {
  const table = createSignedTable<AuditRow>(authenticity, 'audit', auditColumns);
  const names = [...auditColumns, 'mac'];
  const insert = database.prepare<[Signed<AuditRow>]>(
    `INSERT INTO audit (${names.join(', ')}) VALUES (${names.map((column) => `@${column}`).join(', ')})`,
  );
  const between = database.prepare<[string, number, number], Signed<AuditRow>>(
    'SELECT * FROM audit WHERE key_hash = ? AND version_after BETWEEN ? AND ? ORDER BY version_after',
  );
  const any = database.prepare<[string], object>('SELECT 1 FROM audit WHERE key_hash = ? LIMIT 1');
  const forget = database.prepare<[string]>('DELETE FROM audit WHERE key_hash = ?');
  const withoutKey = database.prepare<[], { key_hash: string }>(
    'SELECT DISTINCT key_hash FROM audit WHERE key_hash NOT IN (SELECT key_hash FROM keys)',
  );

  /** The entries that led to the versions from one to another, both included; throws where one is not there or not ours. */
  function entries(keyHash: string, first: number, newest: number): AuditRow[] {
    if (newest < first) return [];
    const rows = between.all(keyHash, first, newest);
    const isWhole =
      rows.length === newest - first + 1 &&
      rows.every((row, index) => Number(row.version_after) === first + index && table.isAuthentic(row));
    if (!isWhole) throw damaged(`The history of ${keyHash}`);
    return rows;
  }

  return {
    /** The entry’s row, which is not written yet: the key keeps its link. */
    rowOf: (entry: AuditEntry, definition: string, previous: Uint8Array | null): AuditRow =>
      auditRowOf(entry, definition, previous),
    add(row: AuditRow): void {
      insert.run(table.signed(row));
    },
    /** Whether anything is remembered of a key with this hash, be it there or not. */
    has: (keyHash: string): boolean => any.get(keyHash) !== undefined,
    read(
      { key_hash, version }: KeyRow,
      { after = 0, before = Infinity, last = false, limit = -1 }: Range,
    ): AuditEntry[] {
      const first = Math.max(after + 1, 1);
      const newest = Math.min(before - 1, Number(version));
      const count = limit < 0 ? Infinity : limit;
      const rows = last
        ? entries(key_hash, Math.max(first, newest - count + 1), newest)
        : entries(key_hash, first, Math.min(newest, first + count - 1));
      return rows.map(auditEntryOf);
    },
    definitionAt({ key_hash, version: current }: KeyRow, version: number): Definition | undefined {
      if (version < 1 || version > Number(current)) return undefined;
      const [row] = entries(key_hash, version, version);
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

/** The newest entry of a history, where each follows the one before it and the key stands at the end; else undefined. */
export function lastLinked(
  key: KeyRow,
  rows: Iterable<Signed<AuditRow>>,
  isGood: (row: Signed<AuditRow>) => boolean,
): AuditRow | undefined {
  let last: AuditRow | undefined;
  for (const row of rows) {
    const isNext = row.version_before === (last?.version_after ?? 0n);
    if (!isNext || !isGood(row) || !isSame(row.link, linkOf(last?.link ?? null, row))) return undefined;
    last = row;
  }
  return last && last.version_after === key.version && isSame(last.link, key.history_link) ? last : undefined;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
