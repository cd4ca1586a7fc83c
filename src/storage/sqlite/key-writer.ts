import type { Database, Statement } from 'better-sqlite3';
import { largeText } from '../../lib/scheduler.js';
import { keyTable, type KeyRow, type StoredKeyRow, quotaChangeTable, revisionTable } from '../records/key-records.js';
import type { SignedRow } from '../records/signed.js';
import {
  busyError,
  keyWriteOf,
  writesOfMissing,
  type KeyLookup,
  type KeyRowStatements,
  type KeyWrite,
  type KeyWriter,
  type RowChange,
  type WriteCommand,
} from '../sql/keys/key-rows.js';
import { replacedIdentifier } from '../sql/keys/identifiers.js';
import { insertReceipt, receiptValues } from '../sql/keys/receipts.js';
import { endProposal, insertStep, stepValues } from '../sql/proposal-rows.js';
import { isKeyHash, nearKeys, placeOf, placesOf, tooManyNear } from '../sql/place.js';
import { maxWaiting } from '../gather.js';
import { createExecutor, parametersOf } from './session.js';
import type { WriteGate } from './write-gate.js';

/** Each change reads its row and writes it in a savepoint of the group commit, which locks the file before a row is read. */
export function createKeyWriter(
  database: Database,
  { write, waiting, slices }: WriteGate,
  { selectOne, lookUpOne, lookUpMany, rowOf }: KeyRowStatements,
): KeyWriter {
  const execute = createExecutor(database);
  const put = createPut(database);

  /** Does the same work for a key of another organization and for none: the time taken does not show which it is. */
  function find(keyHash: string, orgID: string | undefined): KeyLookup | undefined {
    if (!isKeyHash(keyHash)) return undefined;
    const values = [keyHash, placeOf(keyHash), orgID ?? null];
    return execute<StoredKeyRow>(selectOne, values)[0] ?? execute<KeyLookup>(lookUpOne, values)[0];
  }

  function changeNow<T>(keyHash: string, change: RowChange<T>, orgID: string | undefined): WriteCommand<T> {
    const before = rowOf(find(keyHash, orgID), orgID);
    const command = change(before);
    const written = keyWriteOf(before, [command]);
    if (written) put(written);
    return command;
  }

  return {
    async change(keyHash, change, orgID, onCommit) {
      if (waiting() >= maxWaiting) throw busyError();
      const { result, next } = await write(() => changeNow(keyHash, change, orgID), onCommit);
      // Others are served between writing a large key and responding with it, which takes as long again.
      if ((next?.definition.length ?? 0) > largeText) await slices.nextStage();
      return result;
    },
    add: (changes) =>
      write(() => {
        const found = execute<KeyLookup>(lookUpMany, [placesOf([...changes.keys()]), null]);
        const writes = writesOfMissing(changes, found, rowOf);
        for (const one of writes) put(one);
        return new Set(writes.map(({ row }) => row.key_hash));
      }),
  };
}

/** Writes one key with all that belongs to it. Rows are bound by name, without a copy. */
function createPut(database: Database): (write: KeyWrite) => void {
  // The texts that are stored as numbers, and the hash, which is stored as bytes.
  const org = '(SELECT id FROM orgs WHERE name = @org_id)';
  const actor = '(SELECT id FROM actors WHERE credential_id = @credential_id AND label = @credential_label)';
  const stored: Readonly<Record<string, readonly [column: string, value: string]>> = {
    org_id: ['org', org],
    key_hash: ['key_hash', 'unhex(@key_hash)'],
    credential_id: ['actor', actor],
  };
  const storedAs = (name: string) => stored[name] ?? ([name, `@${name}`] as const);
  const insertInto = (table: string, names: readonly string[], placed: readonly string[] = []) => {
    const columns = [...placed.map((name) => [name, '?'] as const), ...names.map(storedAs)];
    return database.prepare<(object | bigint | null)[]>(
      `INSERT INTO ${table} (${columns.map(([column]) => column).join(', ')})
       VALUES (${columns.map(([, value]) => value).join(', ')})`,
    );
  };
  const addOrg = database.prepare<[string]>('INSERT INTO orgs (name) VALUES (?) ON CONFLICT DO NOTHING');
  const addActor = database.prepare<[string, string]>(
    'INSERT INTO actors (credential_id, label) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const insert = insertInto(keyTable.name, keyTable.columnNames, ['id', 'head']);
  const updates = new Map<string, Statement<(object | bigint | null)[]>>();
  // SQLite writes the indexes of every column that is named, also if its value stays: half of the pages of an update.
  const updateOf = (before: StoredKeyRow, row: SignedRow<KeyRow>) => {
    const changed = keyTable.columnNames.filter((column) => before[column] !== row[column]);
    const assignments = changed.map((column) => storedAs(column).join(' = ')).join();
    const update =
      updates.get(assignments) ??
      database.prepare<(object | bigint | null)[]>(`UPDATE keys SET head = ?, ${assignments} WHERE id = ?`);
    updates.set(assignments, update);
    return update;
  };
  const nearIDs = database.prepare<[bigint, bigint], bigint>('SELECT id FROM keys WHERE id BETWEEN ? AND ?').pluck();
  const entryNames = revisionTable.columnNames.filter((name) => name !== 'credential_label');
  const addEntry = insertInto(revisionTable.name, entryNames, ['key', 'previous']);
  const addQuotaChange = database.prepare<[object]>(
    `INSERT INTO ${quotaChangeTable.name} (${quotaChangeTable.columnNames.join(', ')})
     VALUES (${quotaChangeTable.columnNames.map((name) => `@${name}`).join(', ')})`,
  );
  const addReceipt = database.prepare<[object]>(insertReceipt.text);
  const addStep = database.prepare<[object]>(insertStep.text);
  const endOne = database.prepare<[object]>(endProposal.text);
  // Row by row: SQLite copies the pages that a statement with many rows writes, and searches its copies of the whole group.
  const findTerm = database.prepare<[string], bigint>('SELECT id FROM terms WHERE name = ?').pluck();
  const addTerm = database.prepare<[string]>('INSERT INTO terms (name) VALUES (?)');
  const addKeyTerm = database.prepare<[bigint, bigint, string]>(
    'INSERT INTO key_terms (term, key, org) VALUES (?, ?, (SELECT id FROM orgs WHERE name = ?)) ON CONFLICT DO NOTHING',
  );
  // A row of another key stays, so that an identifier never finds two keys.
  const putIdentifier = database.prepare<[string, bigint, bigint | null, bigint | null, bigint | null]>(
    `INSERT INTO identifiers (key_hash, key, retires, silence, last_used) VALUES (unhex(?), ?, ?, ?, ?)
     ON CONFLICT (key_hash) DO UPDATE SET ${replacedIdentifier} WHERE key = excluded.key`,
  );
  const dropIdentifier = database.prepare<[string, bigint]>(
    'DELETE FROM identifiers WHERE key_hash = unhex(?) AND key = ?',
  );
  const dropTerms = database.prepare<[object]>(
    `DELETE FROM key_terms WHERE key = @key
     AND term IN (SELECT t.id FROM json_each(@names) AS wanted CROSS JOIN terms AS t ON t.name = wanted.value)`,
  );

  /** The row of a new key: the place of its hash, unless keys whose hashes begin with the same 60 bits are there. */
  function freePlace(keyHash: string): bigint {
    const first = placeOf(keyHash);
    const end = first + BigInt(nearKeys);
    const taken = new Set(nearIDs.all(first, end - 1n));
    for (let id = first; id < end; id += 1n) if (!taken.has(id)) return id;
    throw tooManyNear();
  }

  return ({ before, row, entries, quotaChanges, receipts, proposalEnds, ...rest }) => {
    const { key_hash, org_id } = row;
    const key = before?.id ?? freePlace(key_hash);
    if (org_id !== before?.org_id) addOrg.run(org_id);
    let head = before?.head ?? null;
    for (const entry of entries) {
      if (entry.org_id !== org_id) addOrg.run(entry.org_id);
      addActor.run(entry.credential_id, entry.credential_label);
      head = BigInt(addEntry.run(key, head, entry).lastInsertRowid);
    }
    if (before) updateOf(before, row).run(head, key, row);
    else insert.run(key, head ?? 0n, row);
    for (const quotaChange of quotaChanges) addQuotaChange.run(quotaChange);
    for (const receipt of receipts) addReceipt.run(parametersOf(receiptValues(receipt)));
    for (const { id, state, ended, steps } of proposalEnds) {
      for (const step of steps) addStep.run(parametersOf(stepValues(step)));
      endOne.run(parametersOf([id, state, ended]));
    }
    for (const name of rest.addedTerms) {
      addKeyTerm.run(findTerm.get(name) ?? BigInt(addTerm.run(name).lastInsertRowid), key, org_id);
    }
    for (const { keyHash, retires, silence, since } of rest.putIdentifiers) {
      putIdentifier.run(keyHash, key, retires, silence, since);
    }
    for (const keyHash of rest.droppedIdentifiers) dropIdentifier.run(keyHash, key);
    const { droppedTerms } = rest;
    if (droppedTerms.length > 0) dropTerms.run({ names: JSON.stringify(droppedTerms), key });
  };
}
