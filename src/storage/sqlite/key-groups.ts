import type { Database, Statement } from 'better-sqlite3';
import { keyTable, type KeyRow } from '../records/key.js';
import { quotaChangeTable } from '../records/quota-change.js';
import { revisionTable } from '../records/revision.js';
import { isSameRow, type SignedRow } from '../records/signed.js';
import type { KeyGroup, KeyGroups, WriteGroup, WrittenGroup } from '../sql/keys/group-writer.js';
import {
  isLarge,
  writesOfMissing,
  type KeyLookup,
  type KeyRowStatements,
  type KeyWrite,
} from '../sql/keys/key-rows.js';
import { insertReceipt, receiptValues } from '../sql/keys/receipts.js';
import { atOnce, inSlices } from '../time-slices.js';
import { maxGroupMs } from './group-commit.js';
import { createExecutor, parametersOf } from './session.js';
import type { WriteGate } from './write-gate.js';

/** How often the changes of a large key are applied outside of a transaction when other processes change it in between. */
const maxPreparations = 3;

/**
 * Writes a group in one transaction, which locks the file before a key is read, so that no change is made from a row that is
 * replaced. Changes of a large key are applied before their transaction, in time slices, and written if the row is the same.
 */
export function createKeyGroups(
  database: Database,
  { write, slices }: WriteGate,
  { selectOne, lookUpOne, lookUpMany, rowOf }: KeyRowStatements,
): KeyGroups {
  const execute = createExecutor(database);
  const put = createPut(database);

  /** Does the same work for a key of another organisation and for none: the time taken does not show which it is. */
  function find(keyHash: string, orgID: string | undefined): KeyLookup | undefined {
    const values = [keyHash, orgID ?? null];
    return execute<SignedRow<KeyRow>>(selectOne, values)[0] ?? execute<KeyLookup>(lookUpOne, values)[0];
  }

  function putIfAny(written: KeyWrite | undefined): void {
    if (written) put(written);
  }

  function writeSmall({ keyHashes, orgOf, apply }: KeyGroup): WrittenGroup {
    const endMs = performance.now() + maxGroupMs;
    const isLate = () => performance.now() >= endMs;
    const separately = new Map<string, WriteGroup>();
    for (const keyHash of keyHashes) {
      const found = find(keyHash, orgOf(keyHash));
      if (isLarge(found)) separately.set(keyHash, (take) => writeLarge(found, take()));
      else putIfAny(atOnce(apply(keyHash, found, isLate)));
      if (isLate()) break;
    }
    return { separately };
  }

  async function writeLarge(row: SignedRow<KeyRow>, { orgOf, apply }: KeyGroup): Promise<WrittenGroup> {
    const keyHash = row.key_hash;
    for (let from = row, preparations = 1; ; preparations += 1) {
      const prepared = await inSlices(slices, apply(keyHash, from));
      const changed = await write(() => {
        const found = find(keyHash, orgOf(keyHash));
        if (found?.mac && isSameRow(found, from)) {
          putIfAny(prepared);
        } else if (isLarge(found) && preparations < maxPreparations) {
          return found;
        } else {
          putIfAny(atOnce(apply(keyHash, found)));
        }
        return undefined;
      });
      if (!changed) return {};
      from = changed;
    }
  }

  return {
    // Each is part of the next commit.
    maxGroups: Infinity,
    write(take) {
      let group: KeyGroup | undefined;
      const taken = () => (group ??= take());
      return write(() => writeSmall(taken()), taken);
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
