import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import type { RowSigner } from '../../src/crypto/row-signer.js';
import type { Telemetry } from '../../src/telemetry/ports.js';
import { openServices, type Services } from '../../src/storage/open-storage.js';
import { openPostgres } from '../../src/storage/postgres/engine.js';
import { createKeyWriter as createPgKeyWriter } from '../../src/storage/postgres/key-writer.js';
import type { PgPool } from '../../src/storage/postgres/pool.js';
import { createPgSession } from '../../src/storage/postgres/session.js';
import { createPgWideReader } from '../../src/storage/postgres/wide-reader.js';
import { createKeyRowStatements } from '../../src/storage/sql/keys/key-rows.js';
import { createSqlKeyStore } from '../../src/storage/sql/keys/key-store.js';
import { openDatabase, type Database } from '../../src/storage/sqlite/connection.js';
import { openSQLite } from '../../src/storage/sqlite/engine.js';
import { createKeyWriter } from '../../src/storage/sqlite/key-writer.js';
import { createReader, type Reader } from '../../src/storage/sqlite/reader.js';
import { createSqliteSession } from '../../src/storage/sqlite/session.js';
import { createWriteGate, type WriteGate } from '../../src/storage/sqlite/write-gate.js';
import type { Storage, StorageDeps } from '../../src/storage/storage.js';
import { createScheduler } from '../../src/lib/scheduler.js';
import type { EnginePlace } from './engines.js';
import { signer as commonSigner } from './signer.js';

/** The dependencies of an engine, without telemetry and without a log. */
export function storageDeps(changes: Partial<StorageDeps> = {}): StorageDeps {
  return { report: () => undefined, now: () => new Date(), telemetry: {}, slices: createScheduler(), ...changes };
}

/** Opens an empty database without the rest of an installation, and closes it after the running test. */
export async function openOwnStorage(
  { database, folder }: EnginePlace,
  changes?: Partial<StorageDeps>,
): Promise<Storage> {
  const handle = await (database ? openPostgres(database.url) : openSQLite(join(folder, 'keyfront.db'), 'create'));
  onTestFinished(() => handle.close());
  return handle.start(commonSigner, storageDeps(changes));
}

/** Opens an installation like another process, creates it if it does not exist, and closes it after the running test. */
export async function openOwnServices({ env }: EnginePlace): Promise<Services> {
  const { config, secrets } = readConfig(env);
  const services = await openServices(config, secrets, {}, { access: 'create' });
  onTestFinished(() => services.close());
  return services;
}

/** Opens a SQLite database, by default in memory, and closes it after the running test. */
export function openOwnDatabase(file = ':memory:'): Database {
  const database = openDatabase(file);
  onTestFinished(() => void database.close());
  return database;
}

/** Opens a SQLite database in memory with its write gate and its session, and closes it after the running test. */
export function openOwnSession() {
  const database = openOwnDatabase();
  const gate = createWriteGate(database);
  return { database, gate, session: createSqliteSession(database, gate) };
}

interface SqliteKeyStoreOptions {
  readonly gate?: WriteGate;
  readonly reader?: Reader;
  readonly telemetry?: Telemetry;
  readonly onChange?: () => void;
}

/** The key store on a connection of SQLite. Reads that may scan many rows run in this thread, unless `reader` runs them elsewhere. */
export function sqliteKeyStore(
  database: Database,
  signer: RowSigner,
  {
    telemetry = {},
    gate = createWriteGate(database, { meter: telemetry.meter }),
    reader = createReader(database, gate),
    onChange = () => undefined,
  }: SqliteKeyStoreOptions = {},
) {
  const session = createSqliteSession(database, gate);
  const rows = createKeyRowStatements(session.dialect, signer);
  const writer = createKeyWriter(database, gate, rows);
  const { slices } = gate;
  const deps = { session, rows, writer, tracer: telemetry.tracer, reader, wideReader: reader, slices, onChange };
  return createSqlKeyStore(deps, signer);
}

/** The key store on the connections of a pool. */
export function postgresKeyStore(connections: PgPool, signer: RowSigner) {
  const session = createPgSession(connections);
  const rows = createKeyRowStatements(session.dialect, signer);
  const slices = createScheduler();
  const writer = createPgKeyWriter(connections, rows, slices);
  const reader = createPgWideReader(connections);
  const deps = {
    session,
    rows,
    writer,
    tracer: undefined,
    reader,
    wideReader: reader,
    slices,
    onChange: () => undefined,
  };
  return createSqlKeyStore(deps, signer);
}
