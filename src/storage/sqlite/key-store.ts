import { setImmediate as turnOfOthers } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { QuotaManager, QuotaOutbox } from '../../keys/quota/quota-manager.js';
import type { StoredKey } from '../../keys/key.js';
import type { KeyTransition, Discarded, IntegrityReport, KeyStore } from '../../keys/ports.js';
import type { Authenticity } from '../records/authenticity.js';
import { mapInSlices } from '../time-slices.js';
import { readCounters } from './counters.js';
import { createWriteGate, type WriteGate } from './write-gate.js';
import { createHistory } from './history.js';
import { createQuotaOutbox, insertQuotaChange } from '../sql/quota-outbox.js';
import { createSqliteSession, parametersOf } from './session.js';
import { createReader, type Reader } from './reader.js';
import { countStatement, maxSortedRows, pageStatement, sortedStatement, type Statement } from './key-query.js';
import { matchesFilter } from '../sql/key-filter.js';
import { keyColumns, keyLayouts, keyFromRow, keyToRow, termsOf, type KeyRow } from '../records/key.js';
import { createPreparation, isLarge, type PreparedChange } from '../prepared-change.js';
import { createSignedTable, integrityError, type SignedRow } from '../records/signed.js';

const pageSize = 500;

/** How much one transaction removes: keys, and bytes of them with their histories. One key may have more. */
const maxPurged = 100;
const maxPurgedBytes = 1024 * 1024;

const selectMany = `SELECT key_hash AS place, octet_length(definition) AS size FROM keys
  WHERE in_time() AND key_hash IN (SELECT value FROM json_each(@hashes))`;
const selectManyOfOne = `SELECT key_hash AS place, octet_length(definition) AS size FROM keys
  WHERE in_time() AND key_hash IN (SELECT value FROM json_each(@hashes)) AND org_id = @org`;

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
  authenticity: Authenticity,
  guard: WriteGate = createWriteGate(database),
  reader: Reader = createReader(database, guard),
): KeyStore & QuotaManager & QuotaOutbox {
  const { read, write } = guard;
  const table = createSignedTable<KeyRow>(authenticity, 'keys', keyLayouts);
  const history = createHistory(database, authenticity, guard);
  const { prepare, prepareInSlices } = createPreparation({
    signedKey: table.signed,
    signedEntry: history.signed,
    slices: guard.slices,
  });
  const { outbox, valuesOf } = createQuotaOutbox(createSqliteSession(database, guard), authenticity);
  const addQuotaChange = database.prepare<[object]>(insertQuotaChange.text);
  const dropQuotaChanges = database.prepare<[string]>('DELETE FROM quota_changes WHERE key_hash = ?');
  const names = [...keyColumns, 'mac'] as const;
  // With an organisation, another's row is not even read: the time taken does not show that it exists.
  const select = database.prepare<[string, string | null], SignedRow<KeyRow>>(
    'SELECT * FROM keys WHERE key_hash = ? AND org_id = coalesce(?, org_id)',
  );
  const page = database.prepare<[string], SignedRow<KeyRow>>(
    `SELECT * FROM keys WHERE key_hash > ? ORDER BY key_hash LIMIT ${pageSize}`,
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
  const hasTerm = database.prepare<[string, string, string], object>(
    'SELECT 1 FROM key_terms WHERE term = ? AND key_hash = ? AND org_id = ?',
  );
  const dropTerm = database.prepare<[string, string]>('DELETE FROM key_terms WHERE term = ? AND key_hash = ?');
  const remove = database.prepare<[string]>('DELETE FROM keys WHERE key_hash = ?');
  const deletedBefore = database.prepare<[bigint, bigint, string], { deleted: bigint; key_hash: string }>(
    `SELECT deleted, key_hash FROM keys WHERE deleted < ? AND (deleted, key_hash) > (?, ?)
     ORDER BY deleted, key_hash LIMIT ${pageSize}`,
  );
  const sizeWithHistory = database
    .prepare<[string], bigint>(
      `SELECT octet_length(definition) + (
         SELECT coalesce(sum(octet_length(definition) + octet_length(changes)), 0) FROM audit a
         WHERE a.key_hash = k.key_hash
       ) FROM keys k WHERE key_hash = ?`,
    )
    .pluck();

  /**
   * Another look for a key that was not found but has a history. Another process may have added it in between, and it may
   * have moved from this organisation to another; otherwise a writer other than Keyfront removed its row.
   *
   * @throws {AppError} INTERNAL when the row is missing.
   */
  function notThere(keyHash: string, orgID: string | null): SignedRow<KeyRow> | undefined {
    if (!history.has(keyHash, orgID)) return undefined;
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
    history.add(entry);
    if (change.quotaChange) addQuotaChange.run(parametersOf(valuesOf(change.quotaChange)));

    const terms = termsOf(next);
    const known = stored ? termsOf(stored) : new Set<string>();
    for (const term of terms) if (!known.has(term)) addTerm.run(term, next.keyHash, next.orgID);
    for (const term of known) if (!terms.has(term)) dropTerm.run(term, next.keyHash);
  }

  /** Writes a change, or returns the row to prepare it from: for a large one, unless `prepared` was made from the row. */
  function updateOne(
    keyHash: string,
    apply: (stored: StoredKey | undefined) => KeyTransition,
    orgID: string | undefined,
    prepared: PreparedChange | undefined,
    mayPrepare: boolean,
  ): { readonly change: KeyTransition } | { readonly from: SignedRow<KeyRow> } {
    const row = find(keyHash, orgID);
    const isPrepared = row && prepared?.before && !isOther(row, prepared.before);
    if (isLarge(row) && !isPrepared && mayPrepare) return { from: row };
    const ready = isPrepared ? prepared : prepare(row, apply);
    put(ready);
    return { change: ready.change };
  }
  async function updateKey(
    keyHash: string,
    apply: (stored: StoredKey | undefined) => KeyTransition,
    orgID?: string,
  ): Promise<KeyTransition> {
    let prepared: PreparedChange | undefined;
    for (let attempts = 0; ; attempts += 1) {
      const done = await write(() => updateOne(keyHash, apply, orgID, prepared, attempts < maxPreparations));
      if ('change' in done) return done.change;
      prepared = await prepareInSlices(done.from, apply);
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
    put(prepare(undefined, () => change));
    return true;
  }
  /** Removes the first of the keys, as many as one transaction removes in milliseconds, and at least one. */
  function purgePart(keyHashes: readonly string[], moment: bigint): { readonly seen: number; readonly purged: number } {
    let bytes = 0;
    let seen = 0;
    let purged = 0;
    for (const keyHash of keyHashes.slice(0, maxPurged)) {
      bytes += Number(sizeWithHistory.get(keyHash) ?? 0n);
      if (seen > 0 && bytes > maxPurgedBytes) break;
      seen += 1;
      const row = select.get(keyHash, null);
      // A key may have been restored since. What is damaged stays to be looked into: its date may be what was damaged.
      if (!row || row.deleted === null || row.deleted >= moment || !table.isAuthentic(row)) continue;
      for (const term of termsOf(keyFromRow(row))) dropTerm.run(term, keyHash);
      history.forget(keyHash);
      dropQuotaChanges.run(keyHash);
      remove.run(keyHash);
      purged += 1;
    }
    return { seen, purged };
  }
  const dropTerms = database.prepare<[string]>('DELETE FROM key_terms WHERE key_hash = ?');
  function discardOne(keyHash: string): Discarded {
    const row = select.get(keyHash, null);
    if (row && table.isAuthentic(row)) return 'intact';
    if (!row && !history.has(keyHash, null)) return 'absent';
    // The row does not tell which terms it had.
    dropTerms.run(keyHash);
    history.forget(keyHash);
    dropQuotaChanges.run(keyHash);
    remove.run(keyHash);
    return 'discarded';
  }
  /** Reads the row and what belongs to it in one transaction: another process may write in between. */
  function ofKey<T>(keyHash: string, readMore: (row: KeyRow | undefined) => T): T {
    return database.transaction(() => readMore(find(keyHash)))();
  }

  function counted({ sql, parameters }: Statement): number {
    return Number(database.prepare<[object], { count: bigint }>(sql).get(parameters)?.count ?? 0n);
  }

  function authentic(row: SignedRow<KeyRow>): StoredKey {
    if (!table.isAuthentic(row)) throw table.integrityError(`The key ${row.key_hash}`, row);
    return keyFromRow(row);
  }

  /** The key with all that belongs to it, at one moment: services may go on while it is looked at. */
  const inspectOne = database.transaction((keyHash: string): IntegrityReport | undefined => {
    const row = select.get(keyHash, null);
    if (!row) return undefined;
    // What belongs to a row is held against what the row says, and a damaged one says nothing.
    const nothing = { keyHash, exists: true, key: undefined, isHistoryIntact: true, isIndexed: true };
    if (!table.isAuthentic(row)) return nothing;
    const key = keyFromRow(row);
    const isIndexed = [...termsOf(key)].every((term) => hasTerm.get(term, keyHash, key.orgID));
    return { ...nothing, key, isHistoryIntact: history.isWhole(row), isIndexed };
  });

  async function* rows(): AsyncIterable<SignedRow<KeyRow>> {
    for (let last = ''; ;) {
      const found = await read(() => page.all(last));
      yield* found;
      await turnOfOthers();
      const final = found.at(-1);
      if (final === undefined) return;
      last = final.key_hash;
    }
  }

  return {
    ...outbox,
    find: (keyHash, orgID) =>
      read(() => {
        const row = find(keyHash, orgID);
        return row && keyFromRow(row);
      }),
    async findMany(keyHashes, reads, orgID) {
      const hashes = JSON.stringify(keyHashes);
      const statement: Statement =
        orgID === undefined
          ? { sql: selectMany, parameters: { hashes } }
          : { sql: selectManyOfOne, parameters: { hashes, org: orgID } };
      const limit = { maxBytes: reads?.bytesLeft() ?? Infinity, mayCut: false };
      const { rows, found } = await reader.keys<SignedRow<KeyRow>>(statement, reads, limit);
      reads?.take('keys', found.count, found.bytes);
      const known = new Set(rows.map((row) => row.key_hash));
      const unknown = keyHashes.filter((keyHash) => !known.has(keyHash));
      const added = await read(() => unknown.flatMap((keyHash) => notThere(keyHash, orgID ?? null) ?? []), reads);
      return mapInSlices(guard.slices, [...rows, ...added], authentic, reads);
    },
    async list(query, reads) {
      const sorted = sortedStatement(query);
      const isCommon = sorted !== undefined && (await read(() => counted(sorted), reads)) > maxSortedRows;
      const mayCut = query.maxBytes !== undefined;
      const limit = { maxBytes: query.maxBytes ?? reads?.bytesLeft() ?? Infinity, mayCut };
      const { rows, found } = await reader.keys<SignedRow<KeyRow>>(pageStatement(query, isCommon), reads, limit);
      if (!mayCut) reads?.take('keys', found.count, found.bytes);
      const keys = await mapInSlices(guard.slices, rows, authentic, reads);
      // A damaged index finds authentic rows that are not of the query, such as another organisation's.
      if (!keys.every((key) => matchesFilter(query, key))) throw integrityError('An index of the keys');
      return { keys, isCut: keys.length < found.count };
    },
    async count(filter, now, reads) {
      const [row] = await reader.many<{ count: bigint }>(countStatement(filter, now), reads);
      return Number(row?.count ?? 0n);
    },
    update: updateKey,
    reseal: (keyHash, change) => write(() => resealOne(keyHash, change)),
    add: (keys) => write(() => keys.map(addOne)),
    async *all() {
      for await (const row of rows()) {
        yield { keyHash: row.key_hash, key: table.isAuthentic(row) ? keyFromRow(row) : undefined };
      }
    },
    discard: (keyHash) => write(() => discardOne(keyHash)),
    historyOf: (keyHash, range = {}, reads) => history.read(() => find(keyHash), range, reads),
    definitionAt: (keyHash, version) => read(() => ofKey(keyHash, (row) => row && history.definitionAt(row, version))),
    async purge(moment) {
      const before = BigInt(moment.getTime());
      let purged = 0;
      for (let place = { deleted: -(2n ** 63n), key_hash: '' }; ;) {
        const { deleted, key_hash: after } = place;
        const page = await read(() => deletedBefore.all(before, deleted, after));
        for (let from = 0; from < page.length;) {
          const rest = page.slice(from).map(({ key_hash }) => key_hash);
          const part = await write(() => purgePart(rest, before));
          purged += part.purged;
          from += part.seen;
          await turnOfOthers();
        }
        const last = page.at(-1);
        if (last === undefined) return purged;
        place = last;
      }
    },
    async *verifyIntegrity() {
      for await (const { key_hash } of rows()) {
        const found = await read(() => inspectOne(key_hash));
        if (found) yield found;
        await turnOfOthers();
      }
      for (const keyHash of await read(() => history.withoutKey())) {
        yield { keyHash, exists: false, key: undefined, isHistoryIntact: false, isIndexed: true };
      }
    },
    counters: readCounters(reader),
    consume: (keyHash, decide, orgID) =>
      write(() => {
        const row = find(keyHash, orgID);
        const { next, result: answer } = decide(row && keyFromRow(row));
        if (!row || !next) return answer;
        const signed = table.signed({ ...row, quota_used: next.used, quota_renews: next.renews ?? null });
        if (isOther(signed, row)) replaceCount.run(signed);
        return answer;
      }),
  };
}

/** Whether a row says something else. The database refuses changes under which a signature stays what it was. */
function isOther<Row>(row: SignedRow<Row>, before: SignedRow<Row>): boolean {
  return Buffer.compare(row.mac, before.mac) !== 0;
}
