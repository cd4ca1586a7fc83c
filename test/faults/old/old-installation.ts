import { chmod, cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/**
 * Makes a data folder as the first released schema had it: keys with histories, one of them deleted, and credentials. The
 * SQL beside this file was dumped from a folder that the service of that time had written.
 */
export async function makeOldInstallation(data: string): Promise<void> {
  await mkdir(data, { recursive: true, mode: 0o700 });
  const file = join(data, 'keyfront.db');
  const database = new Database(file);
  try {
    database.pragma('journal_mode = WAL');
    database.exec(await readFile(new URL('./schema-1.sql', import.meta.url), 'utf8'));
    database.pragma('user_version = 1');
  } finally {
    database.close();
  }
  const ring = join(data, 'key-ring.json');
  await cp(new URL('./schema-1.key-ring.json', import.meta.url).pathname, ring);
  await Promise.all([chmod(file, 0o600), chmod(ring, 0o600)]);
}
