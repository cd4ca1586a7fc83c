import type { Database } from 'better-sqlite3';
import type { Contents } from '../storage.js';
import { versionOf } from './migrate.js';

/** Figures of the database. No signature is verified. */
export function contentsOf(database: Database): Contents {
  const count = database.prepare<[], { keys: bigint }>('SELECT count(*) AS keys FROM keys').get();
  const newest = database
    .prepare<[], { at: bigint; key_hash: string; version_after: bigint }>(
      'SELECT at, key_hash, version_after FROM audit ORDER BY id DESC LIMIT 1',
    )
    .get();
  return {
    schemaVersion: versionOf(database),
    keys: Number(count?.keys ?? 0n),
    newestChange: newest && {
      at: new Date(Number(newest.at)),
      keyHash: newest.key_hash,
      version: Number(newest.version_after),
    },
  };
}

/** The errors that SQLite finds in the structure of its file and indexes. Blocks the process. */
export function damagesOf(database: Database): string[] {
  const found = database.pragma('integrity_check') as { integrity_check: string }[];
  const lines = found.flatMap((row) => row.integrity_check.split('\n'));
  return lines.filter((line) => line !== 'ok' && !line.startsWith('***'));
}
