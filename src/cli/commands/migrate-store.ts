import { readConfig } from '../../config/config.js';
import { openServices, type Services } from '../../storage/open-storage.js';
import { migratedFrom } from '../../storage/migrated.js';
import { copyStore, type CopyResult } from '../../storage/sql/copy-store.js';
import type { openForMoving } from '../../storage/postgres/engine.js';
import { lockRows, type LockedRows } from '../../storage/sqlite/rows.js';
import { UsageError, type IO } from '../io.js';
import { verifyInstallation } from '../output/problems.js';
import { createProgressLine } from '../output/progress.js';

/**
 * Copies all of a data folder's SQLite file into the database that KEYFRONT_DATABASE_URL names, row by row, each read back.
 * No other process can write to the file meanwhile. May be interrupted and run again.
 */
export async function migrateStore(io: IO): Promise<number> {
  const { config, secrets } = readConfig(io.env);
  const { keyHashPepper, databaseURL } = secrets;
  if (databaseURL === undefined) throw new UsageError('KEYFRONT_DATABASE_URL must name the database to move into.');
  const fileOnly = { keyHashPepper, databaseURL: undefined, quotaURL: undefined };
  // Brings an older file up to date, and verifies that the key ring belongs to it.
  const installation = await openServices(config, fileOnly, {}, { access: 'write', allowMigrated: true });
  try {
    const source = lockRows(config.databaseFile);
    try {
      return await copyTo(io, databaseURL, source, installation);
    } finally {
      source.close();
    }
  } finally {
    await installation.close();
  }
}

async function copyTo(io: IO, databaseURL: string, source: LockedRows, installation: Services): Promise<number> {
  // The driver is loaded by those processes only that need it.
  const { movingName, openForMoving } = await import('../../storage/postgres/engine.js');
  const { createRowTarget } = await import('../../storage/postgres/rows.js');
  const opened = await openForMoving(databaseURL);
  try {
    if ((await opened.settings.get(migratedFrom)) === source.id) {
      io.stderr(
        `The migration is complete: ${opened.name} holds this data folder. Nothing was copied again; changes that were made ` +
          'to the file since are not in the database.\n',
      );
      return 0;
    }
    await requireOwn(opened, movingName, source.id);
    const checking = createProgressLine(io, 'keys checked');
    const { problems } = await verifyInstallation(installation, checking.show);
    checking.end();
    for (const problem of problems) io.stderr(`${problem}\n`);
    if (problems.length > 0) throw new Error('Nothing was moved: the file is damaged, and its copy would be too.');
    await opened.settings.set(movingName, source.id);
    const progress = createProgressLine(io, 'keys moved');
    const target = createRowTarget(opened.connections, movingName);
    const moved = await copyStore(source, target, progress.show, () => source.mark(opened.name));
    progress.end();
    io.stderr(summary(moved, opened.name));
    return 0;
  } finally {
    await opened.close();
  }
}

/** Throws when the database holds anything but a part of this very file. */
async function requireOwn(
  { name, settings, isNew }: Awaited<ReturnType<typeof openForMoving>>,
  movingName: string,
  id: string,
): Promise<void> {
  const found = await settings.get(movingName);
  if (found === id) return;
  if (found !== undefined) throw new Error(`The database ${name} is being filled from another data folder.`);
  if (!isNew) {
    throw new Error(
      `The database ${name} is not empty: it holds an installation that was not copied from this data folder, and ` +
        'nothing is copied over it. Name an empty database.',
    );
  }
}

function summary({ keys, entries, credentials, found }: CopyResult, name: string): string {
  const again = found > 0 ? ` (${found} keys of an earlier attempt were found the same)` : '';
  return (
    `${keys} keys, ${entries} entries of their history and ${credentials} credentials are in ${name} now, each read back${again}.\n` +
    'The key ring stays where it is. The file keeps its rows, and services refuse to start on it from now on: set ' +
    'KEYFRONT_DATABASE_URL.\n'
  );
}
