import type { Database } from 'better-sqlite3';
import { storedCounters, type QuotaManager, type QuotaOutbox } from '../../keys/quota/quota-manager.js';
import type { StoredKey } from '../../keys/key.js';
import type { KeyTransition, KeyStore } from '../../keys/ports.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { mapInSlices } from '../time-slices.js';
import { readCounters } from '../sql/keys/counters.js';
import { sqliteDialect } from '../sql/dialect.js';
import { createWriteGate, type WriteGate } from './write-gate.js';
import { createHistory } from '../sql/keys/history.js';
import { createKeyMaintenance } from '../sql/keys/key-maintenance.js';
import { revisionColumns, revisionLayouts, type RevisionRow } from '../records/revision.js';
import { createQuotaOutbox, insertQuotaChange } from '../sql/keys/quota-outbox.js';
import type { WideQuery } from '../sql/session.js';
import { createSqliteSession, parametersOf } from './session.js';
import { createReader, type Reader } from './reader.js';
import type { KeyQueryStatement } from '../sql/keys/key-query.js';
import { createKeyLists } from '../sql/keys/key-lists.js';
import { keyColumns, keyLayouts, keyFromRow, keyToRow, termsOf, type KeyRow } from '../records/key.js';
import { createPreparation, isLarge, type PreparedChange } from '../prepared-change.js';
import { createSignedTable, integrityError, type SignedRow } from '../records/signed.js';

const revisionNames = [...revisionColumns, 'mac'] as const;

const selectMany = `SELECT key_hash AS place, octet_length(definition) AS size FROM keys
  WHERE in_time() AND key_hash IN (SELECT value FROM json_each($1))`;
const selectManyOfOne = `SELECT key_hash AS place, octet_length(definition) AS size FROM keys
  WHERE in_time() AND key_hash IN (SELECT value FROM json_each($1)) AND org_id = $2`;

/** How often a change of a large key is prepared outside of a transaction when other changes come between. */
const maxPreparations = 3;

/** Columns that are in an index and that most updates leave as they are. */
const indexed: ReadonlySet<keyof KeyRow> = new Set(['org_id', 'deleted', 'alias', 'expires', 'is_inactive']);

/**
 * The key store and the live counters over one SQLite file. Writes are durable when they resolve. Keys are read from
 * verified rows only; counts and sums are not verified. Their MAC covers the whole row, so that a list reads whole rows
 * also when few of their columns are shown.
 */
export function createKeyStore(
  database: Database,
  signer: RowSigner,
  guard: WriteGate = createWriteGate(database),
  reader: Reader = createReader(database, guard),
): KeyStore & QuotaManager & QuotaOutbox {
  const { read, write } = guard;
  const table = createSignedTable<KeyRow>(signer, 'keys', keyLayouts);
  const session = createSqliteSession(database, guard);
  const revisions = createSignedTable<RevisionRow>(signer, 'audit', revisionLayouts);
  const history = createHistory(session, signer, (keyHash) => read(() => find(keyHash)), guard.slices);
  const { prepare, prepareInSlices } = createPreparation({
    signedKey: table.signed,
    signedEntry: revisions.signed,
    slices: guard.slices,
  });
  const { outbox, valuesOf } = createQuotaOutbox(session, signer);
  const addQuotaChange = database.prepare<[object]>(insertQuotaChange.text);
  const addEntry = database.prepare<[SignedRow<RevisionRow>]>(
    `INSERT INTO audit (${revisionNames.join(', ')}) VALUES (${revisionNames.map((column) => `@${column}`).join(', ')})`,
  );
  // The owner of a key never changes, so the first entry states it, however long the history is.
  const hasHistory = database.prepare<[string, string | null], object>(
    `SELECT 1 FROM (SELECT org_id FROM audit WHERE key_hash = ? ORDER BY version_after LIMIT 1)
     WHERE org_id = coalesce(?, org_id)`,
  );
  const names = [...keyColumns, 'mac'] as const;
  // With an organisation, another's row is not even read: the time taken does not show that it exists.
  const select = database.prepare<[string, string | null], SignedRow<KeyRow>>(
    'SELECT * FROM keys WHERE key_hash = ? AND org_id = coalesce(?, org_id)',
  );
  const insert = database.prepare<[SignedRow<KeyRow>]>(
    `INSERT INTO keys (${names.join(', ')}) VALUES (${names.map((column) => `@${column}`).join(', ')})`,
  );
  const update = (columns: readonly (keyof SignedRow<KeyRow>)[]) =>
    database.prepare<[SignedRow<KeyRow>]>(
      `UPDATE keys SET ${columns.map((column) => `${column} = @${column}`).join(', ')} WHERE key_hash = @key_hash`,
    );
  const replace = update(names.filter((column) => column !== 'key_hash'));
  // Naming a column writes the indexes it is in, whether its value is another or not: half of an update's pages.
  const replaceInPlace = update(
    names.filter((column) => column !== 'key_hash' && !(column !== 'mac' && indexed.has(column))),
  );
  const replaceCount = update(['quota_used', 'quota_renews', 'mac']);
  const addTerm = database.prepare<[string, string, string]>(
    'INSERT INTO key_terms (term, key_hash, org_id) VALUES (?, ?, ?)',
  );
  const dropTerm = database.prepare<[string, string]>('DELETE FROM key_terms WHERE term = ? AND key_hash = ?');

  /**
   * Another look for a key that was not found but has a history. Another process may have added it in between, and it may
   * have moved from this organisation to another; otherwise a writer other than Keyfront removed its row.
   *
   * @throws {AppError} INTERNAL when the row is missing.
   */
  function notThere(keyHash: string, orgID: string | null): SignedRow<KeyRow> | undefined {
    if (!hasHistory.get(keyHash, orgID)) return undefined;
    const row = select.get(keyHash, null);
    if (!row) throw integrityError(`The key ${keyHash}`);
    return orgID === null || row.org_id === orgID ? row : undefined;
  }

  /** The row, where it is ours. */
  function find(keyHash: string, orgID: string | null = null): SignedRow<KeyRow> | undefined {
    const row = select.get(keyHash, orgID) ?? notThere(keyHash, orgID);
    if (row && !table.isAuthentic(row)) throw table.integrityError(`The key ${keyHash}`, row);
    return row;
  }

  function put({ before, stored, change, row, entry }: PreparedChange): void {
    const { next } = change;
    if (!before) insert.run(row);
    else if ([...indexed].some((column) => before[column] !== row[column])) replace.run(row);
    else replaceInPlace.run(row);
    addEntry.run(entry);
    if (change.quotaChange) addQuotaChange.run(parametersOf(valuesOf(change.quotaChange)));

    const terms = termsOf(next);
    const known = stored ? termsOf(stored) : new Set<string>();
    for (const term of terms) if (!known.has(term)) addTerm.run(term, next.keyHash, next.orgID);
    for (const term of known) if (!terms.has(term)) dropTerm.run(term, next.keyHash);
  }

  /** Writes a change, or returns the row to prepare it from: for a large one, unless `prepared` was made from the row. */
  function updateOne(
    keyHash: string,
    apply: (stored: StoredKey | undefined) => KeyTransition | undefined,
    orgID: string | undefined,
    prepared: PreparedChange | undefined,
    mayPrepare: boolean,
  ): { readonly change: KeyTransition | undefined } | { readonly from: SignedRow<KeyRow> } {
    const row = find(keyHash, orgID);
    const isPrepared = row && prepared?.before && !isOther(row, prepared.before);
    if (isLarge(row) && !isPrepared && mayPrepare) return { from: row };
    const ready = isPrepared ? prepared : prepare(row, apply);
    if (ready) put(ready);
    return { change: ready?.change };
  }
  async function updateKey(
    keyHash: string,
    apply: (stored: StoredKey | undefined) => KeyTransition | undefined,
    orgID?: string,
  ): Promise<KeyTransition | undefined> {
    let prepared: PreparedChange | undefined;
    for (let attempts = 0; ; attempts += 1) {
      const done = await write(() => updateOne(keyHash, apply, orgID, prepared, attempts < maxPreparations));
      if ('change' in done) return done.change;
      prepared = await prepareInSlices(done.from, apply);
      if (!prepared) return undefined;
    }
  }
  function resealOne(keyHash: string, change: (stored: StoredKey) => StoredKey): void {
    const row = find(keyHash);
    if (!row) return;
    const signed = table.signed(keyToRow(change(keyFromRow(row)), row.history_link));
    if (isOther(signed, row)) replace.run(signed);
  }
  function addOne(change: KeyTransition): boolean {
    if (find(change.next.keyHash)) return false;
    const prepared = prepare(undefined, () => change);
    if (prepared) put(prepared);
    return prepared !== undefined;
  }
  function counted({ sql, parameters }: KeyQueryStatement): number {
    return Number(database.prepare<[object], { count: bigint }>(sql).get(parametersOf(parameters))?.count ?? 0n);
  }

  function authentic(row: SignedRow<KeyRow>): StoredKey {
    if (!table.isAuthentic(row)) throw table.integrityError(`The key ${row.key_hash}`, row);
    return keyFromRow(row);
  }

  return {
    ...outbox,
    ...storedCounters,
    ...history,
    ...createKeyMaintenance(session, signer),
    find: (keyHash, orgID) =>
      read(() => {
        const row = find(keyHash, orgID);
        return row && keyFromRow(row);
      }),
    async findMany(keyHashes, reads, orgID) {
      const statement: WideQuery =
        orgID === undefined
          ? { sql: selectMany, parameters: [keyHashes] }
          : { sql: selectManyOfOne, parameters: [keyHashes, orgID] };
      const limit = { maxBytes: reads?.bytesLeft() ?? Infinity, mayCut: false };
      const { rows, found } = await reader.keys<SignedRow<KeyRow>>(statement, limit, reads);
      reads?.take('keys', found.count, found.bytes);
      const known = new Set(rows.map((row) => row.key_hash));
      const unknown = keyHashes.filter((keyHash) => !known.has(keyHash));
      const added = await read(() => unknown.flatMap((keyHash) => notThere(keyHash, orgID ?? null) ?? []), reads);
      return mapInSlices(guard.slices, [...rows, ...added], authentic, reads);
    },
    ...createKeyLists({
      dialect: sqliteDialect,
      reader,
      slices: guard.slices,
      keyOf: authentic,
      countRows: (statement, reads) => read(() => counted(statement), reads),
    }),
    update: updateKey,
    reseal: (keyHash, change) => write(() => resealOne(keyHash, change)),
    add: (keys) => write(() => keys.map(addOne)),
    counters: readCounters(sqliteDialect, reader),
    consume: (keyHash, decide, orgID) =>
      write(() => {
        const row = find(keyHash, orgID);
        const { next, result } = decide(row && keyFromRow(row));
        if (!row || !next) return result;
        const signed = table.signed({ ...row, quota_used: next.used, quota_renews: next.renews ?? null });
        if (isOther(signed, row)) replaceCount.run(signed);
        return result;
      }),
  };
}

/** Whether two rows differ: a trigger rejects updates that keep the signature. */
function isOther<Row>(row: SignedRow<Row>, before: SignedRow<Row>): boolean {
  return Buffer.compare(row.mac, before.mac) !== 0;
}
