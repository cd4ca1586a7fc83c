import type { Database } from 'better-sqlite3';
import { parseJSON } from '../../json.js';
import type { QuotaManager } from '../../keys/quota.js';
import { definitionFromJSON } from '../../keys/stored-form.js';
import type { Change, KeyStore, StoredKey } from '../../keys/store.js';
import { auditColumns, auditEntryOf, auditRowOf, linkOf, type AuditRow } from './audit-row.js';
import { whenFree } from './busy.js';
import { countStatement, mostSorted, pageStatement, sortedStatement, type Statement } from './key-query.js';
import { readCounters } from './counters.js';
import { keyColumns, keyOf, rowOf, termsOf, type KeyRow } from './key-row.js';

const pageSize = 500;

/** Columns that are in an index and that most updates leave as they are. */
const indexed: ReadonlySet<keyof KeyRow> = new Set(['org_id', 'deleted', 'alias', 'expires', 'is_inactive']);

/** The key store and the live counters over one SQLite file. Writes are durable when they are answered. */
export function createKeyStore(database: Database): KeyStore & QuotaManager {
  const find = database.prepare<[string], KeyRow>('SELECT * FROM keys WHERE key_hash = ?');
  const findMany = database.prepare<[string], KeyRow>(
    'SELECT * FROM keys WHERE key_hash IN (SELECT value FROM json_each(?))',
  );
  const page = database.prepare<[string], KeyRow>(
    `SELECT * FROM keys WHERE key_hash > ? ORDER BY key_hash LIMIT ${pageSize}`,
  );
  const insert = database.prepare<[KeyRow]>(
    `INSERT INTO keys (${keyColumns.join(', ')}) VALUES (${keyColumns.map((column) => `@${column}`).join(', ')})`,
  );
  const update = (columns: readonly (keyof KeyRow)[]) =>
    database.prepare<[KeyRow]>(
      `UPDATE keys SET ${columns.map((column) => `${column} = @${column}`).join(', ')} WHERE key_hash = @key_hash`,
    );
  const replace = update(keyColumns.filter((column) => column !== 'key_hash'));
  // Naming a column writes the indexes it is in, whether its value is another or not: half of an update's pages.
  const replaceInPlace = update(keyColumns.filter((column) => column !== 'key_hash' && !indexed.has(column)));
  const count = database.prepare<[bigint, bigint | null, string]>(
    'UPDATE keys SET quota_used = ?, quota_renews = ? WHERE key_hash = ?',
  );
  const addTerm = database.prepare<[string, string, string]>(
    'INSERT INTO key_terms (term, key_hash, org_id) VALUES (?, ?, ?)',
  );
  const dropTerm = database.prepare<[string, string]>('DELETE FROM key_terms WHERE term = ? AND key_hash = ?');
  const remember = database.prepare<[AuditRow]>(
    `INSERT INTO audit (${auditColumns.join(', ')}) VALUES (${auditColumns.map((column) => `@${column}`).join(', ')})`,
  );
  const auditForward = database.prepare<[string, number, number, number], AuditRow>(
    'SELECT * FROM audit WHERE key_hash = ? AND version_after > ? AND version_after < ? ORDER BY version_after LIMIT ?',
  );
  const auditBackward = database.prepare<[string, number, number, number], AuditRow>(
    'SELECT * FROM audit WHERE key_hash = ? AND version_after > ? AND version_after < ? ORDER BY version_after DESC LIMIT ?',
  );
  const definitionAt = database.prepare<[string, number], { definition: string }>(
    'SELECT definition FROM audit WHERE key_hash = ? AND version_after = ?',
  );
  const withoutKey = database.prepare<[], { key_hash: string }>(
    'SELECT DISTINCT key_hash FROM audit WHERE key_hash NOT IN (SELECT key_hash FROM keys)',
  );
  const forget = database.prepare<[string]>('DELETE FROM audit WHERE key_hash = ?');
  const remove = database.prepare<[string]>('DELETE FROM keys WHERE key_hash = ?');
  const deletedBefore = database.prepare<[bigint], KeyRow>(`SELECT * FROM keys WHERE deleted < ? LIMIT ${pageSize}`);

  function write({ next, audit }: Change, row: KeyRow | undefined, stored: StoredKey | undefined): void {
    // The definition is written out once, for the key and for its history alike.
    const after = rowOf(next, new Uint8Array());
    const entry = auditRowOf(audit, after.definition, row?.history_link ?? null);
    after.history_link = entry.link;
    if (!row) insert.run(after);
    else if ([...indexed].some((column) => row[column] !== after[column])) replace.run(after);
    else replaceInPlace.run(after);
    remember.run(entry);

    const terms = termsOf(next);
    const known = stored ? termsOf(stored) : new Set<string>();
    for (const term of terms) if (!known.has(term)) addTerm.run(term, next.keyHash, next.orgID);
    for (const term of known) if (!terms.has(term)) dropTerm.run(term, next.keyHash);
  }

  const updateOne = database.transaction((keyHash: string, change: (stored: StoredKey | undefined) => Change) => {
    const row = find.get(keyHash);
    const stored = row && keyOf(row);
    const changed = change(stored);
    write(changed, row, stored);
    return changed;
  });
  const resealOne = database.transaction((keyHash: string, change: (stored: StoredKey) => StoredKey) => {
    const row = find.get(keyHash);
    if (row) replace.run(rowOf(change(keyOf(row)), row.history_link));
  });
  const addAll = database.transaction((keys: readonly Change[]) =>
    keys.map((change) => {
      if (find.get(change.next.keyHash)) return false;
      write(change, undefined, undefined);
      return true;
    }),
  );
  const purgePage = database.transaction((moment: bigint) => {
    const rows = deletedBefore.all(moment);
    for (const row of rows) {
      for (const term of termsOf(keyOf(row))) dropTerm.run(term, row.key_hash);
      forget.run(row.key_hash);
      remove.run(row.key_hash);
    }
    return rows.length;
  });

  function isBroken(row: KeyRow): boolean {
    let link: Uint8Array | null = null;
    let version = 0n;
    let definition = '';
    for (const entry of auditForward.iterate(row.key_hash, 0, Number.MAX_SAFE_INTEGER, -1)) {
      if (entry.version_before !== version || !isSame(entry.link, linkOf(link, entry))) return true;
      ({ link, version_after: version, definition } = entry);
    }
    if (version !== row.version || definition !== row.definition) return true;
    return link === null || !isSame(link, row.history_link);
  }

  function counted({ sql, parameters }: Statement): number {
    return Number(database.prepare<[object], { count: bigint }>(sql).get(parameters)?.count ?? 0n);
  }

  async function* rows(): AsyncIterable<KeyRow> {
    for (let last = ''; ;) {
      const found = await whenFree(() => page.all(last));
      yield* found;
      const final = found.at(-1);
      if (final === undefined) return;
      last = final.key_hash;
    }
  }

  return {
    find: (keyHash) =>
      whenFree(() => {
        const row = find.get(keyHash);
        return row && keyOf(row);
      }),
    findMany: (keyHashes) => whenFree(() => findMany.all(JSON.stringify(keyHashes)).map(keyOf)),
    list: (query) =>
      whenFree(() => {
        const sorted = sortedStatement(query);
        const { sql, parameters } = pageStatement(query, sorted !== undefined && counted(sorted) > mostSorted);
        return database.prepare<[object], KeyRow>(sql).all(parameters).map(keyOf);
      }),
    count: (filter, now) => whenFree(() => counted(countStatement(filter, now))),
    update: (keyHash, change) => whenFree(() => updateOne.immediate(keyHash, change)),
    reseal: (keyHash, change) => whenFree(() => resealOne.immediate(keyHash, change)),
    add: (keys) => whenFree(() => addAll.immediate(keys)),
    async *all() {
      for await (const row of rows()) yield keyOf(row);
    },
    auditOf: (keyHash, { after = 0, before = Number.MAX_SAFE_INTEGER, last = false, limit = -1 } = {}) =>
      whenFree(() => {
        const entries = (last ? auditBackward : auditForward).all(keyHash, after, before, limit).map(auditEntryOf);
        return last ? entries.reverse() : entries;
      }),
    definitionAt: (keyHash, version) =>
      whenFree(() => {
        const found = definitionAt.get(keyHash, version);
        return found && definitionFromJSON(parseJSON(found.definition));
      }),
    async purge(moment) {
      let purged = 0;
      for (;;) {
        const page = await whenFree(() => purgePage.immediate(BigInt(moment.getTime())));
        if (page === 0) return purged;
        purged += page;
      }
    },
    async *brokenHistories() {
      for await (const row of rows()) if (isBroken(row)) yield row.key_hash;
      for (const { key_hash } of await whenFree(() => withoutKey.all())) yield key_hash;
    },
    counters: readCounters(database),
    consume: (keyHash, decide) =>
      whenFree(() =>
        database
          .transaction(() => {
            const row = find.get(keyHash);
            const { next, answer } = decide(row && keyOf(row));
            if (next) count.run(next.used, next.renews ?? null, keyHash);
            return answer;
          })
          .immediate(),
      ),
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
