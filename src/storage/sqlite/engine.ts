import { createSearchIndexes, dropSearchIndexes } from '../sql/schema.js';
import { createOneAtATime } from '../../lib/one-at-a-time.js';
import { createFeedNotifier } from '../sql/change-feed.js';
import type { Access, Storage, DatabaseHandle, RunExclusive } from '../storage.js';
import { createSettings, readContents } from '../sql/settings.js';
import { backupDatabase, createWriteProbe, damagesOf } from './maintenance.js';
import { createCredentialCache } from './credential-cache.js';
import { configure, withDatabaseName, openDatabase, openReadOnly, versionOf, type Database } from './connection.js';
import { identifyFiles } from './files.js';
import { createCheckpointRunner, createLogCheckpoints } from './log-checkpoints.js';
import { logLength } from './log-length.js';
import { createOverwriteCheck } from './overwrites.js';
import { createWriteGate } from './write-gate.js';
import { createKeyWriter } from './key-writer.js';
import { createReader, createWorkerRunner } from './reader.js';
import { createSqliteSession } from './session.js';
import { createKeyRowStatements } from '../sql/keys/key-rows.js';
import { createSqlStores } from '../sql/stores.js';

/** Polling interval for changes of other processes. */
const pollIntervalMs = 250;

/**
 * Opens a file as far as `access` permits.
 *
 * @throws {Error} that names the file.
 */
export async function openSQLite(file: string, access: Access, cacheMiB?: number): Promise<DatabaseHandle> {
  const database = access === 'read' ? openReadOnly(file) : openDatabase(file, access, cacheMiB);
  const verifyFiles = database.memory || access === 'read' ? () => undefined : identifyFiles(file);
  // A read-only command serves no other requests, and no other thread can open a database in memory.
  const hasWorkers = !database.memory && access !== 'read';
  // Errors of SQLite while the file is opened contain its name.
  const withFileName = <T>(work: () => T) => toPromise(() => withDatabaseName(file, work));
  try {
    return await withFileName(() => {
      let stop: () => Promise<void> = () => Promise.resolve();
      return {
        name: file,
        hasKeys: hasRowsIn(database, 'keys'),
        hasRows: hasRowsIn(database, 'keys', 'credentials', 'webhooks'),
        settings: createSettings(createSqliteSession(database, { read: withFileName, write: withFileName })),
        start: (signer, deps) =>
          withFileName(() => {
            const started = createEngine(database, hasWorkers, verifyFiles, signer, deps);
            stop = started.stop;
            return started.engine;
          }),
        close: async () => {
          await stop();
          emptyStrayLog(database, verifyFiles);
          database.close();
        },
      };
    });
  } catch (error) {
    database.close();
    throw error;
  }
}

function createEngine(
  database: Database,
  hasWorkers: boolean,
  verifyFiles: () => void,
  ...[signer, { report, now, telemetry, runExclusive: amongProcesses, slices }]: Parameters<DatabaseHandle['start']>
): { readonly engine: Storage; readonly stop: () => Promise<void> } {
  const file = database.name;
  const oneAtATime = createOneAtATime();
  const runExclusive: RunExclusive = amongProcesses ? (work) => amongProcesses(() => oneAtATime(work)) : oneAtATime;
  const log = hasWorkers
    ? createLogCheckpoints(database, createCheckpointRunner(), { verifyFiles, runExclusive, report })
    : undefined;
  const gate = createWriteGate(database, {
    report,
    runExclusive,
    verifyFiles,
    onCommit: log?.afterCommit,
    slices,
    meter: telemetry.meter,
  });
  const reader = createReader(database, gate, hasWorkers ? createWorkerRunner(file) : undefined);
  telemetry.meter?.registerGauge('wal_bytes', () => logLength(database));
  const session = createSqliteSession(database, gate);
  const probe = createWriteProbe(database, file, now);
  const notifier = createFeedNotifier(session, { everyMs: pollIntervalMs });
  const rows = createKeyRowStatements(session.dialect, signer);
  const engine: Storage = {
    ...createSqlStores(
      {
        session,
        rows,
        writer: createKeyWriter(database, gate, rows),
        tracer: telemetry.tracer,
        reader,
        wideReader: reader,
        slices,
        notifier,
        credentialCache: createCredentialCache(database),
      },
      signer,
    ),
    whyNotReady: () => toPromise(() => (gate.isWritable() ? probe() : 'storage accepts no writes')),
    checkWritable: () => toPromise(gate.isWritable),
    checkFiles: log ? createOverwriteCheck(database, gate, verifyFiles, log.copy) : () => Promise.resolve(),
    failed: gate.failed,
    damages: () => toPromise(() => withDatabaseName(file, () => damagesOf(database))),
    contents: async () => ({ schemaVersion: versionOf(database), ...(await readContents(session)) }),
    copyTo: (target, onProgress) => backupDatabase(database, target, onProgress),
    async load(work) {
      const isFirst = await gate.write(() => {
        if (hasRowsIn(database, 'keys')) return false;
        for (const statement of dropSearchIndexes) database.exec(statement);
        return true;
      });
      if (!isFirst) return work();
      log?.setWork('load');
      try {
        return await work();
      } finally {
        configure(database, 'indexes');
        // In a transaction each, so that other processes can write in between.
        for (const statement of createSearchIndexes) await gate.write(() => database.exec(statement));
        configure(database, 'normal');
        log?.setWork('normal');
      }
    },
  };
  const stop = async () => {
    notifier.stop();
    await log?.close();
    await reader.close();
  };
  return { engine, stop };
}

/** Whether one of the tables has a row. */
function hasRowsIn(database: Database, ...tables: readonly string[]): boolean {
  return tables.some((table) => database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined);
}

/**
 * SQLite leaves the log behind when its database file was replaced, and the next start would replay the log into the
 * file that took its place. Emptied here, it leaves that file alone.
 */
function emptyStrayLog(database: Database, verifyFiles: () => void): void {
  try {
    verifyFiles();
  } catch {
    // Another process that still uses the log makes this a no-op; the last one to close empties it.
    database.pragma('wal_checkpoint(TRUNCATE)');
  }
}

/** Runs synchronous work for an asynchronous port. */
function toPromise<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
