import { statSync } from 'node:fs';
import type { Config } from '../config/config.js';
import type { Services } from './open-storage.js';
import type { Logger } from '../lib/log.js';

/** A file of this size takes a second or two to check. */
const maxCheckedBytes = 512 * 1024 * 1024;

/**
 * Checks the structure of the SQLite file, which row signatures cannot show: an index may have lost a row. Closes the
 * installation when the check fails.
 *
 * @throws {Error} when the file is damaged.
 */
export async function requireWholeFile(installation: Services, { databaseFile }: Config, log: Logger): Promise<void> {
  try {
    if ((statSync(databaseFile, { throwIfNoEntry: false })?.size ?? 0) > maxCheckedBytes) {
      log.info('the database is too large to be checked at every start; `keyfront check` does it beside the service');
      return;
    }
    const [damage] = await installation.damages();
    if (damage === undefined) return;
    throw new Error(
      `The database ${databaseFile} is damaged: ${damage.trim()}. Put back a backup with \`keyfront restore\`.`,
    );
  } catch (error) {
    await installation.close();
    throw error;
  }
}
