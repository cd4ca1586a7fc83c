import { createKeyRowStatements } from '../../build/storage/sql/keys/key-rows.js';
import { createSqlKeyStore } from '../../build/storage/sql/keys/key-store.js';
import { createKeyWriter } from '../../build/storage/sqlite/key-writer.js';
import { createReader } from '../../build/storage/sqlite/reader.js';
import { createSqliteSession } from '../../build/storage/sqlite/session.js';
import { createWriteGate } from '../../build/storage/sqlite/write-gate.js';

/** The key store on a connection of SQLite, without the rest of the service. */
export function createKeyStore(database, signer) {
  const gate = createWriteGate(database);
  const session = createSqliteSession(database, gate);
  const rows = createKeyRowStatements(session.dialect, signer);
  const writer = createKeyWriter(database, gate, rows);
  const reader = createReader(database, gate);
  const { slices } = gate;
  const deps = { session, rows, writer, reader, wideReader: reader, slices, onChange: () => undefined };
  return createSqlKeyStore(deps, signer);
}
