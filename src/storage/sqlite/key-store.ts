import type { Database, Statement } from 'better-sqlite3';
import type { KeyStore } from '../../keys/ports.js';
import type { QuotaManager, QuotaOutbox } from '../../keys/quota/quota-manager.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { keyTable, type KeyRow } from '../records/key.js';
import { quotaChangeTable } from '../records/quota-change.js';
import { revisionTable } from '../records/revision.js';
import { isSameRow, type SignedRow } from '../records/signed.js';
import { sqliteDialect } from '../sql/dialect.js';
import {
  createKeyRowStatements,
  isLarge,
  keyWriteOf,
  writesOfMissing,
  type KeyLookup,
  type KeyRowStatements,
  type KeyWrite,
  type KeyWriter,
  type RowChange,
  type WriteCommand,
} from '../sql/keys/key-rows.js';
import { createSqlKeyStore } from '../sql/keys/key-store.js';
import { insertReceipt, receiptValues } from '../sql/keys/receipts.js';
import { createReader, type Reader } from './reader.js';
import { createExecutor, createSqliteSession, parametersOf } from './session.js';
import { createWriteGate, type WriteGate } from './write-gate.js';

/** The key store over one SQLite file. */
export function createKeyStore(
  database: Database,
  signer: RowSigner,
  guard: WriteGate = createWriteGate(database),
  reader: Reader = createReader(database, guard),
): KeyStore & QuotaManager & QuotaOutbox {
  const session = createSqliteSession(database, guard);
  const rows = createKeyRowStatements(sqliteDialect, signer);
  const writer = createKeyWriter(database, guard, rows);
  return createSqlKeyStore({ session, rows, writer, reader, wideReader: reader, slices: guard.slices }, signer);
}

/** How often a change of a large key is applied outside of a transaction when other changes come between. */
const maxPreparations = 3;

interface PreparedCommand<T> {
  readonly from: SignedRow<KeyRow>;
  readonly command: WriteCommand<T>;
}

/** Writes each change in a transaction that locks the file before the key is read, or in a savepoint of one. */
function createKeyWriter(
  database: Database,
  { write }: WriteGate,
  { selectOne, lookUpOne, lookUpMany, verified, rowOf }: KeyRowStatements,
): KeyWriter {
  const execute = createExecutor(database);
  const put = createPut(database);

  function find(keyHash: string, orgID?: string): SignedRow<KeyRow> | undefined {
    const values = [keyHash, orgID ?? null];
    const [row] = execute<SignedRow<KeyRow>>(selectOne, values);
    return row ? verified(row) : rowOf(execute<KeyLookup>(lookUpOne, values)[0]);
  }

  function putChange(before: SignedRow<KeyRow> | undefined, command: WriteCommand<unknown>): void {
    const written = keyWriteOf(before, [command]);
    if (written) put(written);
  }

  /** Writes a change. For a large row it returns the work to do first, unless `prepared` was made from the same row. */
  function changeOne<T>(
    keyHash: string,
    { apply, applyInSlices }: RowChange<T>,
    orgID: string | undefined,
    prepared: PreparedCommand<T> | undefined,
    mayPrepare: boolean,
  ): { readonly result: T } | { readonly prepare: () => Promise<PreparedCommand<T>> } {
    const row = find(keyHash, orgID);
    const isPrepared = row !== undefined && prepared !== undefined && isSameRow(row, prepared.from);
    if (isLarge(row) && !isPrepared && applyInSlices && mayPrepare) {
      return { prepare: async () => ({ from: row, command: await applyInSlices(row) }) };
    }
    const command = isPrepared ? prepared.command : apply(row);
    putChange(row, command);
    return { result: command.result };
  }

  return {
    async change<T>(keyHash: string, change: RowChange<T>, orgID?: string) {
      let prepared: PreparedCommand<T> | undefined;
      for (let attempts = 0; ; attempts += 1) {
        const done = await write(() => changeOne(keyHash, change, orgID, prepared, attempts < maxPreparations));
        if ('result' in done) return done.result;
        prepared = await done.prepare();
      }
    },
    add: (changes) =>
      write(() => {
        const found = execute<KeyLookup>(lookUpMany, [[...changes.keys()], null]);
        const writes = writesOfMissing(changes, found, rowOf);
        for (const one of writes) put(one);
        return new Set(writes.map(({ row }) => row.key_hash));
      }),
  };
}

/** Writes one key with all that belongs to it. Rows are bound by name, without a copy. */
function createPut(database: Database): (write: KeyWrite) => void {
  const insertInto = (table: string, columns: readonly string[]) =>
    database.prepare<[object]>(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((column) => `@${column}`).join(', ')})`,
    );
  const insert = insertInto(keyTable.name, keyTable.columnNames);
  const updates = new Map<string, Statement<[object]>>();
  // SQLite writes the indexes of every column that is named, also if its value stays: half of the pages of an update.
  const updateOf = (before: SignedRow<KeyRow>, row: SignedRow<KeyRow>) => {
    const changed = keyTable.columnNames.filter((column) => before[column] !== row[column]);
    const assignments = changed.map((column) => `${column} = @${column}`).join();
    const update =
      updates.get(assignments) ??
      database.prepare<[object]>(`UPDATE keys SET ${assignments} WHERE key_hash = @key_hash`);
    updates.set(assignments, update);
    return update;
  };
  const addEntry = insertInto(revisionTable.name, revisionTable.columnNames);
  const addQuotaChange = insertInto(quotaChangeTable.name, quotaChangeTable.columnNames);
  const addReceipt = database.prepare<[object]>(insertReceipt.text);
  const addTerm = insertInto('key_terms', ['term', 'key_hash', 'org_id']);
  const dropTerm = database.prepare<[object]>('DELETE FROM key_terms WHERE term = @term AND key_hash = @key_hash');

  return ({ before, row, entries, quotaChanges, receipts, addedTerms, droppedTerms }) => {
    const { key_hash, org_id } = row;
    (before ? updateOf(before, row) : insert).run(row);
    for (const entry of entries) addEntry.run(entry);
    for (const quotaChange of quotaChanges) addQuotaChange.run(quotaChange);
    for (const receipt of receipts) addReceipt.run(parametersOf(receiptValues(receipt)));
    for (const term of addedTerms) addTerm.run({ term, key_hash, org_id });
    for (const term of droppedTerms) dropTerm.run({ term, key_hash });
  };
}
